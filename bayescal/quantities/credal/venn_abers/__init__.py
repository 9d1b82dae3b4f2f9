"""Venn-Abers predictors."""
