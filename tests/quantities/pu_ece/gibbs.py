"""The paper's bins by data augmentation: which unlabelled rows are positive is drawn as well."""

import numpy as np


def gibbs(positive, unlabeled, alpha, beta, rng, *, stretch=0.0, chains=500, steps=800):
    """Draws of (class prior, r, t) from independent chains, all conjugate, the last half kept.

    The class prior is Beta(alpha, beta), the Dirichlets are flat; `stretch` is the power of
    1 - class prior that independence of r and q adds, which is conjugate too.
    """
    bins = len(positive)
    r, t = (rng.dirichlet(np.ones(bins), chains) for _ in range(2))
    pi = rng.beta(alpha, beta, chains)
    kept = []
    for step in range(steps):
        joint = pi[:, None] * r
        hidden = rng.binomial(unlabeled, joint / (joint + (1 - pi[:, None]) * t))
        r = _dirichlet(1 + positive + hidden, rng)
        t = _dirichlet(1 + unlabeled - hidden, rng)
        total = hidden.sum(axis=1)
        pi = rng.beta(alpha + total, beta + unlabeled.sum() - total + stretch)
        if step >= steps // 2 and step % 20 == 0:
            kept.append((pi, r, t))
    return tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))


def _dirichlet(concentration, rng):
    gamma = rng.standard_gamma(concentration)
    return gamma / gamma.sum(axis=1, keepdims=True)
