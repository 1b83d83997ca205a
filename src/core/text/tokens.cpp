#include "text/tokens.h"

#include "base/parallel.h"
#include "text/tokenize.h"

#include <algorithm>
#include <mutex>
#include <string>

namespace textkin::text {
namespace {

// Large enough that few words are met in many chunks, small enough that threads share the work.
constexpr std::size_t kChunkWeight = std::size_t{1} << 20;
constexpr std::size_t kWordsOfChunk = kChunkWeight / 5; // about as many as it has

// Cut documents into chunks of about the same weight, for any number of threads.
template <class Weight> std::vector<std::size_t> chunk_ends(std::size_t count, Weight weight) {
    std::vector<std::size_t> ends;
    std::size_t sum = 0;
    for (std::size_t document = 0; document < count; ++document) {
        sum += weight(document);
        if (sum >= kChunkWeight || document + 1 == count) {
            ends.push_back(document + 1);
            sum = 0;
        }
    }
    return ends;
}

// Runs `read(first, last, table, tokens)` over all documents. One thread reads into `table`
// itself; several read chunks with tables of their own, which are then merged in order: the
// numbers come out the same.
template <class Weight, class Read>
Tokens collect(std::size_t count, Weight weight, unsigned threads, base::Stop& stop,
               WordTable& table, Read read) {
    Tokens all;
    const auto ends = chunk_ends(count, weight);
    const auto start_of = [&](std::size_t chunk) { return chunk == 0 ? 0 : ends[chunk - 1]; };
    if (threads <= 1 || ends.size() <= 1) {
        all.offsets.reserve(count + 1);
        if (ends.size() > 1) all.ids.reserve(ends.size() * kWordsOfChunk);
        for (std::size_t chunk = 0; chunk < ends.size(); ++chunk) {
            stop.throw_if_requested();
            read(start_of(chunk), ends[chunk], table, all);
        }
        return all;
    }
    struct Part {
        WordTable table;
        Tokens tokens;
        std::vector<std::int32_t> number_of;
        std::size_t first_id = 0;
        bool is_read = false;
    };
    std::vector<Part> parts(ends.size());
    // Tables are merged in order while other threads continue to read: by the thread that finds the
    // next table ready.
    std::mutex guard;
    std::size_t merged = 0;
    bool merging = false;
    base::parallel_for(ends.size(), threads, stop, [&](std::size_t chunk) {
        // Filled on the stack of this thread: adjacent elements of `parts` would share cache lines.
        Part own;
        own.tokens.ids.reserve(kWordsOfChunk);
        read(start_of(chunk), ends[chunk], own.table, own.tokens);
        own.is_read = true;
        std::unique_lock lock(guard);
        parts[chunk] = std::move(own);
        if (merging) return;
        merging = true;
        while (merged < parts.size() && parts[merged].is_read) {
            Part& part = parts[merged++];
            lock.unlock();
            part.number_of = table.merge(part.table);
            lock.lock();
        }
        merging = false;
    });
    std::size_t ids = 0;
    all.offsets.reserve(count + 1);
    for (Part& part : parts) {
        part.first_id = ids;
        ids += part.tokens.ids.size();
        for (std::size_t document = 0; document < part.tokens.size(); ++document)
            all.offsets.push_back(static_cast<std::int64_t>(part.first_id) +
                                  part.tokens.offsets[document + 1]);
    }
    all.ids.resize(ids);
    base::parallel_for(parts.size(), threads, stop, [&](std::size_t chunk) {
        const Part& part = parts[chunk];
        std::transform(
            part.tokens.ids.begin(), part.tokens.ids.end(),
            all.ids.begin() + static_cast<std::ptrdiff_t>(part.first_id),
            [&](std::int32_t id) { return part.number_of[static_cast<std::size_t>(id)]; });
    });
    return all;
}

std::uint64_t edge(std::int32_t node, std::int32_t word) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32 |
           static_cast<std::uint32_t>(word);
}

} // namespace

Tokens tokenize(std::span<const std::string_view> texts, bool lowercase, unsigned threads,
                base::Stop& stop, WordTable& table) {
    const auto weight = [&](std::size_t document) { return texts[document].size() + 1; };
    return collect(texts.size(), weight, threads, stop, table,
                   [&](std::size_t first, std::size_t last, WordTable& words, Tokens& tokens) {
                       Tokenizer split(lowercase);
                       for (std::size_t document = first; document < last; ++document) {
                           words.add(split(texts[document]), tokens.ids);
                           tokens.end_document();
                       }
                   });
}

Tokens replaced(const Tokens& tokens, std::span<const std::int32_t> number_of) {
    Tokens out;
    out.ids.reserve(tokens.ids.size());
    out.offsets.reserve(tokens.offsets.size());
    for (std::size_t document = 0; document < tokens.size(); ++document) {
        for (const std::int32_t id : tokens[document])
            if (const std::int32_t number = number_of[static_cast<std::size_t>(id)]; number >= 0)
                out.ids.push_back(number);
        out.end_document();
    }
    return out;
}

Tokens joined_runs(const Tokens& tokens, const WordTable& words, std::size_t shortest,
                   std::size_t longest, unsigned threads, base::Stop& stop, WordTable& grams) {
    const auto weight = [&](std::size_t document) {
        return 8 * (longest - shortest + 1) * (tokens[document].size() + 1);
    };
    return collect(tokens.size(), weight, threads, stop, grams,
                   [&](std::size_t first, std::size_t last, WordTable& table, Tokens& out) {
                       std::string run;
                       for (std::size_t document = first; document < last; ++document) {
                           const auto ids = tokens[document];
                           for (std::size_t n = shortest; n <= longest && n <= ids.size(); ++n)
                               for (std::size_t at = 0; at + n <= ids.size(); ++at) {
                                   run.clear();
                                   for (std::size_t k = at; k < at + n; ++k) {
                                       if (k > at) run.push_back(' ');
                                       run.append(words[static_cast<std::size_t>(ids[k])]);
                                   }
                                   out.ids.push_back(table.add(run));
                               }
                           out.end_document();
                       }
                   });
}

void Phrases::add(std::span<const std::string_view> sequence, std::string_view name) {
    if (sequence.size() < 2) return;
    std::int32_t node = 0;
    for (const std::string_view word : sequence) {
        // The node exists before an edge leads to it, also if memory runs out in between.
        name_of_.push_back(kNone);
        const auto [at, is_new] = edges_.try_emplace(
            edge(node, pieces_.add(word)), static_cast<std::int32_t>(name_of_.size() - 1));
        if (!is_new) name_of_.pop_back();
        node = at->second;
    }
    std::int32_t& known = name_of_[static_cast<std::size_t>(node)];
    if (known == kNone) known = names_.add(name);
}

std::int32_t Phrases::next(std::int32_t node, std::int32_t piece) const {
    const auto at = piece < 0 ? edges_.end() : edges_.find(edge(node, piece));
    return at == edges_.end() ? kNone : at->second;
}

Tokens Phrases::join(const Tokens& tokens, WordTable& words) const {
    std::vector<std::int32_t> piece_of(words.size());
    for (std::size_t word = 0; word < piece_of.size(); ++word)
        piece_of[word] = pieces_.find(words[word]);
    Tokens out;
    out.ids.reserve(tokens.ids.size());
    out.offsets.reserve(tokens.offsets.size());
    for (std::size_t document = 0; document < tokens.size(); ++document) {
        const auto ids = tokens[document];
        for (std::size_t at = 0; at < ids.size();) {
            std::int32_t name = kNone;
            std::size_t end = at + 1;
            std::int32_t node = 0;
            for (std::size_t k = at; k < ids.size(); ++k) {
                node = next(node, piece_of[static_cast<std::size_t>(ids[k])]);
                if (node == kNone) break;
                if (const std::int32_t found = name_of_[static_cast<std::size_t>(node)];
                    found != kNone) {
                    name = found;
                    end = k + 1;
                }
            }
            out.ids.push_back(name == kNone ? ids[at]
                                            : words.add(names_[static_cast<std::size_t>(name)]));
            at = end;
        }
        out.end_document();
    }
    return out;
}

} // namespace textkin::text
