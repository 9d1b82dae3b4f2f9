"""Bins of scores: edges, counts, batches."""
