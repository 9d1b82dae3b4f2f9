"""How fast fits, commands, first fits and many fits are, each beside a reference of the same run.

python benchmarks/speed.py                          # all parts, some ten minutes
python benchmarks/speed.py --only ece shell         # these
python benchmarks/speed.py --repeat 9 --only ece

What is compared takes turns, the least of several rounds counts, and targets are ratios: they mean
the same on another machine. BLAS has one thread. "near" scores are almost calibrated, "over" ones
over-confident by a slope of 1.6, where a smooth and a rough curve both weigh. What grows with the
rows is in cost.py, NUTS alone in nuts_speed.py.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from _common import print_table, time_best
from _results import print_provenance, provenance
from numpy.typing import NDArray
from scipy.special import expit
from threadpoolctl import threadpool_limits

import bayescal as bc
from bayescal.results.measure import with_measures

type Task = Callable[[], object]
type Tasks = dict[str, Task]
type Floats = NDArray[np.float64]

HERE: Final = Path(__file__).parent
ROWS, SORTED, MANY, FACTOR = 2000, 3_400_000, 60, 7
SLOPES: Final = {"near": 1.9, "over": 3.2}
TRUE_SLOPE: Final = 2.0
QUANTITIES: Final = ("ece", "pu_ece", "credal", "agnostic", "ssme", "temperature")
SEVEN: Final = ("e90", "slope", "intercept", "oe", "brier", "auc", "net_benefit:0.25")
PYMC, SORT, SMOOTH = "import of PyMC, nutpie", "NumPy's stable sort", "smooth curve alone"


class Target(NamedTuple):
    """What a task is divided by, and the largest ratio; without one it is only shown."""

    against: str
    ratio: float | None = None


# Seconds wanted on the machine of the first measurements, over those of its reference there: .28
# of the smooth curve alone, .31 of the sort, 3 of the import.
TARGETS: Final = {
    "ece NUTS": Target(SMOOTH, 1.5),
    "ece direct": Target(SORT, 0.39),
    "pu_ece NUTS": Target("ece NUTS", 3),
    "pu_ece direct": Target("ece direct", 4),
    "credal NUTS": Target(SORT, 1.9),
    "credal direct": Target(SORT, 0.65),
    "agnostic NUTS": Target(SORT, 1.9),
    "agnostic direct": Target(SORT, 0.65),
    "ssme NUTS": Target(SORT, 13),
    "temperature NUTS": Target(SORT),
    "temperature direct": Target(SORT),
    "all measures": Target("ece direct", 0.2),
    "seven measures": Target("ece direct", 0.2),
    "one of many direct fits": Target(SORT, 0.32),
    "report of four classifiers": Target(SORT, 1.3),
    "bayescal ece": Target(PYMC, 1.4),
    "bayescal ece --quick": Target(PYMC, 0.33),
    "bayescal ece --estimate-only": Target(PYMC, 0.12),
    "ten classifiers": Target(PYMC, 2),
    "ten classifiers --quick": Target(PYMC, 0.67),
    **{f"first fit of {name}": Target(PYMC, 6.7) for name in QUANTITIES},
}


class Row(NamedTuple):
    """One line of the table."""

    what: str
    data: str
    seconds: float
    against: str
    its_seconds: float
    ratio: float
    target: float | str
    met: str


def labels_and_scores(data: str, seed: int = 0, noise: float = 0.0) -> tuple[Floats, Floats]:
    """Labels of a logistic truth and scores of another slope."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=ROWS)
    label = (rng.random(ROWS) < expit(TRUE_SLOPE * z)).astype(float)
    return label, expit(SLOPES[data] * (z + noise * rng.normal(size=ROWS)))


def scores(data: str) -> bc.Scores:
    label, score = labels_and_scores(data)
    return bc.Scores(y_true=label, y_prob=score)


def positives_and_unlabelled(data: str) -> bc.PUScores:
    label, score = labels_and_scores(data)
    return bc.PUScores(positive=score[label == 1][:400], unlabeled=score)


def split(data: str) -> bc.CalibrationSplit:
    return bc.CalibrationSplit(calibration=scores(data), target=labels_and_scores(data, 1)[1])


def few_labels(data: str, labelled: int = 100, classifiers: int = 7) -> bc.Scores:
    """Scores of several classifiers of one set of rows, a few of them labelled."""
    rng = np.random.default_rng(0)
    label, score = labels_and_scores(data)
    label[labelled:] = np.nan
    z = np.log(score / (1 - score)) / SLOPES[data]
    found = {
        f"m{k}": expit((1.2 + 0.2 * k) * (z + 0.7 * rng.normal(size=ROWS)))
        for k in range(classifiers)
    }
    return bc.Scores.stack(found, y_true=label)


def fit_of(name: str, data: str, method: str) -> Task:
    """A fit of one quantity; its data are made now."""
    given: dict[str, Callable[[], Any]] = {
        "pu_ece": lambda: positives_and_unlabelled(data),
        "credal": lambda: split(data),
        "ssme": lambda: few_labels(data),
        "temperature": lambda: bc.datasets.temperature.truth("heterogeneous").scores(5000, seed=1),
    }
    priors = bc.pu_ece.Priors(class_prior=bc.Beta(50, 50)) if name == "pu_ece" else None
    made = given.get(name, lambda: scores(data))()
    return partial(bc.fit, name, made, priors=priors, seed=1, method=method)


def both(name: str, data: str) -> Tasks:
    """A quantity's fits by both methods."""
    return {
        f"{name} {'NUTS' if method == 'nuts' else method}": fit_of(name, data, method)
        for method in ("nuts", "direct")
    }


def sort() -> Tasks:
    numbers = np.random.default_rng(0).normal(size=SORTED)
    # The default sort has vector instructions on some machines, and is six times as fast there.
    return {SORT: lambda: np.sort(numbers, kind="stable")}


def smooth(data: str) -> Tasks:
    alone = bc.ece.Priors(label_rate=bc.ece.SmoothCurve())
    return {SMOOTH: partial(bc.fit, bc.ece, scores(data), priors=alone, seed=1)}


def ece(folder: Path) -> Iterator[tuple[str, Tasks]]:
    for data in SLOPES:
        yield data, sort() | smooth(data) | both("ece", data)


def pu_ece(folder: Path) -> Iterator[tuple[str, Tasks]]:
    for data in SLOPES:
        yield data, both("ece", data) | both("pu_ece", data)


def of_each_slope(name: str, folder: Path) -> Iterator[tuple[str, Tasks]]:
    for data in SLOPES:
        yield data, sort() | both(name, data)


def ssme(folder: Path) -> Iterator[tuple[str, Tasks]]:
    yield "2,000 x 7, 100 labels", sort() | {"ssme NUTS": fit_of("ssme", "near", "nuts")}


def temperature(folder: Path) -> Iterator[tuple[str, Tasks]]:
    yield "5,000 rows", sort() | both("temperature", "near")


def report(folder: Path) -> Iterator[tuple[str, Tasks]]:
    label, _ = labels_and_scores("over")
    four = {f"m{k}": labels_and_scores("over", noise=0.1 * k)[1] for k in range(4)}
    result = bc.fit(bc.ece, bc.Scores.stack(four, y_true=label), seed=1, method="direct")
    task = partial(bc.report, result, folder / "calibration.html")
    yield "over", sort() | {"report of four classifiers": task}


def measures(folder: Path) -> Iterator[tuple[str, Tasks]]:
    """Measures of a result that is there; several at once, as a summary takes them."""
    own = {"threshold": ":0.5"}
    names = [
        name + "".join(own.get(option, "") for option in one.options)
        for name, one in bc.measures.measures().items()
    ]
    for data in SLOPES:
        task = fit_of("ece", data, "direct")
        result = task()
        yield (
            data,
            {
                "ece direct": task,
                "all measures": partial(with_measures, result, names),
                "seven measures": partial(with_measures, result, SEVEN),
            },
        )


def many(folder: Path) -> Iterator[tuple[str, Tasks]]:
    for data in SLOPES:
        sets = {}
        for seed in range(MANY):
            label, score = labels_and_scores(data, seed)
            sets[seed] = bc.Scores(y_true=label, y_prob=score)
        fits = partial(bc.fit_many, bc.ece, sets, method="direct", seed=1, keep="scalars")
        yield f"{data}, mean of {MANY}", sort() | {"one of many direct fits": fits}


def run(environment: Mapping[str, str], *command: str) -> Task:
    """A process of its own, which must succeed."""
    call = [sys.executable, *command]
    return lambda: subprocess.run(call, check=True, capture_output=True, env=environment, cwd=HERE)


def environment(folder: Path, **changed: str) -> dict[str, str]:
    """Where compiled modules are kept, as on most machines, and BLAS has one thread."""
    kept = {k: value for k, value in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return kept | one | {"PYTHONPYCACHEPREFIX": str(folder / "modules")} | changed


def importing(folder: Path) -> Tasks:
    return {PYMC: run(environment(folder), "-c", "import pymc, nutpie")}


def table(path: Path, data: str, classifiers: int) -> list[str]:
    """Write labels and scores as CSV; give the arguments that name them."""
    names = [f"p{k}" for k in range(classifiers)]
    label, _ = labels_and_scores(data)
    columns = [labels_and_scores(data, noise=0.1 * k)[1] for k in range(classifiers)]
    header = ",".join(["y", *names])
    np.savetxt(path, np.column_stack([label, *columns]), "%.6g", ",", header=header, comments="")
    named = [word for name in names for word in ("--score", name)]
    return ["-m", "bayescal", "ece", str(path), "--label", "y", *named]


def shell(folder: Path) -> Iterator[tuple[str, Tasks]]:
    for data in SLOPES:
        command = table(folder / f"{data}.csv", data, 1)
        tasks = importing(folder)
        for option in ("", "--quick", "--estimate-only"):
            seed = [] if option == "--estimate-only" else ["--seed", "1"]
            words = [*command, *option.split(), *seed]
            tasks[f"bayescal ece {option}".strip()] = run(environment(folder), *words)
        yield data, tasks


def ten(folder: Path) -> Iterator[tuple[str, Tasks]]:
    command = table(folder / "ten.csv", "over", 10)
    tasks = importing(folder)
    for option in ("", "--quick"):
        words = [*command, *option.split(), "--seed", "1"]
        tasks[f"ten classifiers {option}".strip()] = run(environment(folder), *words)
    yield "over", tasks


def first(name: str, folder: Path) -> Iterator[tuple[str, Tasks]]:
    """A process that finds nothing compiled but Python's modules."""
    code = f"import speed; speed.fit_of({name!r}, 'near', 'nuts')()"

    def task() -> None:
        with tempfile.TemporaryDirectory() as home:
            changed = {"HOME": home, "XDG_CACHE_HOME": home, "NUMBA_CACHE_DIR": f"{home}/numba"}
            run(environment(folder, **changed), "-c", code)()

    # Python's modules are compiled by the same fit where other compiled code is found.
    run(environment(folder), "-c", code)()
    yield "near", importing(folder) | {f"first fit of {name}": task}


PARTS: Final[dict[str, Callable[[Path], Iterator[tuple[str, Tasks]]]]] = {
    "ece": ece,
    "pu_ece": pu_ece,
    "credal": partial(of_each_slope, "credal"),
    "agnostic": partial(of_each_slope, "agnostic"),
    "ssme": ssme,
    "temperature": temperature,
    "measures": measures,
    "many": many,
    "report": report,
    "shell": shell,
    "ten": ten,
    **{f"first-{name}": partial(first, name) for name in QUANTITIES},
}


def least(tasks: Tasks, repeat: int) -> dict[str, float]:
    """Least seconds of each task; the tasks take turns."""
    rounds = [{name: time_best(task).wall for name, task in tasks.items()} for _ in range(repeat)]
    return {name: min(one[name] for one in rounds) for name in tasks}


def measured(part: str, folder: Path, repeat: int) -> Iterator[Row]:
    """Lines of one part."""
    cold = part.startswith("first-")
    for data, tasks in PARTS[part](folder):
        if not cold:
            least(tasks, 1)
        seconds = least(tasks, 1 if cold else min(repeat, 2) if part == "many" else repeat)
        if part == "many":
            seconds["one of many direct fits"] /= MANY
        for what in seconds:
            if what in TARGETS and TARGETS[what].against in seconds:
                yield row(what, data, seconds)


def row(what: str, data: str, seconds: Mapping[str, float]) -> Row:
    against, most = TARGETS[what]
    ratio = seconds[what] / seconds[against]
    judged = ("", "") if most is None else (most, "yes" if ratio <= most else "NO")
    return Row(what, data, seconds[what], against, seconds[against], ratio, *judged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--repeat", type=int, default=5, help="rounds, of which the least counts")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        rows = [row for part in given.only for row in measured(part, Path(name), given.repeat)]
    print_provenance({"provenance": provenance()})
    print_table(
        f"Least seconds of {given.repeat} rounds, {ROWS:,} rows; the sort is of {SORTED:,} numbers",
        ("what", "data", "seconds", "reference", "its seconds", "ratio", "target", "met"),
        rows,
    )


if __name__ == "__main__":
    main()
