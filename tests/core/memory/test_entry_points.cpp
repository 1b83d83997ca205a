// Every entry point of the core with each of its allocations failing in turn: it throws
// std::bad_alloc or does without the memory, leaks nothing, and gives the same result afterwards.
#include "corpus.h"
#include "embed/embed.h"
#include "embed/vector_file.h"
#include "memory.h"
#include "mixture/fisher.h"
#include "mixture/mixture.h"
#include "ranking/pairwise.h"
#include "ranking/term_search.h"
#include "search/search.h"
#include "store/packed_counts.h"
#include "store/packed_words.h"
#include "store/postings.h"
#include "text/counting.h"
#include "text/tokenize.h"
#include "text/tokens.h"
#include "topics/factors.h"
#include "topics/gibbs.h"
#include "topics/grid_windows.h"
#include "topics/topics.h"

#include <numeric>
#include <string>
#include <thread>
#include <vector>

using namespace textkin;

namespace {

using Digest = std::vector<double>;

template <class Values> void add(Digest& digest, const Values& values) {
    for (const auto value : values) digest.push_back(static_cast<double>(value));
}

// `work` returns a digest of its results.
template <class Work> void check_entry_point(const char* name, Work work) {
    const Digest expected = work();
    bool same = true;
    const long attempts =
        memory::fail_at_each([&](long) { same = same && work() == expected; }, [](long) {});
    CHECK(same);
    CHECK(work() == expected);
    // The caches of a thread are released when it ends, but for a few workspaces that the next
    // threads take over. These grow until each has had the largest problem, so some rounds may need
    // more memory than before; memory that a failure does not release is missing in every round.
    bool leaks = true;
    for (int round = 0; leaks && round < 20; ++round) {
        const std::size_t before = memory::in_use();
        std::thread([&] {
            for (long n = 1; n < attempts; n += 1 + attempts / 8) {
                memory::fail_at(n);
                try {
                    static_cast<void>(work());
                } catch (const std::bad_alloc&) {
                }
                memory::fail_at(0);
            }
        }).join();
        leaks = memory::in_use() > before;
    }
    CHECK(!leaks);
    if (attempts < 2) check::fail(name, 0, "it takes no memory: nothing was tested");
}

constexpr unsigned kThreads = 2;

struct Texts {
    std::vector<std::string> strings;
    std::vector<std::string_view> views;

    Texts() {
        for (int i = 0; i < 12; ++i)
            strings.push_back("the dog " + std::to_string(i % 5) +
                              " barks at new york city \xC3\xA9t" + "\xC3\xA9 " +
                              std::to_string(i) + " a_much_longer_word_than_eight");
        views.assign(strings.begin(), strings.end());
    }
};

// Rows of a sparse matrix of 12 documents and 40 words.
struct Rows {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> words;
    std::vector<std::int32_t> whole;
    std::vector<float> narrow;
    std::vector<double> wide;

    Rows() {
        std::mt19937_64 random(3);
        for (int row = 0; row < 12; ++row) {
            for (std::int32_t word = 0; word < 40; ++word) {
                if (random() % 4 != 0) continue;
                words.push_back(word);
                whole.push_back(static_cast<std::int32_t>(1 + random() % 3));
                narrow.push_back(static_cast<float>(whole.back()));
                wide.push_back(whole.back());
            }
            starts.push_back(static_cast<std::int64_t>(words.size()));
        }
    }
    [[nodiscard]] topics::Counts<double> counts() const { return {starts, words, wide}; }
    [[nodiscard]] transport::Documents documents() const { return {starts, words, wide}; }
};

std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<double> out(count);
    for (double& x : out) x = std::uniform_real_distribution<double>(0.1, 1)(random);
    return out;
}

} // namespace

TEST(text_entry_points_without_memory) {
    const Texts texts;
    check_entry_point("text", [&] {
        base::Stop stop;
        text::WordTable table;
        const text::Tokens tokens = text::tokenize(texts.views, true, kThreads, stop, table);
        text::WordTable grams;
        const text::Tokens runs = text::joined_runs(tokens, table, 1, 2, kThreads, stop, grams);
        text::Phrases phrases;
        const std::string_view city[] = {"new", "york"};
        phrases.add(city, "new_york");
        const text::Tokens joined = phrases.join(tokens, table);
        const text::Counts counts = text::count_words(joined, kThreads, stop);
        std::vector<std::int32_t> columns(table.size());
        std::iota(columns.begin(), columns.end(), -1);
        const text::Bags bags = text::to_bags(counts, columns, 4, kThreads, stop);
        text::WordTable merged;
        const std::vector<std::int32_t> numbers = merged.merge(grams);
        Digest out;
        add(out, tokens.ids);
        add(out, runs.ids);
        add(out, joined.ids);
        add(out, bags.known.keys);
        add(out, bags.weights);
        add(out, bags.unknown.keys);
        add(out, bags.cut.counts);
        add(out, numbers);
        add(out, table.sorted(kThreads, stop));
        return out;
    });
}

TEST(store_entry_points_without_memory) {
    const Rows rows;
    text::Counts counts;
    counts.offsets = rows.starts;
    counts.keys.assign(rows.words.begin(), rows.words.end());
    counts.counts.assign(rows.whole.begin(), rows.whole.end());
    const std::string bytes = "onetwothree";
    const std::vector<std::int64_t> ends{0, 3, 6, 11};
    check_entry_point("store", [&] {
        base::Stop stop;
        const store::PackedCounts packed = store::packed(counts, stop);
        std::vector<std::string_view> blobs;
        for (std::size_t row = 0; row < packed.size(); ++row) blobs.push_back(packed[row]);
        std::vector<std::int32_t> numbers(40);
        std::iota(numbers.rbegin(), numbers.rend(), 0);
        const store::PackedCounts other = store::renumbered(blobs, numbers, stop);
        const store::UnpackedCounts unpacked = store::unpacked(blobs, 40, stop);
        const std::vector<std::int64_t> lengths(rows.starts.size() - 1, 7);
        const store::Postings postings =
            store::invert({rows.starts, rows.words, 40}, rows.narrow, lengths, stop);
        const std::vector<std::int32_t> slots = store::PackedWords::slots_of({bytes, ends}, stop);
        const store::PackedWords words({bytes, ends}, slots);
        text::WordTable table;
        table.extend({bytes, ends}, stop);
        Digest out;
        add(out, other.bytes);
        add(out, unpacked.keys);
        add(out, postings.rows);
        add(out, postings.block_counts);
        add(out, slots);
        out.push_back(words.find("two"));
        out.push_back(table.find("three"));
        return out;
    });
}

TEST(vector_files_without_memory) {
    std::string lines;
    for (int i = 0; i < 30; ++i) lines += "word" + std::to_string(i) + " 0.5 -1.25 3e-4\n";
    lines += "bad 1 x 2\n";
    check_entry_point("vector_file", [&] {
        base::Stop stop;
        embed::WordSet wanted;
        for (int i = 0; i < 20; ++i) wanted.insert("word" + std::to_string(i));
        const embed::VectorRows some = embed::parse_text(lines, 3, true, &wanted, 1, stop);
        const embed::VectorRows all = embed::parse_text(lines, 3, true, nullptr, kThreads, stop);
        const embed::VectorRows rows = embed::parse_binary(lines, 2, 10, nullptr, stop);
        Digest out;
        add(out, some.numbers);
        add(out, all.numbers);
        add(out, all.ends);
        add(out, rows.words);
        return out;
    });
}

TEST(transport_entry_points_without_memory) {
    std::mt19937_64 random(1);
    const corpus::Table table = corpus::random_table(random, 40, 5, transport::Cost::euclidean);
    const Rows rows;
    const search::Space space{table.view(), transport::Cost::euclidean};
    check_entry_point("transport", [&] {
        base::Stop stop;
        const transport::Documents documents = rows.documents();
        const std::size_t n = documents.size();
        Digest out(n * n);
        search::distance_matrix(space, documents, documents, true, kThreads, stop, out);
        std::vector<double> bounds(3 * n * n);
        search::bound_matrices(space, documents, documents, kThreads, stop, bounds);
        add(out, bounds);
        transport::PairSolver solver;
        const transport::Explanation why =
            solver.explain(space.table, space.cost, documents[0], documents[1], stop);
        add(out, why.source_potentials);
        transport::RealCostSolver rounded;
        transport::Solution solution;
        const std::vector<std::int64_t> ones(40, 1);
        const auto cost = [&](std::size_t i, std::size_t j) {
            return static_cast<double>((i * 7 + j * 11) % 13);
        };
        out.push_back(rounded.solve(ones, ones, cost, 12, solution, stop));
        out.push_back(rounded.solve(ones, ones, cost, 12, solution, stop, {.pivots = 0}));
        return out;
    });
}

TEST(searches_without_memory) {
    std::mt19937_64 random(2);
    const corpus::Table table = corpus::random_table(random, 40, 5, transport::Cost::euclidean);
    const Rows rows;
    const transport::Documents queries = rows.documents();
    for (const search::Algorithm algorithm :
         {search::Algorithm::automatic, search::Algorithm::prefetch, search::Algorithm::brute,
          search::Algorithm::centroid, search::Algorithm::relaxed})
        check_entry_point("search", [&] {
            base::Stop stop;
            const search::Corpus documents(
                {{rows.starts, rows.words, std::span<const double>(rows.wide), {}}}, {40, {}, {}},
                40);
            const search::Searcher searcher({table.view(), transport::Cost::euclidean}, documents);
            search::SearchOptions options;
            options.algorithm = algorithm;
            options.k = 3;
            options.threads = kThreads;
            search::SearchResult found;
            searcher.search(queries, nullptr, options, false, stop, found);
            Digest out;
            for (const auto& hits : found.hits)
                for (const search::Hit& hit : hits) {
                    out.push_back(static_cast<double>(hit.row));
                    out.push_back(hit.distance);
                }
            return out;
        });
}

TEST(term_searches_without_memory) {
    const Rows rows;
    base::Stop stop;
    const std::vector<std::int64_t> lengths(rows.starts.size() - 1, 7);
    const store::Postings postings =
        store::invert({rows.starts, rows.words, 40}, rows.narrow, lengths, stop);
    ranking::WeightFormula formula;
    formula.count = ranking::CountFormula::saturated;
    formula.k1 = 1.2;
    formula.b = 0.75;
    formula.average_length = 7;
    formula.word_weights = numbers(40, 4);
    const std::vector<ranking::QueryWord> query{{1, 1.0}, {5, 0.5}, {17, 2.0}, {30, 1.0}};
    check_entry_point("term_search", [&] {
        base::Stop go;
        const ranking::TermSearch search({{{rows.starts, rows.words, 40},
                                           rows.narrow,
                                           postings.terms,
                                           postings.offsets,
                                           postings.rows,
                                           postings.counts}},
                                         std::vector<std::uint8_t>(rows.starts.size() - 1, 1),
                                         formula, go);
        Digest out;
        for (const ranking::TermSearchMethod method :
             {ranking::TermSearchMethod::pruned, ranking::TermSearchMethod::dense}) {
            std::vector<ranking::FoundRow> found;
            search.best(query, 4, 0, {}, method, found, go);
            for (const ranking::FoundRow& row : found) out.push_back(row.score);
        }
        return out;
    });
}

TEST(pairwise_numbers_without_memory) {
    const Rows rows;
    const std::vector<std::int64_t> starts{0, 5, 10};
    const std::vector<std::int32_t> symbols{0, 1, 2, 3, 4, 1, 1, 2, 0, 4};
    check_entry_point("pairwise", [&] {
        base::Stop stop;
        Digest out(12 * 40);
        // The rows serve as postings too: any matrix does.
        const ranking::SparseRows all{rows.starts, rows.words, rows.wide};
        std::vector<std::int32_t> few(rows.words);
        for (std::int32_t& word : few) word %= 12;
        ranking::shared_sums({rows.starts, few, rows.wide}, all, 40, ranking::Sharing::product,
                             stop, out);
        Digest edits(4);
        ranking::edit_distances({starts, symbols}, {starts, symbols}, 5, stop, edits);
        add(out, edits);
        return out;
    });
}

TEST(topics_without_memory) {
    const Rows rows;
    const std::size_t width = 8;
    const std::size_t entries = rows.words.size();
    // Entries by word, for em_step.
    std::vector<std::int64_t> word_starts{0}, places;
    std::vector<std::int32_t> documents;
    for (std::int32_t word = 0; word < 40; ++word) {
        for (std::size_t row = 0; row + 1 < rows.starts.size(); ++row)
            for (std::int64_t at = rows.starts[row]; at < rows.starts[row + 1]; ++at)
                if (rows.words[static_cast<std::size_t>(at)] == word) {
                    documents.push_back(static_cast<std::int32_t>(row));
                    places.push_back(at);
                }
        word_starts.push_back(static_cast<std::int64_t>(documents.size()));
    }
    const Digest start = numbers(12 * width, 5);
    const Digest words = numbers(40 * width, 6);
    check_entry_point("topics", [&] {
        base::Stop stop;
        Digest topics = start;
        Digest next(start.size());
        Digest cells = words;
        Digest scale(width, 0.05);
        Digest shares(entries);
        Digest out;
        out.push_back(topics::em_step<double>(rows.counts(), {word_starts, documents, places},
                                              width, width, topics.data(), next.data(),
                                              cells.data(), scale.data(), shares.data(),
                                              {0.1, 0.1, 1e-9}, kThreads, stop));
        out.push_back(topics::log_likelihood<double>(rows.counts(), width, next.data(),
                                                     cells.data(), scale.data(), kThreads, stop)
                          .logarithm);
        topics::fold_in<double>(rows.counts(), width, width, topics.data(), words.data(), 1, 0.1, 5,
                                1e-3, kThreads, stop);
        add(out, topics);
        Digest means(words.size());
        Digest tokens(8);
        topics::window_means<double>({2, 4, 1, 2}, 40, width, cells.data(), scale.data(),
                                     means.data(), kThreads, stop);
        topics::renew_cells<double>({2, 4, 1, 2}, 40, width, cells.data(), scale.data(),
                                    words.data(), {0.1, 0}, tokens.data(), kThreads, stop);
        add(out, tokens);
        return out;
    });
    check_entry_point("gibbs", [&] {
        base::Stop stop;
        topics::TopicSampler sampler(rows.starts, rows.words, rows.whole, 40, 4, {0.1, 0.1}, 7, 2);
        sampler.sweep(2, kThreads, stop);
        Digest out;
        add(out, sampler.word_counts());
        const std::vector<float> weights(40 * 4, 0.25F);
        Digest folded(12 * 4);
        topics::fold_in_by_sampling(rows.starts, rows.words, rows.whole, weights, 4, 0.1, 1, 2, 7,
                                    folded.data(), kThreads, stop);
        add(out, folded);
        return out;
    });
    check_entry_point("factors", [&] {
        base::Stop stop;
        const topics::FactorSolver<double> solver(words.data(), 40, 5, width, {0.1, 1.0}, kThreads,
                                                  stop);
        Digest out(12 * width);
        out.push_back(solver.solve(rows.counts(), out.data(), kThreads, stop));
        return out;
    });
}

TEST(mixtures_without_memory) {
    const Rows rows;
    const Digest offset = numbers(3, 1);
    const Digest linear = numbers(3 * 16, 2);
    const Digest quadratic(3 * 16, -0.5);
    const std::vector<float> values(10 * 16, 0.5F);
    const Digest weights(10, 1.0);
    const Digest parts = numbers(3 * 8, 3);
    check_entry_point("mixture", [&] {
        base::Stop stop;
        const mixture::MixtureStep step(offset, linear, quadratic, false);
        Digest out(10);
        Digest counts(3);
        Digest first(3 * 16);
        Digest second(3 * 16);
        step.add(values.data(), weights, out.data(), {counts.data(), first.data(), second.data()},
                 stop);
        add(out, counts);
        // Words of 8 coordinates and their squares, of 3 components.
        std::vector<float> vectors(12 * (3 * 8 * 2 + 3));
        const std::vector<float> points(40 * 16, 0.25F);
        const std::vector<float> shares(40 * 3, 0.3F);
        const mixture::FisherParts of{8, parts, parts, {}, parts, parts, parts, offset, offset};
        mixture::fisher_vectors(rows.counts(), {points.data(), 16, shares.data(), 3}, of,
                                {0, 0.5, true}, vectors.data(), kThreads, stop);
        add(out, vectors);
        return out;
    });
}

TEST(embeddings_without_memory) {
    const Rows rows;
    const std::vector<std::int64_t> counts(40, 3);
    const std::vector<float> keep(40, 1.0F);
    for (const std::size_t negative : {0u, 3u})
        check_entry_point("embed", [&] {
            base::Stop stop;
            const embed::OutputLayer layer(counts, negative);
            std::vector<float> words(40 * 16, 0.01F);
            std::vector<float> outputs(layer.n_outputs() * 16, 0.02F);
            std::vector<float> documents(12 * 16, 0.03F);
            embed::EmbedOptions options;
            options.predictor = embed::Predictor::dm;
            options.epochs = 1;
            Digest out;
            out.push_back(embed::train_embeddings(
                {rows.words, rows.starts}, layer, keep, options,
                {words.data(), outputs.data(), documents.data(), 16}, 5, 1, stop));
            const std::vector<std::uint64_t> seeds(12, 5);
            out.push_back(embed::infer_documents(
                {rows.words, rows.starts}, layer, keep, options,
                {words.data(), outputs.data(), documents.data(), 16}, seeds, kThreads, stop));
            add(out, words);
            add(out, documents);
            return out;
        });
}
