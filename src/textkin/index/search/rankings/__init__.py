"""Rankings of documents, and the scorers that apply them to a snapshot of an index."""
