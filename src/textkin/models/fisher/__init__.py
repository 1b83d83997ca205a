"""Document vectors and kernels from gradients of mixture models (Fisher vectors and kernel)."""
