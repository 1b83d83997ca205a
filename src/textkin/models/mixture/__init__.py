"""Mixture models (Gaussian, von Mises-Fisher) over dense rows, such as word vectors."""
