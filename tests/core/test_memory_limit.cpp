#include "base/memory_limit.h"
#include "check.h"
#include "transport/memory.h"

#include <filesystem>
#include <fstream>
#include <string>

using namespace textkin;

namespace {

// A folder that stands for the root of a machine, removed at the end.
struct Machine {
    std::filesystem::path root;

    Machine() {
        static int count = 0;
        root = std::filesystem::temp_directory_path() /
               ("textkin-machine-" + std::to_string(++count) + "-" +
                std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine() { std::filesystem::remove_all(root); }

    Machine& write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << text;
        return *this;
    }
    [[nodiscard]] std::uint64_t memory() const { return base::usable_memory(root.string() + "/"); }
};

constexpr const char* kInfo = "MemTotal:       1000 kB\nMemFree:         10 kB\n";
constexpr std::uint64_t kTotal = 1000 << 10;

} // namespace

TEST(usable_memory_is_that_of_the_machine_without_limits) {
    CHECK(Machine().write("proc/meminfo", kInfo).memory() == kTotal);
    CHECK(Machine()
              .write("proc/meminfo", kInfo)
              .write("proc/self/cgroup", "0::/a/b\n")
              .write("sys/fs/cgroup/a/b/memory.max", "max\n")
              .memory() == kTotal);
}

TEST(usable_memory_is_the_least_limit_of_the_groups) {
    Machine second;
    second.write("proc/meminfo", kInfo).write("proc/self/cgroup", "0::/a/b\n");
    second.write("sys/fs/cgroup/a/b/memory.max", "5000000\n");
    CHECK(second.memory() == kTotal);
    second.write("sys/fs/cgroup/a/b/memory.max", "4096\n");
    CHECK(second.memory() == 4096);
    second.write("sys/fs/cgroup/a/memory.max", "2048"); // a last line may have no end
    CHECK(second.memory() == 2048);
    // In a container, the path of the group may lie outside of what is mounted.
    CHECK(Machine()
              .write("proc/self/cgroup", "0::/docker/x\n")
              .write("sys/fs/cgroup/memory.max", "8192\n")
              .memory() == 8192);
    CHECK(Machine()
              .write("proc/meminfo", kInfo)
              .write("proc/self/cgroup", "3:cpu:/a\n2:cpuset,memory:/a\n")
              .write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "16384\n")
              .memory() == 16384);
}

TEST(usable_memory_of_this_machine_is_plausible) {
    CHECK(base::usable_memory() >= std::uint64_t{64} << 20);
    CHECK(base::default_memory_limit() == base::usable_memory() / 2);
}

TEST(budgets_refuse_what_exceeds_the_rest) {
    base::MemoryBudget budget;
    budget.set_limit(100);
    CHECK(budget.try_reserve(60));
    CHECK(!budget.try_reserve(41));
    CHECK(budget.try_reserve(40));
    budget.release(60);
    CHECK(budget.reserved() == 40);
    CHECK(!budget.try_reserve(~std::uint64_t{0}));
}

TEST(bytes_of_problems_do_not_overflow) {
    const std::size_t huge = (std::size_t{1} << 31) - 1;
    CHECK(transport::pair_bytes(huge, 1, 300) > std::uint64_t{1} << 40);
    CHECK(transport::pair_bytes(1 << 24, 1 << 24, 300) > std::uint64_t{1} << 50);
    base::Stop stop;
    stop.memory().set_limit(std::uint64_t{1} << 40);
    CHECK_THROWS(std::bad_alloc,
                 transport::Reservation(transport::pair_bytes(huge, 1, 300), huge, 1, stop));
}
