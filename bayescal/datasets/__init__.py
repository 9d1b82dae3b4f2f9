"""Simulators with known truth, one module a room."""

from bayescal.datasets import ece, pu_ece, ssme

__all__ = ["ece", "pu_ece", "ssme"]
