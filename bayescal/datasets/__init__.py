"""Simulators with known truth, one module a room."""

from bayescal.datasets import ece

__all__ = ["ece"]
