"""Simulators with known truth, one module a room."""

from bayescal.datasets import credal, ece, pu_ece, ssme

__all__ = ["credal", "ece", "pu_ece", "ssme"]
