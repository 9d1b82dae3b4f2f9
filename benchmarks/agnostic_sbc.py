"""Simulation-based calibration of the interval measure's posterior.

python benchmarks/agnostic_sbc.py                                      # 200 direct fits
python benchmarks/agnostic_sbc.py --method nuts --replications 60

Scores of 200 labelled and 100 unlabelled rows, some of exactly 0 and 1, stay; curves come from the
prior, and labels from the curves. p-values are of a chi-squared test of uniform ranks in ten bins.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
from _common import print_machine, print_table
from scipy.stats import chisquare

import bayescal as bc
from bayescal.workflow.simulation import sbc

RULE = bc.DecisionRule(
    {"keep": (5, 0), "review": (1, 1.5), "remove": (0, 3)},
    {"keep": (0, 0.25), "review": (0.25, 0.6), "remove": (0.6, 1)},
)
VARIABLES = ["c", "ks", "auc", "cost", "unlabeled_auc", "unlabeled_cost"]


def rows() -> bc.Scores:
    """Rows of a simulated classifier, every twentieth score at an end."""
    found = bc.datasets.agnostic.truth("over").scores(200, seed=20, n_unlabeled=100)
    score = found.y_prob[0].copy()
    score[::20] = score[::20].round()
    label = [None if value < 0 else int(value) for value in found.y_true]
    return bc.Scores(y_true=label, y_prob=score)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", default="direct", choices=("direct", "nuts"))
    parser.add_argument("--replications", type=int, default=200)
    given = parser.parse_args()
    print_machine("scipy")
    start = process_time()
    found = sbc(
        bc.agnostic,
        rows(),
        given.replications,
        seed=20,
        variables=VARIABLES,
        method=given.method,
        decision=RULE,
    )
    seconds = (process_time() - start) / given.replications
    lines = []
    for name in VARIABLES:
        counts = np.bincount(found.ranks[name] * 10 // 100, minlength=10)
        lines.append((name, chisquare(counts).pvalue, " ".join(map(str, counts))))
    title = f"Ranks, {given.replications} replications by {given.method}"
    print_table(title, ("variable", "p-value", "counts in ten bins"), lines)
    health = found._asdict()
    print(f"\n{seconds:.2f} s a replication")
    for name in [name for name in health if name != "ranks"]:
        values = np.asarray(health[name], dtype=float)
        print(f"{name}: {np.nanmin(values):.4g} to {np.nanmax(values):.4g}")


if __name__ == "__main__":
    main()
