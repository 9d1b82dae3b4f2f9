"""Metrics of classifiers under uncertain labels."""
