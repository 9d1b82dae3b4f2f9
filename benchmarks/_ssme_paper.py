"""Rows of the SSME paper's tables for the two tasks whose predictions were published.

Mean absolute error in percentage points and the half-width that the paper gives, 1.96 standard
errors over 50 splits: tables S3 to S6 (Toxicity Detection), S11 and S12 (MultiNLI).
"""

from __future__ import annotations

type Row = dict[int, tuple[float, float]]


def _row(*pairs: tuple[float, float]) -> Row:
    """Errors with 20, 50 and 100 labels."""
    return dict(zip((20, 50, 100), pairs, strict=True))


TOXICITY: dict[str, dict[str, Row]] = {
    "Labeled": {
        "accuracy": _row((5.95, 0.73), (4.03, 0.68), (2.43, 0.41)),
        "ece": _row((5.85, 0.80), (3.99, 0.63), (2.37, 0.37)),
        "auc": _row((6.71, 0.99), (4.76, 0.91), (3.82, 0.60)),
        "auprc": _row((19.34, 2.34), (13.78, 1.81), (10.69, 1.71)),
    },
    "Majority-Vote": {
        "accuracy": _row((4.97, 0.31), (4.79, 0.26), (4.46, 0.22)),
        "ece": _row((5.08, 0.39), (4.84, 0.33), (4.63, 0.33)),
        "auc": _row((5.45, 0.82), (5.15, 0.47), (4.85, 0.20)),
        "auprc": _row((29.05, 3.31), (30.54, 3.70), (23.87, 0.84)),
    },
    "Pseudo-Labeled": {
        "accuracy": _row((5.03, 0.81), (2.88, 0.48), (1.90, 0.31)),
        "ece": _row((5.09, 0.79), (3.04, 0.46), (1.91, 0.27)),
        "auc": _row((17.32, 1.78), (11.79, 2.08), (7.54, 1.03)),
        "auprc": _row((25.12, 3.52), (20.15, 3.48), (14.06, 2.00)),
    },
    "Dawid-Skene": {
        "accuracy": _row((4.82, 0.09), (4.65, 0.08), (4.46, 0.11)),
        "ece": _row((4.40, 0.09), (4.20, 0.07), (4.10, 0.09)),
        "auc": _row((6.20, 0.11), (5.97, 0.09), (5.84, 0.12)),
        "auprc": _row((26.34, 0.36), (25.24, 0.36), (24.51, 0.47)),
    },
    "Bayesian-Calibration": {
        "accuracy": _row((5.29, 0.29), (4.57, 0.30), (3.78, 0.26)),
        "ece": _row((4.69, 0.34), (3.97, 0.34), (3.30, 0.25)),
        "auc": _row((5.22, 0.16), (4.76, 0.21), (4.25, 0.27)),
        "auprc": _row((19.94, 1.30), (16.84, 1.58), (14.15, 1.48)),
    },
    "AutoEval": {"accuracy": _row((5.27, 0.75), (3.37, 0.41), (2.34, 0.26))},
    "Active-Testing": {"accuracy": _row((7.19, 0.44), (7.26, 0.47), (7.50, 0.60))},
    "SSME-KDE-M": {
        "accuracy": _row((6.71, 0.23), (5.38, 0.28), (3.80, 0.32)),
        "ece": _row((5.67, 0.19), (4.57, 0.26), (3.43, 0.29)),
        "auc": _row((6.05, 0.28), (4.86, 0.29), (4.15, 0.33)),
        "auprc": _row((23.38, 0.73), (18.90, 1.08), (14.59, 1.26)),
    },
    "SSME-KDE": {
        "accuracy": _row((2.34, 0.15), (2.22, 0.13), (2.14, 0.15)),
        "ece": _row((2.35, 0.13), (2.26, 0.12), (2.19, 0.15)),
        "auc": _row((3.34, 0.23), (3.15, 0.18), (3.09, 0.22)),
        "auprc": _row((10.89, 0.87), (9.91, 0.85), (9.88, 0.97)),
    },
}

MULTINLI: dict[str, dict[str, Row]] = {
    "Labeled": {
        "accuracy": _row((7.46, 1.07), (4.42, 0.55), (3.27, 0.46)),
        "ece": _row((11.57, 1.13), (6.14, 0.67), (4.52, 0.51)),
    },
    "Majority-Vote": {
        "accuracy": _row((8.30, 0.35), (8.14, 0.27), (7.54, 0.30)),
        "ece": _row((3.87, 0.18), (3.94, 0.14), (3.82, 0.15)),
    },
    "Pseudo-Labeled": {
        "accuracy": _row((7.95, 1.26), (3.08, 0.62), (2.47, 0.51)),
        "ece": _row((7.84, 1.14), (3.10, 0.62), (2.37, 0.46)),
    },
    "Dawid-Skene": {
        "accuracy": _row((11.73, 0.15), (11.41, 0.14), (10.72, 0.15)),
        "ece": _row((2.95, 0.08), (2.92, 0.10), (3.18, 0.08)),
    },
    "AutoEval": {"accuracy": _row((7.20, 1.04), (4.17, 0.54), (3.17, 0.44))},
    "Active-Testing": {"accuracy": _row((10.30, 1.77), (11.85, 1.70), (11.63, 1.77))},
    "SSME-KDE": {
        "accuracy": _row((1.98, 0.24), (1.90, 0.21), (2.02, 0.23)),
        "ece": _row((2.06, 0.24), (2.06, 0.20), (2.19, 0.21)),
    },
    "SSME-NF": {"accuracy": _row((3.08, 0.18), (2.79, 0.22), (2.52, 0.22))},
}

PAPER = {"civilcomments": TOXICITY, "multinli": MULTINLI}
