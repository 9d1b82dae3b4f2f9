"""Sets of class probabilities: intervals, decisions, projections."""
