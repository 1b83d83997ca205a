// core_tests [PART]: runs the tests whose names contain PART, or all, once with each instruction
// set of this CPU.
#include "check.h"
#include "kernels/kernels.h"

#include <cstdio>
#include <exception>
#include <string_view>

namespace {

constexpr int kShown = 5; // messages of one test; a loop can fail thousands of times

int failures_of_test = 0;

} // namespace

namespace check {

std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

void fail(const char* file, int line, const std::string& message) {
    if (++failures_of_test > kShown) return;
    const std::string_view path = file;
    const std::size_t slash = path.rfind('/');
    const char* name = slash == std::string_view::npos ? file : file + slash + 1;
    std::printf("  %s:%d: %s\n", name, line, message.c_str());
}

} // namespace check

int main(int count, char** arguments) {
    const std::string_view part = count > 1 ? arguments[1] : "";
    int passed = 0;
    int failed = 0;
    for (auto table = textkin::kernels::available_kernels(); *table != nullptr; ++table) {
        for (const check::Case& test : check::cases()) {
            if (std::string_view(test.name).find(part) == std::string_view::npos) continue;
            textkin::kernels::use_kernels((*table)->name); // a test may have changed it
            failures_of_test = 0;
            try {
                test.run();
            } catch (const std::exception& error) {
                check::fail(test.name, 0, std::string("unexpected exception: ") + error.what());
            }
            if (failures_of_test == 0) {
                ++passed;
                continue;
            }
            ++failed;
            std::printf("FAILED %s with %s: %d checks\n", test.name, (*table)->name,
                        failures_of_test);
            std::fflush(stdout); // so that a sanitizer's report comes after it
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 ? 1 : 0;
}
