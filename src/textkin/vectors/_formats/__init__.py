"""Readers of vector files, one module per format."""
