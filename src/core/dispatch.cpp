#include "kernels/tables.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace textkin {
namespace {

struct Choice {
    const Kernels* table;
    bool runs_here; // the processor has the instructions, and the system saves their registers
};

const auto& choices() {
#ifdef TEXTKIN_X86
    static const std::array<Choice, 3> all{{
        {&kBaselineKernels, true},
        {&kAvx2Kernels, __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0},
        {&kAvx512Kernels,
         __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0},
    }};
#else
    static const std::array<Choice, 1> all{{{&kBaselineKernels, true}}};
#endif
    return all;
}

const Kernels& named(std::string_view name) {
    std::string known;
    for (const Choice& choice : choices()) {
        if (choice.table->name == name && choice.runs_here) return *choice.table;
        if (choice.runs_here)
            known += (known.empty() ? "" : ", ") + std::string(choice.table->name);
    }
    throw std::invalid_argument("TEXTKIN_SIMD must name an instruction set that this processor "
                                "has, of: " +
                                known + "; got '" + std::string(name) +
                                "'. Without it the best one is taken.");
}

const Kernels& best() {
    const Kernels* found = nullptr;
    for (const Choice& choice : choices())
        if (choice.runs_here) found = choice.table;
    return *found;
}

std::atomic<const Kernels*> in_use{nullptr};

} // namespace

const Kernels& kernels() {
    const Kernels* table = in_use.load(std::memory_order_acquire);
    if (table == nullptr) {
        const char* wanted = std::getenv("TEXTKIN_SIMD");
        table = wanted == nullptr || *wanted == '\0' ? &best() : &named(wanted);
        in_use.store(table, std::memory_order_release);
    }
    return *table;
}

const Kernels* const* available_kernels() {
    static const auto tables = [] {
        std::array<const Kernels*, 4> found{};
        std::size_t count = 0;
        for (const Choice& choice : choices())
            if (choice.runs_here) found[count++] = choice.table;
        return found;
    }();
    return tables.data();
}

void use_kernels(const char* name) { in_use.store(&named(name), std::memory_order_release); }

} // namespace textkin
