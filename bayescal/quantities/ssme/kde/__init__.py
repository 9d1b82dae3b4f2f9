"""SSME-KDE: kernel density estimates and EM."""
