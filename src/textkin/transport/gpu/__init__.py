"""Bounds, searches, and matrices of transport distances on a GPU, through torch."""
