"""Positives and unlabelled rows drawn from labelled ones: the posterior against all labels.

python benchmarks/pu_acceptance.py --data DIR       # 20 draws of 300 positives, 5,000 unlabelled
python benchmarks/pu_acceptance.py --render

DIR holds civilcomments.npz (scores, labels, classifiers): seven classifiers of toxic comments.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from _common import print_table
from _results import print_provenance, read, write

import bayescal as bc

SIZE = (300, 5000)
SPREAD = 0.02
BELIEFS = ("known", "sd .02", "25% off, sd .02")


def belief(name: str, share: float) -> float | bc.Beta:
    """Class prior of a known share of positives."""
    if name == "known":
        return share
    mean = share if name == "sd .02" else 1.25 * share
    concentration = mean * (1 - mean) / SPREAD**2 - 1
    return bc.Beta(mean * concentration, (1 - mean) * concentration)


def run(data: Path, draws: int, seed: int) -> None:
    with np.load(data / "civilcomments.npz", allow_pickle=False) as file:
        names = [str(name) for name in file["classifiers"]]
        table, label = file["scores"].astype(float), file["labels"]
    share = float(label.mean())
    labelled = bc.Scores.stack({n: table[:, k] for k, n in enumerate(names)}, y_true=label)
    truth = dict(zip(names, bc.ece.estimate(labelled, n_bins=15).ece, strict=True))
    rows: dict[tuple[str, str], list[Any]] = {}
    for rng in map(np.random.default_rng, np.random.SeedSequence(seed).spawn(draws)):
        positive = rng.choice(np.flatnonzero(label), SIZE[0], replace=False)
        # Out of all rows: without the positives drawn, the share of positives would be another.
        unlabeled = rng.choice(len(label), SIZE[1], replace=False)
        pu = bc.PUScores.stack(
            {n: (table[positive, k], table[unlabeled, k]) for k, n in enumerate(names)}
        )
        for name in BELIEFS:
            priors = bc.pu_ece.Priors(belief(name, share))
            fit = bc.fit(bc.pu_ece, pu, priors=priors, seed=seed, method="direct")
            ends = bc.interval(fit, "ece")
            for classifier in names:
                low, high = ends.sel(classifier=classifier).to_numpy()
                mean = fit["posterior"]["ece"].sel(classifier=classifier).mean().item()
                plug_in = fit["point_estimate"]["ece"].sel(classifier=classifier).item()
                pi = fit["posterior"]["class_prior"].sel(classifier=classifier).mean().item()
                rows.setdefault((classifier, name), []).append((low, high, mean, plug_in, pi))
    figures = []
    for (classifier, name), found in rows.items():
        low, high, mean, plug_in, pi = np.array(found).T
        true = truth[classifier]
        figures.append(
            {
                "classifier": classifier,
                "belief": name,
                "truth": float(true),
                "coverage": float(np.mean((low <= true) & (true <= high))),
                "width": float(np.mean(high - low)),
                "bias": float(np.mean(mean) - true),
                "plug_in_bias": float(np.mean(plug_in) - true),
                "class_prior": float(np.mean(pi)),
            }
        )
    write("pu_acceptance", draws=draws, seed=seed, share=share, figures=figures)


def render() -> None:
    content = read("pu_acceptance")
    print_provenance(content)
    print_table(
        f"Toxic comments: {SIZE[0]} positives and {SIZE[1]} unlabelled rows of 66,891, "
        f"{content['draws']} draws; the truth is the ECE of all labelled rows in 15 equal-mass "
        f"bins; share of positives {content['share']:.4f}",
        (
            "classifier",
            "class prior",
            "ECE of all",
            "coverage",
            "width",
            "bias",
            "plug-in's bias",
            "class prior's mean",
        ),
        [tuple(figure.values()) for figure in content["figures"]],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of civilcomments.npz")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--render", action="store_true", help="only print the figures on disk")
    given = parser.parse_args()
    if not given.render:
        if given.data is None:
            parser.error("--data is needed, or --render")
        run(given.data, given.draws, given.seed)
    render()


if __name__ == "__main__":
    main()
