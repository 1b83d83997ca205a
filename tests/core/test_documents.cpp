#include "check.h"
#include "textkin/documents.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

using namespace textkin;

namespace {

using Masses = std::vector<std::int64_t>;

struct Result {
    std::int64_t total;
    Masses masses;
};

Result whole(const std::vector<double>& weights) {
    Masses masses(weights.size(), -1);
    const std::int64_t total = whole_masses(weights, masses);
    return {total, masses};
}

std::int64_t sum(const Masses& masses) {
    return std::accumulate(masses.begin(), masses.end(), std::int64_t{0});
}

// Each mass within one unit of its share, but for the largest, which takes up all the rounding.
void check_shares(const std::vector<double>& weights, const Masses& masses) {
    long double total = 0;
    for (const double w : weights) total += w;
    const double slack = 1 + static_cast<double>(weights.size()) / 2;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const long double share = weights[i] / total * static_cast<long double>(kFixedTotal);
        CHECK_NEAR(static_cast<double>(masses[i]), static_cast<double>(share), slack);
    }
}

} // namespace

TEST(masses_of_counts_are_the_counts) {
    const Result result = whole({3, 0, 1, 7});
    CHECK(result.total == 11);
    CHECK(result.masses == Masses{3, 0, 1, 7});
}

TEST(masses_of_counts_up_to_the_largest_total) {
    const auto largest = static_cast<double>(kLargestCountTotal);
    const Result result = whole({largest - 5, 5});
    CHECK(result.total == kLargestCountTotal);
    CHECK(result.masses == Masses{kLargestCountTotal - 5, 5});
    CHECK(whole({largest}).masses == Masses{kLargestCountTotal});
}

TEST(masses_of_counts_above_the_largest_total_are_rounded) {
    const auto largest = static_cast<double>(kLargestCountTotal);
    for (const std::vector<double>& weights :
         {std::vector{largest, 1.0}, std::vector{largest / 2, largest / 2, 2.0},
          std::vector{1e18, 3e18, 5.0}}) {
        const Result result = whole(weights);
        CHECK(result.total == kFixedTotal);
        CHECK(sum(result.masses) == kFixedTotal);
        check_shares(weights, result.masses);
    }
}

TEST(masses_of_weights_add_up_to_the_fixed_total) {
    std::mt19937_64 random(1);
    std::exponential_distribution<double> draw;
    for (const std::size_t length : {1u, 2u, 3u, 10u, 1000u}) {
        std::vector<double> weights(length);
        for (double& w : weights) w = draw(random);
        const Result result = whole(weights);
        CHECK(result.total == kFixedTotal);
        CHECK(sum(result.masses) == kFixedTotal);
        check_shares(weights, result.masses);
    }
}

TEST(masses_of_fractions_with_a_power_of_two_are_exact) {
    const Result result = whole({0.75, 0.25});
    CHECK(result.masses == Masses{kFixedTotal / 4 * 3, kFixedTotal / 4});
}

TEST(masses_do_not_depend_on_the_size_of_weights) {
    const Result plain = whole({0.3, 0.5, 0.2});
    for (const int power : {-1000, -500, 500, 1000}) {
        const Result scaled =
            whole({std::ldexp(0.3, power), std::ldexp(0.5, power), std::ldexp(0.2, power)});
        CHECK(scaled.masses == plain.masses);
    }
}

TEST(masses_of_tiny_and_huge_weights_together) {
    const Result mixed = whole({1e-300, 1e300, 1.0});
    CHECK(mixed.total == kFixedTotal);
    CHECK(mixed.masses == Masses{0, kFixedTotal, 0});
    // A sum that would overflow, and one of the smallest numbers there are.
    const double largest = std::numeric_limits<double>::max();
    CHECK(whole({largest, largest}).masses == Masses{kFixedTotal / 2, kFixedTotal / 2});
    const double smallest = std::numeric_limits<double>::denorm_min();
    CHECK(whole({smallest, smallest}).masses == Masses{kFixedTotal / 2, kFixedTotal / 2});
    const Result few = whole({1e-300, 3e-300});
    CHECK(sum(few.masses) == kFixedTotal && few.masses[0] == kFixedTotal / 4);
}

TEST(masses_of_nothing) {
    CHECK(whole({}).total == 0);
    CHECK(whole({0.0}).total == 0);
    CHECK(whole({0.0, 0.0, -0.0}).total == 0);
}

TEST(common_total_is_exact_where_it_can_be) {
    Masses a{1, 3};
    Masses b{2, 3, 1};
    CHECK(to_common_total(a, 4, b, 6) == 12);
    CHECK(a == Masses{3, 9});
    CHECK(b == Masses{4, 6, 2});
    Masses same{1, 3};
    CHECK(to_common_total(a, 12, same, 4) == 12);
    CHECK(a == Masses{3, 9} && same == a);
}

// The largest totals of counts that have nothing in common.
TEST(common_total_of_counts_is_always_exact) {
    const std::int64_t odd = kLargestCountTotal - 1;
    Masses a{odd - 1, 1};
    Masses b{1, kLargestCountTotal - 1};
    const std::int64_t total = to_common_total(a, odd, b, kLargestCountTotal);
    CHECK(total == odd * kLargestCountTotal);
    CHECK(a == Masses{(odd - 1) * kLargestCountTotal, kLargestCountTotal});
    CHECK(sum(a) == total && sum(b) == total);
}

// A document must not change with the company it is compared in: what is rounded to the fixed
// total already stays, while counts that do not divide it are rounded and add up exactly.
TEST(common_total_of_counts_and_weights) {
    std::mt19937_64 random(2);
    std::exponential_distribution<double> draw;
    for (const std::size_t length : {2u, 3u, 50u, 1000u}) {
        std::vector<double> weights(length);
        for (double& w : weights) w = draw(random);
        const Masses fixed = whole(weights).masses;
        std::vector<double> numbers(length);
        for (double& w : numbers) w = 1 + static_cast<double>(random() % 1000);
        numbers[0] += static_cast<double>(whole(numbers).total % 2 == 0); // an odd total
        Result counts = whole(numbers);
        for (const bool first : {false, true}) {
            Masses a = fixed;
            Masses b = counts.masses;
            const std::int64_t total = first ? to_common_total(a, kFixedTotal, b, counts.total)
                                             : to_common_total(b, counts.total, a, kFixedTotal);
            CHECK(total == kFixedTotal);
            CHECK(a == fixed);
            CHECK(sum(b) == kFixedTotal);
            check_shares(numbers, b);
        }
    }
}

TEST(documents_drop_words_that_weigh_nothing_and_keep_rows) {
    const std::vector<std::int64_t> indptr{0, 3, 3, 5, 7};
    const std::vector<std::int32_t> indices{1, 4, 9, 0, 2, 3, 8};
    const std::vector<double> weights{2, 0, 1, 0, 0, 0.25, 0.75};
    const Documents documents(indptr, indices, weights);
    CHECK(documents.size() == 4);
    const Document first = documents[0];
    CHECK(first.size() == 2 && first.total == 3);
    CHECK(first.words[0] == 1 && first.words[1] == 9);
    CHECK(first.masses[0] == 2 && first.masses[1] == 1);
    CHECK(documents[1].empty() && documents[1].total == 0);
    CHECK(documents[2].empty() && documents[2].total == 0);
    const Document last = documents[3];
    CHECK(last.size() == 2 && last.total == kFixedTotal);
    CHECK(last.words[0] == 3 && last.masses[0] == kFixedTotal / 4);
}

TEST(documents_that_weigh_nothing_have_no_words) {
    // Right after a document of the same length, whose masses must not be taken again.
    const std::vector<std::int64_t> indptr{0, 2, 4};
    const std::vector<std::int32_t> indices{0, 1, 0, 1};
    const std::vector<double> weights{3, 4, 0, 0};
    const Documents documents(indptr, indices, weights);
    CHECK(documents[0].size() == 2);
    CHECK(documents[1].empty() && documents[1].total == 0);
}

TEST(documents_drop_weights_that_round_to_nothing) {
    const std::vector<std::int64_t> indptr{0, 2};
    const std::vector<std::int32_t> indices{5, 6};
    const std::vector<double> weights{1e-30, 0.5};
    const Documents documents(indptr, indices, weights);
    CHECK(documents[0].size() == 1 && documents[0].words[0] == 6);
    CHECK(documents[0].total == kFixedTotal && documents[0].masses[0] == kFixedTotal);
}

TEST(no_documents) {
    const std::vector<std::int64_t> indptr{0};
    CHECK(Documents(indptr, {}, {}).size() == 0);
}
