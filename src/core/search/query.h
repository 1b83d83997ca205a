// One query of a search under way.
#pragma once

#include "search/nearest_hits.h"

#include <chrono>

namespace textkin::search {

// What the ways to search share: which documents a query may find, and what becomes of them.
class Query {
  public:
    Query(const Corpus& corpus, const SearchOptions& options, std::size_t number,
          transport::Document words, QueryStats& stats, std::span<std::uint8_t> verdicts,
          std::span<double> values)
        : nearest(options.k, options.radii.empty() ? options.radius : options.radii[number]),
          document(words), corpus_(corpus), options_(options), stats_(stats), verdicts_(verdicts),
          values_(values) {
        if (!options.without.empty()) without_ = options.without[number];
        if (!options.from.empty()) from_ = options.from[number];
    }

    NearestHits nearest;
    transport::Document document;

    [[nodiscard]] bool may_find(std::size_t row) const {
        return is_asked_for(row) && corpus_.total(row) > 0;
    }

    void decide(std::size_t row, Verdict verdict, double value) {
        ++stats_.verdicts[static_cast<std::size_t>(verdict)];
        if (records()) record(row, verdict, value);
    }
    [[nodiscard]] bool records() const { return !verdicts_.empty(); }
    void record(std::size_t row, Verdict verdict, double value) {
        verdicts_[row] = static_cast<std::uint8_t>(verdict);
        values_[row] = value;
    }

    // All documents that cannot be found; for a query without words that is all of them.
    void decide_the_rest() {
        for (std::size_t row = 0; row < corpus_.size(); ++row) {
            if (may_find(row) && !document.empty()) continue;
            const bool without_words =
                corpus_.total(row) <= 0 && is_asked_for(row) && corpus_.is_live(row);
            decide(row, without_words ? Verdict::empty : Verdict::left_out,
                   std::numeric_limits<double>::infinity());
        }
    }

    [[nodiscard]] QueryStats& stats() { return stats_; }

  private:
    const Corpus& corpus_;
    const SearchOptions& options_;
    QueryStats& stats_;
    std::span<std::uint8_t> verdicts_;
    std::span<double> values_;
    std::int64_t without_ = -1, from_ = 0;

    [[nodiscard]] bool is_asked_for(std::size_t row) const {
        return static_cast<std::int64_t>(row) >= from_ &&
               static_cast<std::int64_t>(row) != without_ &&
               (options_.mask.empty() || options_.mask[row] != 0);
    }
};

// Adds the time until its end to a number of seconds.
class Timed {
  public:
    explicit Timed(double& seconds) : seconds_(seconds) {}
    Timed(QueryStats& stats, Stage stage) : Timed(stats.seconds[static_cast<std::size_t>(stage)]) {}
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    ~Timed() { seconds_ += std::chrono::duration<double>(Clock::now() - began_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    double& seconds_;
    Clock::time_point began_ = Clock::now();
};

} // namespace textkin::search
