"""Cost of a moderation rule on real comments: few labels, many scores, and all labels to check.

python benchmarks/agnostic_acceptance.py --data data                  # needs civilcomments.npz
python benchmarks/agnostic_acceptance.py --data data --replications 20

Each replication draws 2,000 labelled rows of each classifier; the others are the unlabelled ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from _common import print_machine, print_table

import bayescal as bc

COSTS = {"keep": (5, 0), "review": (1, 1), "remove": (0, 3)}
LABELED = 2000


def evaluate(score: np.ndarray, label: np.ndarray, seed: int) -> tuple[float, ...]:
    """True cost of the other rows, what scores say, and the posterior's interval."""
    rows = np.random.default_rng(seed).permutation(len(score))
    known, rest = rows[:LABELED], rows[LABELED:]
    rule = bc.agnostic.bayes_rule(COSTS)
    scores = bc.Scores(y_true=label[known], y_prob=score[known], classes=[0, 1])
    result = bc.fit(
        bc.agnostic, scores, unlabeled=score[rest], decision=rule, method="direct", seed=seed
    )
    low, high = bc.interval(result, "unlabeled_cost", 0.95).values
    c_emp = float(bc.agnostic.estimate(scores).c)
    return (
        bc.agnostic.actual_cost(rule, score[rest], label=label[rest]),
        bc.agnostic.estimated_cost(rule, score[rest]),
        float(result["posterior"]["unlabeled_cost"].mean()),
        float(low),
        float(high),
        bc.agnostic.cost_bound(rule, c_emp, LABELED, len(rest), delta=0.05).value,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--replications", type=int, default=1)
    given = parser.parse_args()
    print_machine("scipy")
    with np.load(given.data / "civilcomments.npz", allow_pickle=False) as held:
        scores, labels, names = held["scores"], held["labels"], held["classifiers"]
    lines, covered = [], []
    for place, name in enumerate(names):
        score = scores[:, place].astype(float)
        found = [evaluate(score, labels, seed) for seed in range(given.replications)]
        lines.append((str(name), *map(float, np.mean(found, axis=0))))
        covered += [low <= true <= high for true, _, _, low, high, _ in found]
    header = ("classifier", "true cost", "by scores", "posterior", "lower", "upper", "safe bound")
    print_table("Mean cost of the unlabelled rows, 95% intervals", header, lines)
    print(f"{sum(covered)} of {len(covered)} intervals hold the true cost")


if __name__ == "__main__":
    main()
