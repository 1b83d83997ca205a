#include "check.h"
#include "embed/vector_file.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

using namespace textkin;

namespace {

embed::VectorRows text(const std::string& block, std::size_t dimension, bool final = true,
                       unsigned threads = 1, const embed::WordSet* wanted = nullptr) {
    base::Stop stop;
    return embed::parse_text(block, dimension, final, wanted, threads, stop);
}

embed::VectorRows binary(const std::string& block, std::size_t dimension,
                         std::int64_t most = 1000) {
    base::Stop stop;
    return embed::parse_binary(block, dimension, most, nullptr, stop);
}

std::string word(const embed::VectorRows& rows, std::size_t k) {
    const auto begin = static_cast<std::size_t>(k == 0 ? 0 : rows.ends[k - 1]);
    return rows.words.substr(begin, static_cast<std::size_t>(rows.ends[k]) - begin);
}

const embed::FaultCount& fault(const embed::VectorRows& rows, embed::Fault which) {
    return rows.faults[static_cast<std::size_t>(which)];
}

bool same(const embed::VectorRows& a, const embed::VectorRows& b) {
    bool equal = a.numbers == b.numbers && a.words == b.words && a.ends == b.ends &&
                 a.lines == b.lines && a.n_lines == b.n_lines && a.consumed == b.consumed;
    for (std::size_t k = 0; k < embed::kFaults; ++k)
        equal = equal && a.faults[k].count == b.faults[k].count &&
                a.faults[k].first == b.faults[k].first;
    return equal;
}

std::string row(const std::string& name, const std::vector<float>& numbers) {
    std::string out = name + ' ';
    for (const float x : numbers) {
        char bytes[4];
        std::memcpy(bytes, &x, sizeof x);
        out.append(bytes, sizeof bytes);
    }
    return out;
}

} // namespace

// strtof of the C library also rounds correctly, with another method.
TEST(vector_numbers_are_correctly_rounded) {
    std::mt19937_64 random(1);
    const char* formats[] = {"%.4f", "%.6g", "%.9g", "%.17g", "%.3e", "%.40f", "%.0f"};
    for (int i = 0; i < 200000; ++i) {
        float any = 0;
        const auto bits = static_cast<std::uint32_t>(random());
        std::memcpy(&any, &bits, sizeof any);
        if (!std::isfinite(any)) continue;
        // midpoints of two floats, and numbers of common size
        const double middle =
            (static_cast<double>(any) + static_cast<double>(std::nextafter(any, 0.0F))) / 2;
        const double plain = static_cast<double>(random() % 2000001) * 1e-6 - 1;
        for (const double value : {static_cast<double>(any), middle, plain}) {
            char shown[512];
            std::snprintf(shown, sizeof shown, formats[i % 7], value);
            float found = 0;
            const char* end = embed::parse_float(shown, shown + std::strlen(shown), found);
            CHECK(end == shown + std::strlen(shown));
            CHECK(found == std::strtof(shown, nullptr));
        }
    }
}

TEST(vector_numbers_out_of_range) {
    const auto parsed = [](const std::string& shown) {
        float found = 7;
        const char* end = embed::parse_float(shown.data(), shown.data() + shown.size(), found);
        CHECK(end == shown.data() + shown.size());
        return found;
    };
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(parsed("1e39") == infinity);
    CHECK(parsed("-1e99999999999999999999") == -infinity);
    CHECK(parsed("1" + std::string(400, '0')) == infinity);
    CHECK(parsed("0." + std::string(400, '0') + "1e999") == infinity);
    CHECK(parsed("1e-60") == 0);
    CHECK(parsed("-1e-999") == 0);
    CHECK(parsed("0." + std::string(400, '0') + "1") == 0);
    CHECK(parsed("1e-45") == std::numeric_limits<float>::denorm_min());
    CHECK(parsed("+1.5") == 1.5F);
    CHECK(std::isnan(parsed("nan")));
    for (const char* shown : {"", "-", "+", ".", "+-1", "e5", "x"}) {
        float found = 0;
        CHECK(embed::parse_float(shown, shown + std::strlen(shown), found) == nullptr);
    }
}

TEST(vector_text_reads_lines) {
    const embed::VectorRows rows = text("the 1 2\r\nof\t-3  4.5 \n\n. . . 5 6\nlast 7 8", 2);
    CHECK(rows.ends.size() == 4);
    CHECK(word(rows, 0) == "the");
    CHECK(word(rows, 1) == "of");
    CHECK(word(rows, 2) == ". . .");
    CHECK(word(rows, 3) == "last");
    CHECK(rows.numbers == embed::Numbers({1, 2, -3, 4.5, 5, 6, 7, 8}));
    CHECK(rows.lines == std::vector<std::int64_t>({0, 1, 3, 4}));
    CHECK(rows.n_lines == 5);
    CHECK(rows.n_entries == 4);
}

TEST(vector_text_keeps_incomplete_lines_for_the_next_block) {
    const embed::VectorRows rows = text("a 1\nb 2\nc 3", 1, false);
    CHECK(rows.ends.size() == 2);
    CHECK(rows.consumed == 8);
    CHECK(text("a 1", 1, false).consumed == 0);
    CHECK(text("", 1, true).consumed == 0);
}

TEST(vector_text_distinguishes_an_additional_number_from_a_word) {
    const embed::VectorRows rows =
        text("windows 10 0.5 1\nto inf 1 2\ncat 1 2 3\ncat 1e-5 0.5 1\n", 2);
    CHECK(rows.ends.size() == 2);
    CHECK(word(rows, 0) == "windows 10");
    CHECK(word(rows, 1) == "to inf");
    CHECK(fault(rows, embed::Fault::fields).count == 2);
    CHECK(fault(rows, embed::Fault::fields).first == 2);
}

TEST(vector_text_counts_errors) {
    const embed::VectorRows rows = text("a 1 2\nb 1\nc 1 x\nd 1 nan\ne 0 -0\n  1 2\nf 1e99 1\n"
                                        "g 1.5 1 2\n7 8\n",
                                        2);
    CHECK(rows.ends.size() == 1);
    CHECK(fault(rows, embed::Fault::fields).count == 3); // b, g and the line of two numbers
    CHECK(fault(rows, embed::Fault::fields).first == 1);
    CHECK(fault(rows, embed::Fault::number).count == 1);
    CHECK(fault(rows, embed::Fault::number).first == 2);
    CHECK(fault(rows, embed::Fault::not_finite).count == 2);
    CHECK(fault(rows, embed::Fault::not_finite).first == 3);
    CHECK(fault(rows, embed::Fault::zero).first == 4);
    CHECK(fault(rows, embed::Fault::empty).first == 5);
}

TEST(vector_text_does_not_depend_on_the_number_of_threads) {
    std::mt19937_64 random(3);
    std::string block;
    for (int i = 0; i < 200000; ++i) {
        block += "w" + std::to_string(random() % 100000);
        const int fields = i % 1000 == 7 ? 2 : 3;
        for (int k = 0; k < fields; ++k)
            block += ' ' + std::to_string(static_cast<double>(random() % 1000) / 7 - 70);
        block += '\n';
    }
    const embed::VectorRows single = text(block, 3);
    CHECK(single.n_lines == 200000);
    CHECK(fault(single, embed::Fault::fields).count == 200);
    CHECK(fault(single, embed::Fault::fields).first == 7);
    for (const unsigned threads : {2U, 4U}) CHECK(same(single, text(block, 3, true, threads)));
}

TEST(vector_text_skips_unrequested_words) {
    embed::WordSet wanted;
    wanted.insert("of");
    wanted.insert("new york");
    const embed::VectorRows rows =
        text("the 1\nof 2\nnew york 3\nnew 4\nnew jersey 5\nbad x\n", 1, true, 1, &wanted);
    CHECK(rows.ends.size() == 2);
    CHECK(word(rows, 1) == "new york");
    CHECK(rows.numbers == embed::Numbers({2, 3}));
    CHECK(fault(rows, embed::Fault::number).count == 0);
}

TEST(vector_text_can_be_stopped) {
    std::string block;
    for (int i = 0; i < 400000; ++i) block += "word 0.123 0.456 0.789\n";
    base::Stop stop([](std::size_t finished) { return finished >= 2; },
                    std::chrono::nanoseconds(0));
    CHECK_THROWS(base::Stopped, embed::parse_text(block, 3, true, nullptr, 2, stop));
}

TEST(vector_binary_reads_rows) {
    const float inf = std::numeric_limits<float>::infinity();
    const std::string block = row("the", {1, 2}) + '\n' + row("of", {3, 4}) + row("", {1, 1}) +
                              row("zero", {0, 0}) + row("far", {inf, 1}) + row("end", {5, 6});
    const embed::VectorRows rows = binary(block + "ha", 2);
    CHECK(rows.n_lines == 6);
    CHECK(rows.ends.size() == 3);
    CHECK(word(rows, 2) == "end");
    CHECK(rows.numbers == embed::Numbers({1, 2, 3, 4, 5, 6}));
    CHECK(rows.consumed == block.size());
    CHECK(fault(rows, embed::Fault::empty).first == 2);
    CHECK(fault(rows, embed::Fault::zero).first == 3);
    CHECK(fault(rows, embed::Fault::not_finite).first == 4);
    CHECK(binary(block, 2, 1).consumed == row("the", {1, 2}).size());
    for (std::size_t size = 0; size < 12; ++size)
        CHECK(binary(block.substr(0, size), 2).n_lines == 0);
    CHECK(binary("", 2).consumed == 0);
}
