#include "base/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <unistd.h>
#endif

namespace textkin::base {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machine_memory() {
#ifdef _WIN32
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    if (GlobalMemoryStatusEx(&status)) return status.ullTotalPhys;
#elif defined(_SC_PHYS_PAGES)
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
#endif
    return kUnlimited;
}

// The text of a file; empty if it does not exist. A stream would not do: it ends at an allocation
// that fails as if the file ended there.
std::string text_of(const std::string& path) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string text;
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
    if (!file) return text;
    char part[4096];
    for (;;) {
        const std::size_t count = std::fread(part, 1, sizeof part, file.get());
        if (count == 0) return text;
        text.append(part, count);
    }
}

// Removes the first line of a text, and returns it.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// The number at the start of a file; none for "max" and for a file that does not exist.
std::optional<std::uint64_t> number_in(const std::string& path) {
    const std::string text = text_of(path);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return {};
    return value;
}

// The total of /proc/meminfo, in bytes.
std::optional<std::uint64_t> total_in(const std::string& path) {
    const std::string text = text_of(path);
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = take_line(rest);
        if (!line.starts_with("MemTotal:")) continue;
        const std::size_t digit = line.find_first_of("0123456789");
        if (digit == std::string_view::npos) return {};
        std::uint64_t kibibytes = 0;
        std::from_chars(line.data() + digit, line.data() + line.size(), kibibytes);
        return kibibytes << 10;
    }
    return {};
}

// The smallest `name` in a group's folder and in those above it, up to `top`. In a container the
// path of the group may not exist below `top`; then the folders that do exist count.
std::uint64_t least_limit(const std::string& top, std::string group, const std::string& name) {
    std::uint64_t least = kUnlimited;
    for (;;) {
        if (const auto limit = number_in(top + group + "/" + name)) least = std::min(least, *limit);
        const std::size_t slash = group.rfind('/');
        if (slash == std::string::npos) return least;
        group.resize(slash);
    }
}

} // namespace

std::uint64_t usable_memory(const std::string& root) {
    std::uint64_t least = root == "/" ? machine_memory() : kUnlimited;
    if (const auto total = total_in(root + "proc/meminfo")) least = std::min(least, *total);
    // Lines of "hierarchy:controllers:path"; version 2 has hierarchy 0 and no controllers.
    const std::string groups = text_of(root + "proc/self/cgroup");
    for (std::string_view rest = groups; !rest.empty();) {
        const std::string_view line = take_line(rest);
        const std::size_t first = line.find(':');
        if (first == std::string_view::npos) continue;
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string controllers(line.substr(first + 1, second - first - 1));
        std::string path(line.substr(second + 1));
        if (path == "/") path.clear();
        if (controllers.empty())
            least = std::min(least, least_limit(root + "sys/fs/cgroup", path, "memory.max"));
        else if (("," + controllers + ",").find(",memory,") != std::string::npos)
            least = std::min(
                least, least_limit(root + "sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    }
    return least;
}

std::uint64_t default_memory_limit() {
    static const std::uint64_t limit = usable_memory() / 2;
    return limit;
}

std::string format_bytes(std::uint64_t bytes) {
    const bool is_large = bytes >= std::uint64_t{1} << 29;
    char out[32];
    std::snprintf(out, sizeof out, is_large ? "%.1f GiB" : "%.1f MiB",
                  static_cast<double>(bytes) / (is_large ? 0x1p30 : 0x1p20));
    return out;
}

} // namespace textkin::base
