"""Pooled word vectors."""
