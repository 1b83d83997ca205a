// The words of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace textkin::text {

// A word is a run of letters, marks, and numbers that starts with a letter or a number; single
// apostrophes inside it belong to it. Runs of Chinese and Japanese, and of Thai and related
// scripts, become overlapping pairs of characters (a single character stays one), each with its
// marks.
class Tokenizer {
  public:
    explicit Tokenizer(bool lowercase) : lowercase_(lowercase) {}

    // The words of a UTF-8 text, in UTF-8; valid until the next call.
    std::span<const std::string_view> operator()(std::string_view text);

  private:
    void split_ascii();
    void split(std::string_view text);
    std::size_t spaced_word(std::size_t start);
    std::size_t unspaced_run(std::size_t start);
    void append_word(std::size_t start, std::size_t end);

    bool lowercase_;
    std::string bytes_;                // the text, or the words of one that is not ASCII
    std::vector<std::uint64_t> bits_;  // which of its bytes are in words, if it is ASCII
    std::vector<std::size_t> ends_;    // of the words in `bytes_`, if it is not ASCII
    std::vector<char32_t> characters_; // likewise
    std::vector<std::size_t> units_;
    std::vector<char32_t> lower_;
    std::vector<std::string_view> words_;
};

} // namespace textkin::text
