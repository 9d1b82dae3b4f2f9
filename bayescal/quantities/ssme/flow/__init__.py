"""SSME-NF: normalizing flows."""
