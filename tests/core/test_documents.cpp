#include "check.h"
#include "transport/documents.h"

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
    const std::int64_t total = transport::whole_masses(weights, masses);
    return {total, masses};
}

std::int64_t sum(const Masses& masses) {
    return std::accumulate(masses.begin(), masses.end(), std::int64_t{0});
}

// Each mass is within one unit of its share, except the largest, which absorbs the rounding.
void check_shares(const std::vector<double>& weights, const Masses& masses) {
    long double total = 0;
    for (const double w : weights) total += w;
    const double slack = 1 + static_cast<double>(weights.size()) / 2;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const long double share =
            weights[i] / total * static_cast<long double>(transport::kFixedTotal);
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
    const auto largest = static_cast<double>(transport::kLargestCountTotal);
    const Result result = whole({largest - 5, 5});
    CHECK(result.total == transport::kLargestCountTotal);
    CHECK(result.masses == Masses{transport::kLargestCountTotal - 5, 5});
    CHECK(whole({largest}).masses == Masses{transport::kLargestCountTotal});
}

TEST(masses_of_counts_above_the_largest_total_are_rounded) {
    const auto largest = static_cast<double>(transport::kLargestCountTotal);
    for (const std::vector<double>& weights :
         {std::vector{largest, 1.0}, std::vector{largest / 2, largest / 2, 2.0},
          std::vector{1e18, 3e18, 5.0}}) {
        const Result result = whole(weights);
        CHECK(result.total == transport::kFixedTotal);
        CHECK(sum(result.masses) == transport::kFixedTotal);
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
        CHECK(result.total == transport::kFixedTotal);
        CHECK(sum(result.masses) == transport::kFixedTotal);
        check_shares(weights, result.masses);
    }
}

TEST(masses_of_fractions_with_a_power_of_two_are_exact) {
    const Result result = whole({0.75, 0.25});
    CHECK(result.masses == Masses{transport::kFixedTotal / 4 * 3, transport::kFixedTotal / 4});
}

TEST(masses_do_not_depend_on_the_scale_of_weights) {
    const Result plain = whole({0.3, 0.5, 0.2});
    for (const int power : {-1000, -500, 500, 1000}) {
        const Result scaled =
            whole({std::ldexp(0.3, power), std::ldexp(0.5, power), std::ldexp(0.2, power)});
        CHECK(scaled.masses == plain.masses);
    }
}

TEST(masses_of_tiny_and_huge_weights_together) {
    const Result mixed = whole({1e-300, 1e300, 1.0});
    CHECK(mixed.total == transport::kFixedTotal);
    CHECK(mixed.masses == Masses{0, transport::kFixedTotal, 0});
    // A sum that would overflow, and a sum of the smallest numbers.
    const double largest = std::numeric_limits<double>::max();
    CHECK(whole({largest, largest}).masses ==
          Masses{transport::kFixedTotal / 2, transport::kFixedTotal / 2});
    const double smallest = std::numeric_limits<double>::denorm_min();
    CHECK(whole({smallest, smallest}).masses ==
          Masses{transport::kFixedTotal / 2, transport::kFixedTotal / 2});
    const Result few = whole({1e-300, 3e-300});
    CHECK(sum(few.masses) == transport::kFixedTotal && few.masses[0] == transport::kFixedTotal / 4);
}

TEST(masses_without_weights) {
    CHECK(whole({}).total == 0);
    CHECK(whole({0.0}).total == 0);
    CHECK(whole({0.0, 0.0, -0.0}).total == 0);
}

TEST(common_total_is_exact_if_possible) {
    Masses a{1, 3};
    Masses b{2, 3, 1};
    CHECK(transport::to_common_total(a, 4, b, 6) == 12);
    CHECK(a == Masses{3, 9});
    CHECK(b == Masses{4, 6, 2});
    Masses same{1, 3};
    CHECK(transport::to_common_total(a, 12, same, 4) == 12);
    CHECK(a == Masses{3, 9} && same == a);
}

// The largest totals of counts without a common factor.
TEST(common_total_of_counts_is_always_exact) {
    const std::int64_t odd = transport::kLargestCountTotal - 1;
    Masses a{odd - 1, 1};
    Masses b{1, transport::kLargestCountTotal - 1};
    const std::int64_t total = transport::to_common_total(a, odd, b, transport::kLargestCountTotal);
    CHECK(total == odd * transport::kLargestCountTotal);
    CHECK(a == Masses{(odd - 1) * transport::kLargestCountTotal, transport::kLargestCountTotal});
    CHECK(sum(a) == total && sum(b) == total);
}

// A document must not depend on the other document: masses rounded to the fixed
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
            const std::int64_t total =
                first ? transport::to_common_total(a, transport::kFixedTotal, b, counts.total)
                      : transport::to_common_total(b, counts.total, a, transport::kFixedTotal);
            CHECK(total == transport::kFixedTotal);
            CHECK(a == fixed);
            CHECK(sum(b) == transport::kFixedTotal);
            check_shares(numbers, b);
        }
    }
}

TEST(documents_drop_words_without_weight_and_keep_rows) {
    const std::vector<std::int64_t> indptr{0, 3, 3, 5, 7};
    const std::vector<std::int32_t> indices{1, 4, 9, 0, 2, 3, 8};
    const std::vector<double> weights{2, 0, 1, 0, 0, 0.25, 0.75};
    const transport::Documents documents(indptr, indices, weights);
    CHECK(documents.size() == 4);
    const transport::Document first = documents[0];
    CHECK(first.size() == 2 && first.total == 3);
    CHECK(first.words[0] == 1 && first.words[1] == 9);
    CHECK(first.masses[0] == 2 && first.masses[1] == 1);
    CHECK(documents[1].empty() && documents[1].total == 0);
    CHECK(documents[2].empty() && documents[2].total == 0);
    const transport::Document last = documents[3];
    CHECK(last.size() == 2 && last.total == transport::kFixedTotal);
    CHECK(last.words[0] == 3 && last.masses[0] == transport::kFixedTotal / 4);
}

TEST(documents_without_weight_have_no_words) {
    // After a document of the same length, whose masses must not be reused.
    const std::vector<std::int64_t> indptr{0, 2, 4};
    const std::vector<std::int32_t> indices{0, 1, 0, 1};
    const std::vector<double> weights{3, 4, 0, 0};
    const transport::Documents documents(indptr, indices, weights);
    CHECK(documents[0].size() == 2);
    CHECK(documents[1].empty() && documents[1].total == 0);
}

TEST(documents_drop_weights_that_round_to_zero) {
    const std::vector<std::int64_t> indptr{0, 2};
    const std::vector<std::int32_t> indices{5, 6};
    const std::vector<double> weights{1e-30, 0.5};
    const transport::Documents documents(indptr, indices, weights);
    CHECK(documents[0].size() == 1 && documents[0].words[0] == 6);
    CHECK(documents[0].total == transport::kFixedTotal &&
          documents[0].masses[0] == transport::kFixedTotal);
}

TEST(no_documents) {
    const std::vector<std::int64_t> indptr{0};
    CHECK(transport::Documents(indptr, {}, {}).size() == 0);
}

TEST(whole_masses_of_fractions_finds_common_denominators) {
    const auto masses_of = [](const std::vector<double>& weights) {
        std::vector<std::int64_t> masses(weights.size());
        const std::int64_t total = transport::whole_masses_of_fractions(weights, masses);
        CHECK(total == std::accumulate(masses.begin(), masses.end(), std::int64_t{0}));
        return masses;
    };
    using Masses = std::vector<std::int64_t>;
    CHECK(masses_of(std::vector<double>(10, 0.1)) == Masses(10, 1));
    CHECK(masses_of({0.1, 0.2, 0.7}) == (Masses{1, 2, 7}));
    CHECK(masses_of({0.4, 0, 0.6}) == (Masses{2, 0, 3}));
    CHECK(masses_of({1.0 / 3, 1.0 / 2, 1.0 / 6}) == (Masses{2, 3, 1}));
    CHECK(masses_of({1e300 / 7, 3e300 / 7, 1e300 / 14}) == (Masses{2, 6, 1}));
    CHECK(masses_of({3, 5}) == (Masses{3, 5})); // counts stay counts
    CHECK(masses_of({6, 4}) == (Masses{6, 4}));
    std::mt19937_64 random(12);
    for (int round = 0; round < 2000; ++round) {
        // Counts over their sum, and over another number.
        Masses counts(1 + random() % 30);
        for (auto& count : counts) count = static_cast<std::int64_t>(1 + random() % 400);
        counts.front() = 1;
        const double by = round % 2 == 0 ? static_cast<double>(std::accumulate(
                                               counts.begin(), counts.end(), std::int64_t{0}))
                                         : 0.5 + static_cast<double>(random() % 100'000) / 7;
        std::vector<double> weights;
        for (const auto count : counts) weights.push_back(static_cast<double>(count) / by);
        CHECK(masses_of(weights) == counts || by == 1);
    }
}

TEST(whole_masses_of_fractions_are_as_close_as_masses_of_weights) {
    std::mt19937_64 random(13);
    std::uniform_real_distribution<double> uniform;
    for (int round = 0; round < 5000; ++round) {
        std::vector<double> weights(1 + random() % 8);
        for (double& weight : weights) weight = std::pow(10, -9 * uniform(random));
        if (round % 3 == 0) weights.push_back(0);
        std::vector<std::int64_t> masses(weights.size());
        const auto total =
            static_cast<long double>(transport::whole_masses_of_fractions(weights, masses));
        long double sum = 0;
        for (const double weight : weights) sum += static_cast<long double>(weight);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const long double share = static_cast<long double>(weights[i]) / sum;
            const long double off = static_cast<long double>(masses[i]) / total - share;
            CHECK(std::fabs(off) <= static_cast<long double>(weights.size()) * 0x1p-45L);
        }
    }
}
