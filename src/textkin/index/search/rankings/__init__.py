"""Rankings (BM25, transport, models, hybrids), and scorers that apply them to a snapshot."""
