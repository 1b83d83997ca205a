"""Fisher vectors and the Fisher kernel."""
