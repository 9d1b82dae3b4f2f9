"""PyTensor's graphs as they stand: to rewrite a graph takes longer than to compute it once."""

from pytensor.compile.mode import Mode

PLAIN = Mode(linker="py", optimizer=None)
