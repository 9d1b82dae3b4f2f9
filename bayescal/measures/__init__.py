"""Every number of a calibration curve: one small function each, and what is said of it.

A function takes the label rates (..., cell), scores (cell,) and masses (..., cell) of cells of
increasing score, NumPy arrays or PyTensor tensors, and gives values (...).
"""

from bayescal.measures.measure import Measure
from bayescal.measures.registry import measures, resolve

__all__ = ["Measure", "measures", "resolve"]
