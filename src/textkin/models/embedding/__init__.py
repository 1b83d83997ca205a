"""Training of word vectors (word2vec) and paragraph vectors (doc2vec)."""
