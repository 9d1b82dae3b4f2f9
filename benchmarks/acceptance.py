"""Reports on real predictions: seven toxicity classifiers, and one CIFAR-10 classifier two ways.

python benchmarks/acceptance.py --data DIR          # reports into the current directory
python benchmarks/acceptance.py --data DIR --output DIR --only cifar

DIR holds civilcomments.npz (scores, labels, classifiers) and cifar10_vgg.npz (probs, labels).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from _common import print_machine, print_table

import bayescal as bc
from bayescal.results.access import case_status, cases, scalar
from bayescal.results.curves import description_weights

CIFAR_CLASSES = ["plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def civilcomments(data: Path, target: Path, **options: Any) -> list[xr.DataTree]:
    """Seven classifiers of toxic comments on the same rows, with the difference of each pair."""
    with np.load(data / "civilcomments.npz", allow_pickle=False) as file:
        columns = {str(name): file["scores"][:, k] for k, name in enumerate(file["classifiers"])}
        scores = bc.Scores.stack(columns, y_true=file["labels"])
    tree = bc.fit(bc.ece, scores, **options)
    bc.report(tree, target / "civilcomments.html", title="Toxic comments: seven classifiers")
    return [tree]


def cifar(data: Path, target: Path, **options: Any) -> list[xr.DataTree]:
    """One classifier of ten classes: is it right as often as it says, and class by class."""
    with np.load(data / "cifar10_vgg.npz", allow_pickle=False) as file:
        scores = bc.Scores(
            y_true=np.array(CIFAR_CLASSES)[file["labels"]],
            y_prob=file["probs"],
            classes=CIFAR_CLASSES,
            classifier="VGG-16",
        )
    trees = [
        bc.fit(bc.ece, scores, multiclass=kind, **options) for kind in ("top-label", "class-wise")
    ]
    bc.report(trees, target / "cifar10.html", title="CIFAR-10: VGG-16")
    return trees


def print_figures(tree: xr.DataTree) -> None:
    """Print the figures of every case, and what the fit says of itself."""
    low, high = (bc.interval(tree, "tce").sel(ci_bound=bound) for bound in ("lower", "upper"))
    rows: list[Sequence[object]] = [
        (
            case.label,
            scalar(tree, "point_estimate", "ece", case),
            scalar(tree, "model_average", "tce_mean", case),
            float(low.sel(case.sel)),
            float(high.sel(case.sel)),
            scalar(tree, "model_average", "p_calibrated", case),
            ", ".join(f"{n} {w:.2f}" for n, w in description_weights(tree, case).items()),
            case_status(tree, case),
            scalar(tree, "diagnostics", "divergences", case),
            scalar(tree, "diagnostics", "rhat_max", case),
            scalar(tree, "diagnostics", "ess_min", case),
        )
        for case in cases(tree)
    ]
    header = ("case", "plug-in", "TCE", "5%", "95%", "P(calibrated)", "descriptions", "status")
    print_table(
        f"{tree.attrs['multiclass']}, {tree.attrs['n_labeled']} rows, {tree.attrs['n_bins']} bins",
        (*header, "divergences", "R-hat", "ESS"),
        rows,
    )
    print(f"status: {tree.attrs['status']}")


def differences(tree: xr.DataTree) -> None:
    """Print the difference of neighbours in the order of their errors."""
    means = tree["posterior"]["tce"].mean(["chain", "draw"])
    if "classifier" not in means.dims:
        return
    names = [str(name) for name in means.sortby(means).classifier.values]
    rows = []
    for first, second in pairwise(names):
        found = bc.difference(tree, second, first)
        rows.append(
            (f"{second} - {first}", found.mean, found.lower, found.upper, found.correlation)
        )
    print_table("Differences of TCE", ("pair", "mean", "5%", "95%", "correlation"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the npz files")
    parser.add_argument("--output", type=Path, default=Path(), help="directory of the reports")
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--only", choices=("civilcomments", "cifar"))
    given = parser.parse_args()
    print_machine("pymc", "nutpie")
    parts: dict[str, Callable[..., list[xr.DataTree]]] = {
        "civilcomments": civilcomments,
        "cifar": cifar,
    }
    for name, run in parts.items():
        if given.only in (None, name):
            start, cpu = time.perf_counter(), time.process_time()
            trees = run(given.data, given.output, seed=given.seed)
            for tree in trees:
                print_figures(tree)
                differences(tree)
            print(
                f"\n{name}: {time.perf_counter() - start:.1f} s, CPU "
                f"{time.process_time() - cpu:.1f} s, fits and report"
            )


if __name__ == "__main__":
    main()
