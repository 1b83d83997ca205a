"""Training of word vectors and paragraph vectors."""
