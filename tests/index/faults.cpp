// Fault injection between a process and the kernel (LD_PRELOAD): one file operation goes wrong.
//
// Only operations that change something in the folder given to faults_watch are counted. The caller
// of faults_arm selects the operation and the fault: the process is killed before it, or in the
// middle of it (half of the bytes are written), it fails once, or it and all later operations that
// need space fail.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

enum How { kCount, kKill, kTear, kFail, kFull };

char watched[PATH_MAX] = "";
int how = kCount;
long target = 0;
int error_number = EIO;
std::atomic<long> seen{0};
int log_file = -1;

template <class Function> Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

#define REAL(name) (real<decltype(&name)>(#name))

bool below(const char* path) {
    const std::size_t length = std::strlen(watched);
    return length > 0 && std::strncmp(path, watched, length) == 0;
}

// The name of a file that is open; empty if it is none.
const char* name_of(int file, char (&name)[PATH_MAX]) {
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, name, sizeof name - 1);
    name[std::max<ssize_t>(0, length)] = '\0';
    return name;
}

const char* name_at(int folder, const char* path, char (&name)[PATH_MAX]) {
    if (path[0] == '/' || folder == AT_FDCWD) {
        std::snprintf(name, sizeof name, "%s", path);
        return name;
    }
    char start[PATH_MAX];
    std::snprintf(name, sizeof name, "%.2000s/%.2000s", name_of(folder, start), path);
    return name;
}

[[noreturn]] void die() {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

enum What { kPass, kHit, kTorn };

// Counts an operation, and says whether it is to go wrong; `space`: whether it needs some.
What meets(const char* operation, const char* path, bool space, bool writes = false) {
    if (!below(path)) return kPass;
    const long number = ++seen;
    if (log_file >= 0) dprintf(log_file, "%s %s\n", operation, path + std::strlen(watched));
    if (how == kFull) {
        if (number < target || !space) return kPass;
        errno = ENOSPC;
        return kHit;
    }
    if (how == kCount || number != target) return kPass;
    if (how == kKill || (how == kTear && !writes)) die();
    if (how == kTear) return kTorn;
    errno = error_number;
    return kHit;
}

// Half of the bytes, then the end: what a kill leaves of a write that was under way.
template <class Write>
ssize_t writing(const char* operation, int file, std::size_t size, Write write) {
    char name[PATH_MAX];
    switch (meets(operation, name_of(file, name), true, true)) {
    case kHit:
        return -1;
    case kTorn:
        write(size / 2);
        die();
    default:
        return write(size);
    }
}

// Only a power failure shows whether a file was flushed, so the tests do not wait for the disk.
int flushing(const char* operation, int file, int (*flush)(int)) {
    char name[PATH_MAX];
    name_of(file, name);
    if (!below(name)) return flush(file);
    return meets(operation, name, true) == kPass ? 0 : -1;
}

} // namespace

extern "C" {

void faults_watch(const char* folder, int log) {
    std::snprintf(watched, sizeof watched, "%s", folder);
    log_file = log;
    how = kCount;
    seen = 0;
}

void faults_arm(int how_, long operation, int error) {
    how = how_;
    target = operation;
    error_number = error;
    seen = 0;
}

long faults_seen() { return seen; }

ssize_t write(int file, const void* data, size_t size) {
    return writing("write", file, size, [&](size_t part) { return REAL(write)(file, data, part); });
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
    return writing("write", file, size,
                   [&](size_t part) { return REAL(pwrite)(file, data, part, offset); });
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
    return writing("write", file, size,
                   [&](size_t part) { return REAL(pwrite64)(file, data, part, offset); });
}

ssize_t writev(int file, const iovec* parts, int count) {
    return writing("write", file, 0, [&](size_t) { return REAL(writev)(file, parts, count); });
}

ssize_t sendfile64(int out, int in, off64_t* offset, size_t size) {
    return writing("write", out, size,
                   [&](size_t part) { return REAL(sendfile64)(out, in, offset, part); });
}

ssize_t sendfile(int out, int in, off_t* offset, size_t size) {
    return writing("write", out, size,
                   [&](size_t part) { return REAL(sendfile)(out, in, offset, part); });
}

ssize_t copy_file_range(int in, off64_t* from, int out, off64_t* to, size_t size, unsigned flags) {
    return writing("write", out, size, [&](size_t part) {
        return REAL(copy_file_range)(in, from, out, to, part, flags);
    });
}

int fsync(int file) { return flushing("fsync", file, REAL(fsync)); }

int fdatasync(int file) { return flushing("fsync", file, REAL(fdatasync)); }

int ftruncate(int file, off_t size) {
    char name[PATH_MAX];
    return meets("truncate", name_of(file, name), size > 0) == kPass ? REAL(ftruncate)(file, size)
                                                                     : -1;
}

int ftruncate64(int file, off64_t size) {
    char name[PATH_MAX];
    return meets("truncate", name_of(file, name), size > 0) == kPass ? REAL(ftruncate64)(file, size)
                                                                     : -1;
}

int posix_fallocate64(int file, off64_t offset, off64_t size) {
    char name[PATH_MAX];
    return meets("allocate", name_of(file, name), true) == kPass
               ? REAL(posix_fallocate64)(file, offset, size)
               : errno;
}

int rename(const char* from, const char* to) {
    return meets("rename", to, true) == kPass ? REAL(rename)(from, to) : -1;
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    char name[PATH_MAX];
    return meets("rename", name_at(to_folder, to, name), true) == kPass
               ? REAL(renameat)(from_folder, from, to_folder, to)
               : -1;
}

int unlink(const char* path) {
    return meets("unlink", path, false) == kPass ? REAL(unlink)(path) : -1;
}

int unlinkat(int folder, const char* path, int flags) {
    char name[PATH_MAX];
    return meets("unlink", name_at(folder, path, name), false) == kPass
               ? REAL(unlinkat)(folder, path, flags)
               : -1;
}

int rmdir(const char* path) {
    return meets("rmdir", path, false) == kPass ? REAL(rmdir)(path) : -1;
}

int mkdir(const char* path, mode_t mode) {
    return meets("mkdir", path, true) == kPass ? REAL(mkdir)(path, mode) : -1;
}

int mkdirat(int folder, const char* path, mode_t mode) {
    char name[PATH_MAX];
    return meets("mkdir", name_at(folder, path, name), true) == kPass
               ? REAL(mkdirat)(folder, path, mode)
               : -1;
}

// Opening changes something only where a file is made.
static bool makes(int folder, const char* path, int flags) {
    struct stat found;
    return (flags & O_CREAT) != 0 && fstatat(folder, path, &found, AT_SYMLINK_NOFOLLOW) != 0;
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name, folder, call)                                                                   \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    const mode_t mode = mode_of(flags, rest);                                                      \
    va_end(rest);                                                                                  \
    char whole[PATH_MAX];                                                                          \
    if (makes(folder, path, flags) &&                                                              \
        meets("create", name_at(folder, path, whole), true) != kPass)                              \
        return -1;                                                                                 \
    return REAL(name) call

int open(const char* path, int flags, ...) { OPEN(open, AT_FDCWD, (path, flags, mode)); }

int open64(const char* path, int flags, ...) { OPEN(open64, AT_FDCWD, (path, flags, mode)); }

int openat(int folder, const char* path, int flags, ...) {
    OPEN(openat, folder, (folder, path, flags, mode));
}

int openat64(int folder, const char* path, int flags, ...) {
    OPEN(openat64, folder, (folder, path, flags, mode));
}

} // extern "C"
