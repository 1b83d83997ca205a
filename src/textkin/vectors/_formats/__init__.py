"""Private readers of vector files, one module per format."""
