// count_searches search|ranking: nearest documents by Word Mover's Distance, or best documents by
// BM25, of synthetic queries, by the core alone and on one thread. It is what valgrind counts for
// instructions.py. All random numbers are integers of mt19937_64, which are the same everywhere.
#include "ranking/term_search.h"
#include "search/search.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string_view>

namespace {

using namespace textkin;
using Random = std::mt19937_64;
using Row = std::map<std::int32_t, std::uint32_t>; // count of each word of a document

constexpr std::size_t kWords = 4000;
constexpr std::size_t kTopics = 20;
constexpr std::size_t kQueries = 10;
constexpr std::size_t kFound = 10; // documents per query

double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Half of the words are of the topic of the document; frequent words have low numbers.
Row document(Random& random, std::size_t length) {
    Row row;
    const std::size_t topic = random() % kTopics;
    while (length-- > 0) {
        const double u = uniform(random);
        const auto rank = static_cast<std::size_t>(u * u * u * kWords / kTopics);
        const std::size_t of = random() % 2 == 0 ? topic : random() % kTopics;
        ++row[static_cast<std::int32_t>(rank * kTopics + of)];
    }
    return row;
}

struct Csr {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<float> counts;

    void add(const Row& row) {
        for (const auto& [word, count] : row) {
            columns.push_back(word);
            counts.push_back(static_cast<float>(count));
        }
        indptr.push_back(static_cast<std::int64_t>(columns.size()));
    }
};

Csr documents(Random& random, std::size_t count, std::size_t length) {
    Csr rows;
    for (std::size_t i = 0; i < count; ++i) rows.add(document(random, length));
    return rows;
}

// Vectors of a topic are near to its center.
std::vector<float> vectors(Random& random, std::size_t dimension) {
    std::vector<float> centers(kTopics * dimension), all(kWords * dimension);
    for (float& x : centers) x = static_cast<float>(uniform(random) - 0.5);
    for (std::size_t k = 0; k < all.size(); ++k)
        all[k] = centers[k / dimension % kTopics * dimension + k % dimension] +
                 static_cast<float>(uniform(random) - 0.5);
    return all;
}

double search_by_transport() {
    constexpr std::size_t dimension = 100;
    Random random(1);
    const std::vector<float> table = vectors(random, dimension);
    const Csr rows = documents(random, 1000, 40);
    const Csr asked = documents(random, kQueries, 40);
    const std::vector<double> weights(asked.counts.begin(), asked.counts.end());
    const transport::Documents queries(asked.indptr, asked.columns, weights);
    base::Stop stop;
    const search::Corpus corpus(
        {{rows.indptr, rows.columns, std::span<const float>(rows.counts), {}}}, {kWords, {}, {}},
        kWords);
    const search::Searcher searcher({{table.data(), kWords, dimension}, transport::Cost::euclidean},
                                    corpus);
    search::SearchOptions options;
    options.k = kFound;
    searcher.prepare(options.memory, stop);
    search::SearchResult found;
    searcher.search(queries, nullptr, options, false, stop, found);
    double sum = 0;
    for (const auto& hits : found.hits)
        for (const search::Hit& hit : hits) sum += hit.distance;
    return sum;
}

double rank_by_terms() {
    Random random(2);
    const Csr rows = documents(random, 5000, 60);
    std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::uint32_t>>> transposed;
    for (std::size_t row = 0; row + 1 < rows.indptr.size(); ++row)
        for (auto k = static_cast<std::size_t>(rows.indptr[row]);
             k < static_cast<std::size_t>(rows.indptr[row + 1]); ++k)
            transposed[rows.columns[k]].emplace_back(static_cast<std::int32_t>(row),
                                                     static_cast<std::uint32_t>(rows.counts[k]));
    std::vector<std::int32_t> terms, posting_rows;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> posting_counts;
    ranking::WeightFormula formula;
    formula.count = ranking::CountFormula::saturated;
    formula.k1 = 1.2;
    formula.b = 0.75;
    formula.average_length = 60;
    formula.word_weights.resize(kWords);
    const std::size_t size = rows.indptr.size() - 1;
    for (const auto& [word, postings] : transposed) {
        terms.push_back(word);
        for (const auto& [row, count] : postings) {
            posting_rows.push_back(row);
            posting_counts.push_back(count);
        }
        offsets.push_back(static_cast<std::int64_t>(posting_rows.size()));
        formula.word_weights[static_cast<std::size_t>(word)] =
            std::log1p(static_cast<double>(size) / static_cast<double>(postings.size()));
    }
    base::Stop stop;
    const std::vector<std::uint8_t> live(size, 1);
    const ranking::TermSearch search({{{rows.indptr, rows.columns, 0},
                                       rows.counts,
                                       terms,
                                       offsets,
                                       posting_rows,
                                       posting_counts}},
                                     live, formula, stop);
    double sum = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
        std::vector<ranking::QueryWord> query;
        for (const auto& [word, count] : document(random, 8))
            if (transposed.contains(word)) query.push_back({word, static_cast<double>(count)});
        std::vector<ranking::FoundRow> found;
        search.best(query, kFound, 0, {}, ranking::TermSearchMethod::automatic, found, stop);
        for (const ranking::FoundRow& row : found) sum += row.score;
    }
    return sum;
}

} // namespace

int main(int count, char** arguments) {
    const std::string_view name = count == 2 ? arguments[1] : "";
    if (name != "search" && name != "ranking") return 2;
    std::printf("%.17g\n", name == "search" ? search_by_transport() : rank_by_terms());
}
