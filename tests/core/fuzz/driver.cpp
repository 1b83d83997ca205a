// Runs a fuzz target without libFuzzer: on the files of folders, then on random mutations of them.
//
//     fuzz_TARGET FOLDER... [-runs=N] [-max_total_time=SECONDS] [-seed=X]
//
// Compilers other than Clang have no coverage feedback, so this driver finds less than libFuzzer,
// whose options it takes. An input that fails is written to crash-input before the program aborts.
#include "base/random.h"
#include "fuzz.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kLongest = 4096; // bytes of an input

std::string current;

void write_current(int signal) {
    if (std::FILE* file = std::fopen("crash-input", "wb")) {
        std::fwrite(current.data(), 1, current.size(), file);
        std::fclose(file);
    }
    std::fprintf(stderr, "failed; the input is in crash-input\n");
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void run(std::string input) {
    current = std::move(input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

using textkin::base::next_below;

std::string mutate(const std::vector<std::string>& corpus, std::uint64_t& random) {
    std::string out = corpus[next_below(random, corpus.size())];
    for (std::size_t n = 1 + next_below(random, 6); n > 0; --n) {
        const std::size_t at = next_below(random, out.size() + 1);
        const auto byte = static_cast<char>(next_below(random, 256));
        switch (next_below(random, 6)) {
        case 0:
            out.insert(at, 1, byte);
            break;
        case 1:
            if (at < out.size()) out[at] = byte;
            break;
        case 2:
            if (at < out.size()) out[at] ^= static_cast<char>(1 << next_below(random, 8));
            break;
        case 3:
            out.erase(at, 1 + next_below(random, 8));
            break;
        case 4:
            out.insert(at, out.substr(next_below(random, out.size() + 1), 16));
            break;
        default: {
            const std::string& other = corpus[next_below(random, corpus.size())];
            out = out.substr(0, at) + other.substr(next_below(random, other.size() + 1));
        }
        }
    }
    if (out.size() > kLongest) out.resize(kLongest);
    return out;
}

} // namespace

int main(int count, char** arguments) {
    long long runs = -1;
    double seconds = 1e9;
    std::uint64_t random = 1;
    std::vector<std::string> corpus{std::string()};
    for (int i = 1; i < count; ++i) {
        const std::string argument = arguments[i];
        const auto value = [&](const std::string& name) {
            return argument.starts_with(name) ? argument.substr(name.size()) : std::string();
        };
        if (const std::string given = value("-runs="); !given.empty()) runs = std::stoll(given);
        if (const std::string given = value("-seed="); !given.empty()) random = std::stoull(given);
        if (const std::string given = value("-max_total_time="); !given.empty())
            seconds = std::stod(given);
        if (argument.starts_with("-")) continue;
        for (const auto& entry : std::filesystem::directory_iterator(argument)) {
            std::ifstream file(entry.path(), std::ios::binary);
            corpus.emplace_back(std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>());
        }
    }
    std::signal(SIGABRT, write_current);
    for (const std::string& input : corpus) run(input);
    const auto start = std::chrono::steady_clock::now();
    long long done = 0;
    while (runs < 0 || done < runs) {
        run(mutate(corpus, random));
        ++done;
        if (done % 1024 == 0 &&
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
                seconds)
            break;
    }
    std::printf("%lld inputs, %zu of the corpus\n", done, corpus.size());
    return 0;
}
