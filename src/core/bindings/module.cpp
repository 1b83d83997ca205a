#include "bindings.h"

#include "textkin/kernels.h"

NB_MODULE(_core, module) {
    using namespace textkin::bindings;
    module.doc() = "The compiled core of textkin. Private: use the public classes.";
    module.def(
        "instruction_set", [] { return textkin::kernels().name; },
        "Name of the kernels in use on this processor.");
    register_documents(module);
    register_text(module);
    register_transport(module);
    register_mover(module);
    register_vectors(module);
}
