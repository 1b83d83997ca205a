// Memory of a search.
#include "corpus.h"
#include "memory.h"
#include "search/search.h"

#include <random>

using namespace textkin;

TEST(searcher_packs_vectors_again_after_a_search_with_little_memory) {
    constexpr std::size_t words = 1000;
    constexpr std::size_t dimension = 64;
    std::mt19937_64 random(5);
    const corpus::Table table =
        corpus::random_table(random, words, dimension, transport::Cost::euclidean);
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    for (std::int32_t w = 0; w < static_cast<std::int32_t>(words); ++w) columns.push_back(w);
    indptr.push_back(static_cast<std::int64_t>(words));
    const std::vector<double> counts(words, 1.0);
    const search::Corpus documents({{indptr, columns, std::span<const double>(counts), {}}},
                                   {words, {}, {}}, words);
    const search::Searcher searcher({table.view(), transport::Cost::euclidean}, documents);
    const transport::Documents query = corpus::documents({{{3, 1.0}, {4, 1.0}}});
    const auto memory_after = [&](std::size_t bytes) {
        search::SearchOptions options;
        options.k = 1;
        options.memory = bytes;
        search::SearchResult found;
        base::Stop stop;
        searcher.search(query, nullptr, options, false, stop, found);
        found = {};
        return memory::in_use();
    };
    static_cast<void>(memory_after(1 << 20)); // the cache of the thread
    const std::size_t packed = memory_after(1 << 20);
    const std::size_t bytes = words * dimension * sizeof(std::int16_t);
    CHECK(memory_after(1000) + bytes <= packed);
    CHECK(memory_after(1 << 20) == packed);
}
