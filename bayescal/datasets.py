"""Simulators with known truth: ``datasets.ece`` is the simulator of the quantity ``ece``."""

from bayescal.quantities.credal import simulator as credal
from bayescal.quantities.ece import simulator as ece
from bayescal.quantities.pu_ece import simulator as pu_ece
from bayescal.quantities.ssme import simulator as ssme

__all__ = ["credal", "ece", "pu_ece", "ssme"]
