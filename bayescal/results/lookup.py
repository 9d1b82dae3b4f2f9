"""Moved to `access`; to be removed once nothing imports it from here."""

from bayescal.results.access import find_case

__all__ = ["find_case"]
