// Minimal test framework: the core's tests need only a compiler.
#pragma once

#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace check {

struct Case {
    const char* name;
    void (*run)();
};

// All tests of the program, in unspecified order.
std::vector<Case>& cases();

// Marks the running test as failed. Only the thread that runs the tests may call it.
void fail(const char* file, int line, const std::string& message);

struct Registration {
    Registration(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

inline void near(const char* file, int line, const char* what, double a, double b, double tol) {
    if (std::abs(a - b) <= tol) return; // written so that NaN fails
    std::ostringstream text;
    text.precision(17);
    text << what << ": " << a << " against " << b << ", more than " << tol << " apart";
    fail(file, line, text.str());
}

} // namespace check

#define TEST(name)                                                                                 \
    static void test_##name();                                                                     \
    static const ::check::Registration registered_##name{#name, test_##name};                      \
    static void test_##name()

// A failed check does not end the test.
#define CHECK(...)                                                                                 \
    do {                                                                                           \
        if (!(__VA_ARGS__)) ::check::fail(__FILE__, __LINE__, #__VA_ARGS__);                       \
    } while (false)

#define CHECK_NEAR(a, b, tol) ::check::near(__FILE__, __LINE__, #a " near " #b, (a), (b), (tol))

#define CHECK_THROWS(Exception, ...)                                                               \
    do {                                                                                           \
        bool thrown_ = false;                                                                      \
        try {                                                                                      \
            __VA_ARGS__;                                                                           \
        } catch (const Exception&) {                                                               \
            thrown_ = true;                                                                        \
        }                                                                                          \
        if (!thrown_)                                                                              \
            ::check::fail(__FILE__, __LINE__, #__VA_ARGS__ " did not throw " #Exception);          \
    } while (false)
