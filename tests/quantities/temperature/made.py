"""Logits with labels, made at random."""

import numpy as np


def rows(n=200, n_classes=4, seed=0, spread=2.0, alpha=0.6):
    """Logits, (obs, class), and labels drawn from the softmax of alpha times them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, spread, (n, n_classes))
    return logits, labels(np.broadcast_to(alpha, (n,))[:, None] * logits, rng)


def labels(logits, rng):
    """Labels drawn from the softmax, (obs,)."""
    return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def log_loss(logits, label):
    """Mean log loss of the softmax."""
    top = logits.max(axis=1)
    total = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    return (total - logits[np.arange(len(label)), label]).mean()
