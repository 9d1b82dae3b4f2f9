"""How numbers are written; to be removed once nothing imports them from here."""

from bayescal.results.text import MISSING, count, decimals, fixed, percent, probability

__all__ = ["MISSING", "count", "decimals", "fixed", "percent", "probability"]
