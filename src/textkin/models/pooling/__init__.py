"""Document vectors pooled (averaged, summed, or maximized) from word vectors."""
