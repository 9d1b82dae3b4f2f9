"""Credal sets of class probabilities from Venn-Abers predictors: intervals, decisions, learning."""
