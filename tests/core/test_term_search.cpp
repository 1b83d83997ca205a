#include "base/parallel.h"
#include "check.h"
#include "ranking/term_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>

using namespace textkin;

namespace {

using Row = std::map<std::int32_t, std::uint32_t>;

// Rows and postings in memory of exactly their size.
struct Part {
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<float> counts;
    std::vector<std::int32_t> terms, rows;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> tf;

    explicit Part(const std::vector<Row>& all) {
        std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::uint32_t>>> transposed;
        for (std::size_t row = 0; row < all.size(); ++row) {
            for (const auto& [word, count] : all[row]) {
                columns.push_back(word);
                counts.push_back(static_cast<float>(count));
                transposed[word].emplace_back(static_cast<std::int32_t>(row), count);
            }
            indptr.push_back(static_cast<std::int64_t>(columns.size()));
        }
        for (const auto& [word, postings] : transposed) {
            terms.push_back(word);
            for (const auto& [row, count] : postings) {
                rows.push_back(row);
                tf.push_back(count);
            }
            offsets.push_back(static_cast<std::int64_t>(rows.size()));
        }
        columns.shrink_to_fit();
        counts.shrink_to_fit();
        rows.shrink_to_fit();
        tf.shrink_to_fit();
    }
    [[nodiscard]] ranking::CountMatrix view() const {
        return {{indptr, columns, 0}, counts, terms, offsets, rows, tf};
    }
};

struct Collection {
    std::vector<std::vector<Row>> rows; // of each part
    std::vector<Part> parts;
    std::vector<std::uint8_t> live;
    ranking::WeightFormula formula;

    [[nodiscard]] ranking::TermSearch search() const {
        std::vector<ranking::CountMatrix> views;
        for (const Part& part : parts) views.push_back(part.view());
        base::Stop stop;
        return {views, live, formula, stop};
    }
};

// Random words, most of them rare.
Collection some_documents(std::mt19937_64& random, std::size_t n_parts, std::size_t n_rows,
                          std::size_t n_words) {
    Collection made;
    const auto word = [&] {
        const double u = static_cast<double>(random() % 4096) / 4096;
        return static_cast<std::int32_t>(u * u * static_cast<double>(n_words));
    };
    for (std::size_t p = 0; p < n_parts; ++p) {
        std::vector<Row> rows(p + 1 == n_parts ? 0 : n_rows); // an empty part too
        for (Row& row : rows)
            for (std::uint64_t left = random() % 8; left > 0; --left) row[word()] += 1;
        made.rows.push_back(rows);
        made.parts.emplace_back(rows);
        for (std::size_t i = 0; i < rows.size(); ++i) made.live.push_back(random() % 10 != 0);
    }
    made.formula.count = static_cast<ranking::CountFormula>(random() % 4);
    made.formula.norm = static_cast<ranking::RowNorm>(random() % 4);
    made.formula.k1 = random() % 3 == 0 ? 0.0 : 1.2;
    made.formula.b = random() % 3 == 0 ? 0.0 : 0.75;
    made.formula.average_length = 3;
    for (std::size_t w = 0; w < n_words; ++w)
        made.formula.word_weights.push_back(
            random() % 8 == 0 ? 0.0 : static_cast<double>(random() % 7) - 1.0 + 0.3);
    return made;
}

// Each document by the formulas.
double oracle_weight(const ranking::WeightFormula& formula, const Row& row, std::int32_t asked) {
    double length = 0;
    double largest = 0;
    for (const auto& [word, count] : row) {
        length += count;
        largest = std::max(largest, static_cast<double>(count));
    }
    const auto plain = [&](std::int32_t word, std::uint32_t count) {
        const double n = count;
        const double g = formula.count == ranking::CountFormula::count    ? n
                         : formula.count == ranking::CountFormula::binary ? 1.0
                         : formula.count == ranking::CountFormula::log
                             ? 1 + std::log(n)
                             : n * (formula.k1 + 1) /
                                   (n + formula.k1 * (1 - formula.b +
                                                      formula.b * length / formula.average_length));
        return g * formula.word_weights[static_cast<std::size_t>(word)];
    };
    double size = 0;
    for (const auto& [word, count] : row) {
        const double weight = plain(word, count);
        if (formula.norm == ranking::RowNorm::l1) size += std::abs(weight);
        if (formula.norm == ranking::RowNorm::l2) size += weight * weight;
    }
    if (formula.norm == ranking::RowNorm::l2) size = std::sqrt(size);
    if (formula.norm == ranking::RowNorm::largest_count) size = largest;
    const auto there = row.find(asked);
    if (there == row.end()) return 0;
    return plain(asked, there->second) / (size > 0 ? size : 1);
}

bool same(const std::vector<ranking::FoundRow>& a, const std::vector<ranking::FoundRow>& b) {
    return std::ranges::equal(a, b, [](const ranking::FoundRow& x, const ranking::FoundRow& y) {
        return x.row == y.row && x.score == y.score;
    });
}

std::vector<ranking::QueryWord> some_query(std::mt19937_64& random, std::size_t n_words) {
    std::vector<ranking::QueryWord> query;
    for (std::uint64_t left = random() % 12; left > 0; --left)
        query.push_back({static_cast<std::int32_t>(random() % n_words),
                         random() % 5 == 0 ? -1.0 : static_cast<double>(1 + random() % 3)});
    return query;
}

} // namespace

TEST(best_documents_match_all_scores) {
    std::mt19937_64 random(1);
    base::Stop stop;
    std::size_t compared = 0;
    for (int round = 0; round < 60; ++round) {
        const std::size_t n_words = 5 + random() % 40;
        const Collection made =
            some_documents(random, 1 + random() % 4, 1 + random() % 300, n_words);
        const ranking::TermSearch search = made.search();
        for (int asked = 0; asked < 20; ++asked) {
            const auto query = some_query(random, n_words);
            std::vector<std::uint8_t> allowed;
            if (random() % 3 == 0)
                for (std::size_t row = 0; row < search.size(); ++row)
                    allowed.push_back(random() % 3 != 0);
            std::vector<ranking::FoundRow> expected;
            std::size_t at = 0;
            for (const auto& part : made.rows)
                for (const Row& row : part) {
                    double score = 0;
                    for (const ranking::QueryWord& word : query)
                        score += word.weight * oracle_weight(made.formula, row, word.word);
                    if (made.live[at] && (allowed.empty() || allowed[at]))
                        expected.push_back({static_cast<std::int64_t>(at), score});
                    ++at;
                }
            std::vector<ranking::FoundRow> all, pruned, dense, automatic;
            const double none = -std::numeric_limits<double>::infinity();
            search.best(query, 1 << 20, none, allowed, ranking::TermSearchMethod::dense, all, stop);
            // The scores match the formulas, and every positive score is found.
            std::size_t found = 0;
            for (const ranking::FoundRow& row : expected) {
                const auto there = std::ranges::find(all, row.row, &ranking::FoundRow::row);
                if (there != all.end()) {
                    ++found;
                    CHECK_NEAR(there->score, row.score, 1e-12 * (1 + std::abs(row.score)));
                } else {
                    CHECK(row.score < 1e-12);
                }
            }
            CHECK(found == all.size());
            compared += found;
            CHECK(std::ranges::is_sorted(
                all, [](const ranking::FoundRow& a, const ranking::FoundRow& b) {
                    return a.score != b.score ? a.score > b.score : a.row < b.row;
                }));
            for (const std::size_t k :
                 {std::size_t{1}, std::size_t{3}, std::size_t{10}, std::size_t{1000}}) {
                const double threshold =
                    random() % 2 == 0 || all.empty() ? none : all[random() % all.size()].score;
                std::vector<ranking::FoundRow> first;
                for (const ranking::FoundRow& row : all)
                    if (first.size() < k && row.score >= threshold) first.push_back(row);
                search.best(query, k, threshold, allowed, ranking::TermSearchMethod::pruned, pruned,
                            stop);
                search.best(query, k, threshold, allowed, ranking::TermSearchMethod::dense, dense,
                            stop);
                search.best(query, k, threshold, allowed, ranking::TermSearchMethod::automatic,
                            automatic, stop);
                CHECK(same(pruned, first));
                CHECK(same(dense, first));
                CHECK(same(automatic, first));
            }
        }
    }
    CHECK(compared > 10000);
}

TEST(pruning_skips_postings_and_changes_no_result) {
    // More rows than a window has, and words that most documents have.
    std::mt19937_64 random(2);
    base::Stop stop;
    Collection made;
    constexpr std::size_t kWords = 60;
    for (const std::size_t n_rows : {50000, 90000}) {
        std::vector<Row> rows(n_rows);
        for (Row& row : rows)
            for (std::int32_t w = 0; w < static_cast<std::int32_t>(kWords); ++w)
                if (random() % (2 + 40 * static_cast<std::uint64_t>(w)) == 0)
                    row[w] = 1 + static_cast<std::uint32_t>(random() % 3);
        made.parts.emplace_back(rows);
        for (std::size_t i = 0; i < n_rows; ++i) made.live.push_back(random() % 50 != 0);
    }
    made.formula = {ranking::CountFormula::saturated, ranking::RowNorm::none, 1.2, 0.75, 4.0, {}};
    for (std::size_t w = 0; w < kWords; ++w)
        made.formula.word_weights.push_back(std::log(2.0 + 4.0 * static_cast<double>(w)));
    for (const bool negative : {false, true}) {
        made.formula.word_weights[0] = negative ? -0.05 : 0.05; // can be skipped
        const ranking::TermSearch search = made.search();
        ranking::TermSearchCounts counts{};
        for (int asked = 0; asked < 40; ++asked) {
            std::vector<ranking::QueryWord> query{{0, 1.0}};
            for (int left = 0; left < 4; ++left)
                query.push_back({static_cast<std::int32_t>(random() % kWords), 1.0});
            std::vector<std::uint8_t> allowed;
            if (asked % 4 == 0)
                for (std::size_t row = 0; row < search.size(); ++row)
                    allowed.push_back(random() % 2 == 0);
            std::vector<ranking::FoundRow> pruned, dense;
            const auto count =
                search.best(query, 10, 0, allowed, ranking::TermSearchMethod::pruned, pruned, stop);
            search.best(query, 10, 0, allowed, ranking::TermSearchMethod::dense, dense, stop);
            CHECK(pruned.size() == 10 && same(pruned, dense));
            counts.postings += count.postings;
            counts.touched += count.touched;
            counts.scored += count.scored;
        }
        CHECK(counts.touched < counts.postings / 2);
        CHECK(counts.scored < 40 * 500);
    }
}

TEST(weights_of_any_size_are_ranked_alike) {
    std::mt19937_64 random(3);
    base::Stop stop;
    for (const double size : {1e-310, 1e-200, 1e-30, 1e30, 1e150, 1e300}) {
        Collection made = some_documents(random, 2, 200, 12);
        made.formula.norm = ranking::RowNorm::none;
        for (double& weight : made.formula.word_weights) weight *= size;
        const ranking::TermSearch search = made.search();
        std::vector<ranking::FoundRow> pruned, dense;
        for (int asked = 0; asked < 30; ++asked) {
            auto query = some_query(random, 12);
            if (!query.empty()) query[0].weight *= asked % 2 == 0 ? 1.0 : 1e-300;
            const double none = -std::numeric_limits<double>::infinity();
            search.best(query, 5, none, {}, ranking::TermSearchMethod::pruned, pruned, stop);
            search.best(query, 5, none, {}, ranking::TermSearchMethod::dense, dense, stop);
            CHECK(same(pruned, dense));
        }
    }
    Collection made = some_documents(random, 2, 50, 5);
    made.formula.norm = ranking::RowNorm::none;
    made.formula.word_weights.assign(5, std::numeric_limits<double>::infinity());
    CHECK_THROWS(std::invalid_argument, static_cast<void>(made.search()));
}

TEST(unusual_queries) {
    std::mt19937_64 random(4);
    base::Stop stop;
    const Collection made = some_documents(random, 3, 40, 30);
    const ranking::TermSearch search = made.search();
    std::vector<ranking::FoundRow> found{{1, 1.0}};
    const auto ask = [&](std::vector<ranking::QueryWord> query, std::size_t k,
                         std::vector<std::uint8_t> allowed = {}) {
        return search.best(query, k, 0, allowed, ranking::TermSearchMethod::automatic, found, stop);
    };
    ask({}, 5);
    CHECK(found.empty());
    ask({{1, 1.0}}, 0);
    CHECK(found.empty());
    ask({{1, 0.0}}, 5);
    CHECK(found.empty());
    ask({{1, 1.0}, {1, -1.0}}, 5);
    CHECK(found.empty());
    CHECK_THROWS(std::invalid_argument, ask({{30, 1.0}}, 5));
    CHECK_THROWS(std::invalid_argument, ask({{-1, 1.0}}, 5));
    CHECK_THROWS(std::invalid_argument, ask({{1, std::nan("")}}, 5));
    CHECK_THROWS(std::invalid_argument, ask({{1, 1.0}}, 5, {1, 1}));
    // More words than the sums can store.
    Collection wide = some_documents(random, 2, 500, 5000);
    std::vector<ranking::QueryWord> query;
    for (std::int32_t word = 0; word < 5000; ++word) query.push_back({word, 1.0});
    std::vector<ranking::FoundRow> dense;
    const ranking::TermSearch all = wide.search();
    all.best(query, 7, 0, {}, ranking::TermSearchMethod::pruned, found, stop);
    all.best(query, 7, 0, {}, ranking::TermSearchMethod::dense, dense, stop);
    CHECK(found.size() == 7 && same(found, dense));
    base::Stop stopped;
    stopped.request();
    CHECK_THROWS(base::Stopped,
                 all.best(query, 7, 0, {}, ranking::TermSearchMethod::pruned, found, stopped));
    CHECK_THROWS(base::Stopped,
                 all.best(query, 7, 0, {}, ranking::TermSearchMethod::dense, found, stopped));
    CHECK_THROWS(base::Stopped, static_cast<void>(ranking::TermSearch(
                                    {wide.parts[0].view()}, wide.live, wide.formula, stopped)));
}

TEST(row_returns_the_weights_of_its_words) {
    std::mt19937_64 random(5);
    const Collection made = some_documents(random, 4, 30, 20);
    const ranking::TermSearch search = made.search();
    std::vector<std::int32_t> words;
    std::vector<double> weights;
    std::size_t at = 0;
    for (const auto& part : made.rows)
        for (const Row& row : part) {
            search.words_of(at++, words, weights);
            std::size_t k = 0;
            for (const auto& [word, count] : row) {
                const double expected = oracle_weight(made.formula, row, word);
                if (expected == 0) continue;
                CHECK(k < words.size() && words[k] == word);
                CHECK_NEAR(weights[k], expected, 1e-12 * std::abs(expected));
                ++k;
            }
            CHECK(k == words.size());
        }
}

TEST(postings_that_may_hold_anything_are_checked_before_they_are_used) {
    std::mt19937_64 random(6);
    base::Stop stop;
    const Collection sound = some_documents(random, 2, 40, 12);
    int refused = 0;
    for (int round = 0; round < 5000; ++round) {
        Collection made = sound;
        Part& part = made.parts[0];
        const auto spoil = [&](auto& numbers) {
            auto& number = numbers[random() % numbers.size()];
            using Number = std::remove_reference_t<decltype(number)>;
            number = random() % 3 == 0
                         ? static_cast<Number>(random())
                         : static_cast<Number>(number + static_cast<Number>(random() % 5) -
                                               static_cast<Number>(2));
        };
        switch (random() % 6) {
        case 0:
            spoil(part.terms);
            break;
        case 1:
            spoil(part.offsets);
            break;
        case 2:
            spoil(part.rows);
            break;
        case 3:
            spoil(part.tf);
            break;
        case 4:
            part.rows.pop_back();
            break;
        default:
            spoil(part.columns);
            break;
        }
        try {
            const ranking::TermSearch search = made.search();
            std::vector<ranking::FoundRow> found;
            search.best(some_query(random, 12), 3, 0, {}, ranking::TermSearchMethod::pruned, found,
                        stop);
            search.best(some_query(random, 12), 3, 0, {}, ranking::TermSearchMethod::dense, found,
                        stop);
            for (const ranking::FoundRow& row : found) CHECK(row.row >= 0 && row.row < 40);
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    CHECK(refused > 1000 && refused < 5000);
}

namespace {

// A collection with more than one window of rows, and queries with their answers.
struct Answered {
    Collection made;
    ranking::TermSearch search;
    std::vector<std::vector<ranking::QueryWord>> queries;
    std::vector<std::vector<ranking::FoundRow>> answers;

    static constexpr std::size_t kBest = 10;

    static Answered make(std::mt19937_64& random) {
        constexpr std::size_t n_words = 200;
        Collection made = some_documents(random, 3, 40'000, n_words);
        ranking::TermSearch search = made.search();
        Answered all{std::move(made), std::move(search), {}, {}};
        base::Stop stop;
        for (int i = 0; i < 12; ++i) {
            all.queries.push_back(some_query(random, n_words));
            all.answers.push_back(all.answer(all.queries.size() - 1, stop));
        }
        return all;
    }
    [[nodiscard]] std::vector<ranking::FoundRow> answer(std::size_t query, base::Stop& stop) const {
        std::vector<ranking::FoundRow> found;
        search.best(queries[query], kBest, 0, {}, ranking::TermSearchMethod::pruned, found, stop);
        return found;
    }
};

} // namespace

TEST(term_search_within_a_poll_of_a_term_search_changes_no_answer) {
    std::mt19937_64 random(21);
    const Answered all = Answered::make(random);
    std::size_t polls = 0;
    for (std::size_t q = 0; q < all.queries.size(); ++q) {
        const auto poll = [&](std::size_t) {
            const std::size_t other = ++polls % all.queries.size();
            base::Stop inner;
            CHECK(same(all.answer(other, inner), all.answers[other]));
            return false;
        };
        base::Stop stop(poll, base::Stop::Clock::duration::zero());
        CHECK(same(all.answer(q, stop), all.answers[q]));
    }
    CHECK(polls > all.queries.size());
}

TEST(term_search_on_several_threads_gives_equal_answers) {
    std::mt19937_64 random(22);
    const Answered all = Answered::make(random);
    std::vector<std::vector<ranking::FoundRow>> found(all.queries.size() * 8);
    base::Stop stop;
    base::parallel_for(found.size(), 4, stop, [&](std::size_t item) {
        base::Stop own;
        found[item] = all.answer(item % all.queries.size(), own);
    });
    for (std::size_t item = 0; item < found.size(); ++item)
        CHECK(same(found[item], all.answers[item % all.queries.size()]));
}

TEST(term_search_of_a_file_that_was_changed_reads_nothing_outside) {
    std::mt19937_64 random(23);
    Collection made = some_documents(random, 2, 300, 40);
    const ranking::TermSearch search = made.search();
    std::vector<ranking::QueryWord> query;
    for (std::int32_t word = 0; word < 40; ++word) query.push_back({word, 1.0});
    // A file that was checked, mapped, and then changed by another process.
    for (std::int32_t& column : made.parts.front().columns)
        column = static_cast<std::int32_t>(0x40000000U + (random() % (1U << 29)));
    base::Stop stop;
    std::vector<ranking::FoundRow> found;
    std::vector<std::int32_t> words;
    std::vector<double> weights;
    for (const std::size_t k : {1u, 10u})
        search.best(query, k, 0, {}, ranking::TermSearchMethod::pruned, found, stop);
    for (std::size_t row = 0; row < search.size(); ++row) {
        search.words_of(row, words, weights);
        CHECK(words.empty());
    }
}

TEST(search_by_terms_equals_search_in_rows_of_terms) {
    std::mt19937_64 random(11);
    base::Stop stop;
    std::size_t compared = 0;
    for (int round = 0; round < 60; ++round) {
        const std::size_t n_words = 5 + random() % 60;
        const std::size_t n_terms = 1 + random() % n_words;
        Collection words = some_documents(random, 1 + random() % 4, 1 + random() % 300, n_words);
        std::vector<std::int32_t> term_of;
        for (std::size_t word = 0; word < n_words; ++word)
            term_of.push_back(static_cast<std::int32_t>(random() % (n_terms + 1)) - 1);
        const ranking::TermMap map(term_of, n_terms);
        words.formula.word_weights.resize(n_terms);
        Collection terms = words;
        terms.parts.clear();
        std::vector<std::int64_t> frequencies(n_terms, 0);
        std::int64_t tokens = 0;
        std::size_t at = 0;
        for (std::vector<Row>& part : terms.rows) {
            for (Row& row : part) {
                Row mapped;
                for (const auto& [word, count] : row)
                    if (const std::int32_t term = term_of[static_cast<std::size_t>(word)];
                        term >= 0)
                        mapped[term] += count;
                row = mapped;
                if (words.live[at++] == 0) continue;
                for (const auto& [term, count] : row) {
                    ++frequencies[static_cast<std::size_t>(term)];
                    tokens += count;
                }
            }
            terms.parts.emplace_back(part);
        }
        std::vector<ranking::CountMatrix> views;
        for (const Part& part : words.parts) views.push_back(part.view());
        const ranking::TermStatistics found = ranking::measure_terms(views, map, words.live, stop);
        CHECK(found.frequencies == frequencies);
        CHECK(found.tokens == tokens);
        const ranking::TermSearch mapped(views, words.live, words.formula, stop, &map);
        const ranking::TermSearch counted = terms.search();
        for (int asked = 0; asked < 10; ++asked) {
            const auto query = some_query(random, n_terms);
            const std::size_t k = 1 + random() % 20;
            std::vector<ranking::FoundRow> expected, ours;
            const auto counts =
                counted.best(query, k, 0, {}, ranking::TermSearchMethod::dense, expected, stop);
            for (const auto method :
                 {ranking::TermSearchMethod::automatic, ranking::TermSearchMethod::pruned,
                  ranking::TermSearchMethod::dense}) {
                CHECK(mapped.best(query, k, 0, {}, method, ours, stop).postings == counts.postings);
                CHECK(same(ours, expected));
            }
            compared += expected.size();
        }
        std::vector<std::int32_t> row_terms, row_expected;
        std::vector<double> weights, weights_expected;
        for (std::size_t row = 0; row < mapped.size(); ++row) {
            mapped.words_of(row, row_terms, weights);
            counted.words_of(row, row_expected, weights_expected);
            CHECK(row_terms == row_expected && weights == weights_expected);
        }
    }
    CHECK(compared > 1000);
}

TEST(invalid_maps_and_statistics_raise) {
    const std::vector<std::int32_t> high{0, 2}, low{0, -2}, sound{0, 1, -1};
    CHECK_THROWS(std::invalid_argument, ranking::TermMap(high, 2));
    CHECK_THROWS(std::invalid_argument, ranking::TermMap(low, 2));
    const ranking::TermMap map(sound, 2);
    CHECK(map.n_words() == 3 && map.n_terms() == 2);
    CHECK(map.term_of(0) == 0 && map.term_of(2) == -1 && map.term_of(3) == -1);
    CHECK(map.term_of(-1) == -1);
    const Part part({Row{{0, 1}, {3, 1}}});
    base::Stop stop;
    const std::vector<std::uint8_t> live{1}, few;
    CHECK_THROWS(std::invalid_argument,
                 static_cast<void>(ranking::measure_terms({part.view()}, map, live, stop)));
    const Part inside({Row{{0, 1}, {1, 1}}});
    CHECK_THROWS(std::invalid_argument,
                 static_cast<void>(ranking::measure_terms({inside.view()}, map, few, stop)));
    ranking::WeightFormula formula;
    formula.word_weights = {1.0, 1.0, 1.0};
    CHECK_THROWS(std::invalid_argument, static_cast<void>(ranking::TermSearch(
                                            {inside.view()}, live, formula, stop, &map)));
}
