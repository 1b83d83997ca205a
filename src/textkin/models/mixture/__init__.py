"""Mixtures of distributions over dense rows, such as the vectors of words."""
