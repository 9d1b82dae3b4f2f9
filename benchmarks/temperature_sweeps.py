"""The paper's sweeps in kind: calibration errors against label noise, under-sampling and size.

python benchmarks/temperature_sweeps.py                # digits, 5 seeds a setting
python benchmarks/temperature_sweeps.py --render       # tables and figure of the numbers on disk

As figures 2, 5, 8, 10, 12 and 14: the network of temperature_paper.py, with noisy labels in half of
the classes, with that half under-sampled, and with fewer rows of all classes.
"""

from __future__ import annotations

import argparse
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from _common import STATIC, print_table
from _results import begun, print_provenance, read, write
from matplotlib.figure import Figure
from temperature_paper import COLUMNS, METHODS, Setting, digits

from bayescal.plots.style import BLUE, GREEN, GREY, INK, ORANGE, VERMILLION

NAME: Final = "temperature_sweeps"
SWEEPS: Final = {
    "noise": ("share of noisy labels in classes 0-4", (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)),
    "sampling": ("share of the rows of classes 0-4 kept", (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)),
    "rows": ("rows of all classes", (50, 100, 200, 400, 700)),
}
LOOKS: Final = {
    "uncalibrated": (GREY, ":", "o"),
    "TS": (ORANGE, "--", "s"),
    "CTS": (GREEN, "-.", "^"),
    "VS": (VERMILLION, "--", "D"),
    "posterior": (BLUE, "-", "o"),
}
WORDS: Final = {"ece": "ECE", "max_ece": "max-ECE", "avg_ece": "avg-ECE"}


def settings_of(name: str) -> list[Setting]:
    """The trainings of a sweep."""
    return [Setting(**{name: value}) for value in SWEEPS[name][1]]


def run(seeds: int) -> None:
    """Measure every setting; those on disk with as many seeds are kept."""
    found = begun(NAME).get("settings", {})
    for setting in {each: None for name in SWEEPS for each in settings_of(name)}:
        if len(found.get(setting.words, {}).get("seeds", ())) == seeds:
            continue
        runs = [digits(setting, seed) for seed in range(seeds)]
        found[setting.words] = {
            "seeds": list(range(seeds)),
            "errors": {name: [each.errors[name][:4] for each in runs] for name in METHODS},
            "halves": [each.halves for each in runs],
        }
        write(NAME, columns=COLUMNS, settings=found)
        print(setting.words, flush=True)


def render(content: dict[str, Any]) -> None:
    """Print the tables and draw the figure."""
    print_provenance(content)
    for sweep, (words, values) in SWEEPS.items():
        rows = []
        for setting, value in zip(settings_of(sweep), values, strict=True):
            held = content["settings"][setting.words]
            errors = {name: np.mean(held["errors"][name], axis=0) for name in METHODS}
            halves = 100 * np.mean(held["halves"], axis=0)
            rows.append(
                [value, errors["uncalibrated"][0]]
                + [errors[name][place] for place in (1, 2) for name in METHODS]
                + [*(halves[:, 0] - halves[:, 1])]
            )
        columns = ["", "accuracy", *(f"ECE {name}" for name in METHODS)]
        columns += [*(f"max {name}" for name in METHODS), "gap 0-4", "gap 5-9"]
        print_table(words, columns, rows)
    with mpl.rc_context({"font.size": 9.0}):
        figure = curves(content)
        figure.savefig(STATIC / f"{NAME}.png", metadata={"Software": None}, dpi=120)


def curves(content: dict[str, Any]) -> Figure:
    """A row a sweep, a column an error, a line a method with its standard error over seeds."""
    figure = Figure(figsize=(10, 8.4), layout="constrained")
    panels = figure.subplots(len(SWEEPS), len(WORDS))
    for row, (sweep, (words, at)) in zip(panels, SWEEPS.items(), strict=True):
        held = [content["settings"][setting.words] for setting in settings_of(sweep)]
        for axes, metric in zip(row, WORDS, strict=True):
            place = COLUMNS.index(metric)
            for name, (colour, line, marker) in LOOKS.items():
                values = np.array([each["errors"][name] for each in held])[..., place]
                error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
                looks = {"c": colour, "ls": line, "marker": marker, "ms": 3.5, "lw": 1.3}
                axes.plot(at, values.mean(axis=1), label=name, **looks)
                middle = values.mean(axis=1)
                axes.fill_between(at, middle - error, middle + error, color=colour, alpha=0.12)
            axes.set(xlabel=words, ylim=(0, None))
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color=GREY, alpha=0.2, linewidth=0.6)
        row[0].set_ylabel("per cent")
    for axes, title in zip(panels[0], WORDS.values(), strict=True):
        axes.set_title(title, color=INK)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--render", action="store_true", help="only render the figures on disk")
    given = parser.parse_args()
    if not given.render:
        run(given.seeds)
    render(read(NAME))


if __name__ == "__main__":
    main()
