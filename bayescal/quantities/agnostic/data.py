"""From labelled and unlabelled scores to cells and to figures of the rows themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts, TiedRows, totals
from bayescal.core.binning import fine_counts, part_counts
from bayescal.core.checks import check_rows, shown
from bayescal.core.columns import MISSING, Whole
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.plausibility import all_labels, area_under_roc, label_signs
from bayescal.core.quantity import Floats, digest_of
from bayescal.core.scores import Scores, Task, binary_problems, check_unweighted, unlabeled_like
from bayescal.core.text import counted, percent
from bayescal.curves.cells import Problem, fingerprint
from bayescal.quantities.agnostic.decisions import (
    DecisionRule,
    actual_cost,
    at_ends,
    estimated_cost,
)
from bayescal.quantities.agnostic.estimator import (
    IntervalMeasure,
    interval_measure,
    measure_of_counts,
)
from bayescal.quantities.agnostic.functionals import SharedRows, roc
from bayescal.results.curves import Above


class Figures(NamedTuple):
    """What a result holds of the rows beside the posterior."""

    measure: IntervalMeasure
    n: int
    n_positive: int
    n_unlabeled: int
    only_score: float | None  # of all labelled rows, where they share one
    auc: float  # of the labelled rows; NaN without rows of both labels
    costs: tuple[float, ...]  # mean cost of each rule on the labelled rows
    # What the unlabelled scores imply; NaN where these have one label.
    unlabeled_auc: float
    unlabeled_costs: tuple[float, ...]
    mark: str  # what rows have in common in any order, but not with others

    @classmethod
    def of_rows(cls, rows: SharedRows, rules: Sequence[DecisionRule]) -> Figures:
        """Figures of rows in memory."""
        task, rest = rows
        score, event = task.score, task.event
        both = 0 < task.n_positive < task.n
        certain = not len(rest) or float(rest.mean()) in (0.0, 1.0)
        bits = score.astype(np.float64).view(np.int64)
        return cls(
            interval_measure(score, label=event),
            task.n,
            task.n_positive,
            len(rest),
            float(score[0]) if np.ptp(score) == 0 else None,
            roc(score, probability=event).auc if both else np.nan,
            tuple(actual_cost(rule, score, label=event) for rule in rules),
            np.nan if certain else roc(rest).auc,
            tuple(estimated_cost(rule, rest) for rule in rules if len(rest)),
            f"{bits.sum()} {bits[event == 1].sum()}",
        )

    @classmethod
    def of_counts(cls, counts: Counts, score: Floats, rules: Sequence[DecisionRule]) -> Figures:
        """Figures of counted rows at these scores, those of a narrow cell tied."""
        labels = np.column_stack([*counts.sums[:2]])
        implied = counts.unlabeled[:, np.newaxis] * np.column_stack([1 - score, score])
        weight = counts.weights[:2].T if counts.weighted else labels
        held = score[labels.any(axis=1)]
        measure, auc = measure_of_counts(counts), area_under_roc(labels)
        tables = [rule.cost_table[rule.action_of(score)][:, ::-1] for rule in rules]
        return cls(
            measure,
            int(labels.sum()),
            int(counts.positives.sum()),
            int(counts.unlabeled.sum()),
            float(held[0]) if len(held) == 1 else None,
            auc,
            tuple(float((weight * table).sum() / weight.sum()) for table in tables),
            area_under_roc(implied),
            tuple(float((implied * t).sum() / implied.sum()) for t in tables if implied.any()),
            f"{measure} {auc}",
        )


# So fine that the score hardly varies inside a cell.
CELLS = 100


@dataclass(frozen=True, slots=True, eq=False)
class IntervalProblem:
    """One binary problem: cells of the labelled rows, and of all rows, which no rule divides."""

    labeled: Problem
    figures: Figures
    cells: BinCounts  # of all rows; it knows no labels
    labels: Whole  # negative and positive rows of each cell, (cell, 2)
    unlabeled_count: Whole  # of each cell, (cell,)
    one_score: NDArray[np.bool_]  # cells whose rows all share one score, repeated, (cell,)

    @property
    def all_labeled(self) -> bool:
        """Whether the cells of all rows are those of the labelled ones."""
        one, own = self.cells, self.labeled.cells
        same = np.array_equal(one.mean_score, own.mean_score)
        return same and np.array_equal(one.count, own.count)

    @property
    def above(self) -> Above:
        """Labelled rows above each threshold."""
        counts = (np.append(0, np.cumsum(count[::-1])) for count in self.labels.T[::-1])
        return Above(*counts)

    def fingerprint(self, rules: Mapping[str, DecisionRule]) -> str:
        """Hash of the counts and of the rules."""
        said = "; ".join(f"{name}: {rule}" for name, rule in rules.items())
        labels = fingerprint(self.labeled, self.labeled.cells.positives)
        cells = self.cells
        arrays = (cells.edges, cells.count, cells.mean_score, self.unlabeled_count)
        return digest_of(f"{said} {labels} {self.figures.mark}", *arrays)


def problems(
    data: Scores, unlabeled: Scores | None, multiclass: str, rules: Sequence[DecisionRule]
) -> list[IntervalProblem]:
    """Cut scores into binary problems, and count the rows of each."""
    return [problem_of_rows(one, rules) for one in rows_of(data, unlabeled, multiclass, rules)]


def rows_of(
    data: Scores, unlabeled: Scores | None, multiclass: str, rules: Sequence[DecisionRule]
) -> list[SharedRows]:
    """Rows of each binary problem, labelled and not, at scores that rules tell apart."""
    edges = _edges(rules)
    tasks = [replace(t, score=at_ends(t.score, edges[1:-1])) for t in data.tasks(multiclass)]
    without = _scores(data, data.y_true == MISSING, multiclass, edges)
    if unlabeled is not None:
        more = _scores(unlabeled, np.ones(unlabeled.n_obs, dtype=bool), multiclass, edges)
        without = [np.concatenate(pair) for pair in zip(without, more, strict=True)]
    return [SharedRows(task, rest) for task, rest in zip(tasks, without, strict=True)]


def _edges(rules: Sequence[DecisionRule]) -> list[float]:
    """Ends and thresholds of all rules, which divide no cell."""
    return [0.0, *sorted({end for rule in rules for end in rule.thresholds}), 1.0]


def named_rules(
    decision: DecisionRule | Mapping[str, DecisionRule] | None,
) -> dict[str, DecisionRule]:
    """Rules by the names of their costs."""
    if decision is None:
        return {}
    if isinstance(decision, DecisionRule):
        return {"cost": decision}
    if not isinstance(decision, Mapping) or not all(
        isinstance(rule, DecisionRule) for rule in decision.values()
    ):
        raise InputError(
            f"decision must be a DecisionRule, or several by name; got {shown(decision)}. "
            "Pass bayescal.DecisionRule(actions, intervals)."
        )
    return {f"cost_{name}": rule for name, rule in decision.items()}


def problem_of_rows(rows: SharedRows, rules: Sequence[DecisionRule]) -> IntervalProblem:
    """Put rows into cells of the labelled ones, and into cells of all rows within rules."""
    task, unlabeled = rows
    check_rows(task.n, "the labelled rows")
    labeled = fine_counts(task, [0.0, 1.0], CELLS)
    every = np.concatenate([task.score, unlabeled]).astype(np.float64)
    all_rows = Task(task.coords, every, np.zeros(len(every), dtype=np.uint8))
    cells = fine_counts(all_rows, _edges(rules), CELLS)
    place = cells.find(every)
    labels = np.bincount(2 * place[: task.n] + task.event, minlength=2 * cells.n_bins)
    return IntervalProblem(
        Problem(task.coords, labeled, labeled, part_counts(task, labeled)),
        Figures.of_rows(rows, rules),
        cells,
        labels.reshape(-1, 2),
        np.bincount(place[task.n :], minlength=cells.n_bins),
        _one_score(cells, every, place),
    )


def problem_of(name: str, counts: Counts, rules: Sequence[DecisionRule]) -> IntervalProblem:
    """Put counted rows into cells of their own, and into cells of all rows within rules."""
    edges = _edges(rules)
    # Rows may have been of single precision.
    score = at_ends(counts.score, edges[1:-1], np.float32)
    labeled = replace(counts.labeled, score=score[counts.rows > 0])
    of_labels = labeled.count(labeled.cell_edges(np.array([0.0, 1.0]), CELLS, "right"))
    every = TiedRows(score, counts.rows + counts.unlabeled, np.zeros_like(counts.rows))
    inner = every.cell_edges(np.array(edges), CELLS, "right")
    cells, place = every.count(inner), every.place(inner)
    *labels, rest = totals(counts.sums[:3], place, cells.n_bins)
    one_score = (np.bincount(place, minlength=cells.n_bins) <= 1) & (cells.count != 1)
    curve = Problem({"classifier": name}, of_labels, of_labels, labeled.parts(of_labels))
    figures = Figures.of_counts(counts, score, rules)
    return IntervalProblem(curve, figures, cells, np.stack(labels, axis=-1), rest, one_score)


def _one_score(cells: BinCounts, score: Floats, place: Whole) -> NDArray[np.bool_]:
    """Cells whose rows all have one score that is not a single row's, (cell,)."""
    some = np.zeros(cells.n_bins)
    some[place] = score
    others = np.bincount(place, score != some[place], cells.n_bins)
    return np.asarray((others == 0) & (cells.count != 1))


def _scores(
    data: Scores, rows: NDArray[np.bool_], multiclass: str, edges: Sequence[float]
) -> list[Floats]:
    """Scores of some rows, classifier by classifier and class by class."""
    return [
        at_ends(score[rows], edges[1:-1]).astype(np.float64)
        for prob in data.y_prob
        for _, score, _ in binary_problems(prob, data.y_true, data.classes, multiclass)
    ]


def checked(data: Scores) -> Scores:
    """Refuse weights and groups, which the model has no use for."""
    check_unweighted(data, "agnostic")
    if data.group is not None:
        raise InputError(
            f"agnostic has no groups; got {len(data.groups)}. Pass scores.without_group(), or the "
            "rows of one group."
        )
    return data


def checked_unlabeled(unlabeled: Any, data: Scores) -> Scores | None:
    """Unlabelled rows of the same classifiers and classes; None where there are none."""
    if unlabeled is None:
        return None
    if not isinstance(unlabeled, Scores):
        unlabeled = unlabeled_like(unlabeled, data, "unlabeled", "data")
    check_rows(unlabeled.n_obs, "unlabeled")
    if unlabeled.classifiers != data.classifiers or unlabeled.n_classes != data.n_classes:
        raise InputError(
            "unlabeled must have the classifiers and classes of the labelled scores; got "
            f"{unlabeled!r} beside {data!r}. Score both by the same classifiers."
        )
    return checked(unlabeled)


def data_warnings(problem: IntervalProblem) -> list[str]:
    """What a reader must know of the data, in sentences."""
    found: list[str] = []
    figures = problem.figures
    if figures.n_positive in (0, figures.n):
        found.append(
            f"{all_labels(figures.n)} {'positive' if figures.n_positive else 'negative'}. Costs "
            "and ROC curves rest on one class alone; check the labels, and pos_label."
        )
    if figures.only_score is not None:
        found.append(
            f"all labelled rows have the score {figures.only_score:g}. There is one interval, "
            "and scores rank nothing; check the classifier."
        )
    cells = problem.labeled.cells
    return found + label_signs(cells.mean_score, cells.count - cells.positives, cells.positives)


# So few move an interval by less than its Monte Carlo error.
_FEW_DRAWS = 0.01


def one_label_warnings(area: Floats | None, n_unlabeled: int) -> list[str]:
    """Say so where unlabelled rows have one label in some draws, of their area (chain, draw)."""
    share = 0.0 if area is None else float(np.isnan(area).mean())
    if share <= _FEW_DRAWS:
        return []
    rows = counted(n_unlabeled, "unlabelled row")
    return [
        f"in {percent(round(share, 2))} of the draws all of {rows} have one label, and no ROC "
        "curve: unlabeled_auc is that of the other draws. Score more rows, or take auc, that of "
        "the population."
    ]
