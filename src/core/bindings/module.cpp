#include "bindings/bindings.h"

#include "kernels/kernels.h"

#include <nanobind/stl/string.h>

#include <string>

NB_MODULE(_core, module) {
    using namespace textkin::bindings;
    using namespace nb::literals;
    // What is still referred to when the interpreter ends is no leak that a user could mend, and
    // the lines about it hide what a program says last.
    nb::set_leak_warnings(false);
    module.doc() = "The compiled core of textkin. Private: use the public classes.";
    module.def(
        "instruction_set", [] { return textkin::kernels::kernels().name; },
        "Name of the instruction set in use; TEXTKIN_SIMD in the environment forces one.");
    module.def(
        "instruction_sets",
        [] {
            nb::list names;
            for (auto table = textkin::kernels::available_kernels(); *table != nullptr; ++table)
                names.append((*table)->name);
            return names;
        },
        nb::sig("def instruction_sets() -> list[str]"),
        "Names of those that this processor has, the plainest first.");
    module.def(
        "use_instruction_set",
        [](const std::string& name) { textkin::kernels::use_kernels(name.c_str()); }, "name"_a,
        "For tests: change the one in use, while nothing else runs.");
    register_documents(module);
    register_text(module);
    register_transport(module);
    register_embed(module);
    register_factors(module);
    register_fisher(module);
    register_mixture(module);
    register_mover(module);
    register_pairwise(module);
    register_ranking(module);
    register_rankings(module);
    register_search(module);
    register_store(module);
    register_topics(module);
    register_vectors(module);
}
