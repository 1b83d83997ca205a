#include "kernels/instruction_sets.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#ifdef TEXTKIN_X86
#include <cpuid.h>
#endif

namespace textkin::kernels {
namespace {

struct Choice {
    const Kernels* table;
    bool runs_here; // the processor has the instructions, and the system saves their registers
};

#ifdef TEXTKIN_X86
struct Extensions {
    bool avx2 = false;   // with FMA
    bool avx512 = false; // F, BW, DQ, and VL
};

// __builtin_cpu_supports needs a library that Clang does not link on Windows. The bits are those of
// Intel's Software Developer's Manual, volume 2, CPUID, and volume 1, section 13.3.
Extensions extensions() {
    constexpr auto all_of = [](unsigned bits, auto... numbers) {
        return ((bits >> numbers & 1) & ...) != 0;
    };
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) return {};
    const bool has_fma = all_of(c, 12u);
    if (!all_of(c, 27u, 28u)) return {}; // OSXSAVE, AVX
    unsigned saved = 0, upper = 0;       // registers that the operating system saves
    asm volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
    if (!all_of(saved, 1u, 2u) || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
    return {has_fma && all_of(b, 5u), all_of(saved, 5u, 6u, 7u) && all_of(b, 16u, 17u, 30u, 31u)};
}
#endif

const auto& choices() {
#ifdef TEXTKIN_X86
    static const Extensions has = extensions();
    static const std::array<Choice, 3> all{{
        {&kBaselineKernels, true},
        {&kAvx2Kernels, has.avx2},
        {&kAvx512Kernels, has.avx512},
    }};
#elif defined(TEXTKIN_ARM64)
    static const std::array<Choice, 2> all{{{&kBaselineKernels, true}, {&kNeonKernels, true}}};
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

} // namespace textkin::kernels
