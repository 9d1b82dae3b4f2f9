"""Several classifiers in one posterior: who is best, in words, in a table and in pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from bayescal.plots import plot_metrics, plot_ranks
from bayescal.report.alerts import alerts
from bayescal.report.figures import Image, image
from bayescal.report.names import named
from bayescal.report.numbers import MISSING, count, decimals, fixed, in_words, percent, probability
from bayescal.report.render import render
from bayescal.report.view import View
from bayescal.results import schema
from bayescal.results.best import LIKELY, Best, best
from bayescal.results.difference import Difference, difference
from bayescal.results.lookup import find_case
from bayescal.results.metrics import HIGHER, metric_title, metrics_of
from bayescal.results.summary import NO_LABELS, NOT_CONVERGED, OK, averaged_mean, summary

DRAWN = ("accuracy", "ece", "auc")
MOST_GROUPS = 6
MOST_ROWS = 60

_DIGITS = 3
_LABELING = {
    "random": "The labelled rows are taken for a random sample of all rows.",
    "one-per-class": "The labelled rows are taken for a random sample of all rows, but for one of "
    "each class that was made sure of.",
}


@dataclass(frozen=True, slots=True)
class Winner:
    """Who is best by one metric, within one group where there are several."""

    metric: str
    where: str
    name: str
    chance: float
    value: str
    second: str
    second_chance: float


def joint_answer(view: View) -> Markup:
    """Say who is best, with what probability, and what is assumed."""
    rankings = _rankings(view)
    groups = _groups(view)
    return render(
        "sections/joint_answer.html.j2",
        alerts=alerts(view),
        converged=view.converged,
        lead=_lead(view, rankings, groups),
        winners=[
            winner
            for ranking in rankings.values()
            for group in groups
            if (winner := _winner(view, ranking, group)) is not None
        ],
        where=groups != [None],
        left_out=max(len(view.names("groups")) - MOST_GROUPS, 0),
        assumed=_LABELING.get(view.text("labeling"), ""),
        prob=view.prob,
    )


def _rankings(view: View) -> dict[str, Best]:
    """Who is best by every metric; empty with one classifier."""
    if len(schema.classifier_names(view.tree)) < 2:
        return {}
    return {var: best(view.tree, var) for var in metrics_of(view.tree)}


def _groups(view: View) -> list[str | None]:
    names = view.names("groups") if schema.GROUP in view.dims_of_cases else []
    return [*names[:MOST_GROUPS]] or [None]


def _lead(view: View, rankings: dict[str, Best], groups: list[str | None]) -> list[Markup]:
    told = [_rows(view)]
    for group in groups:
        if rankings:
            told += _of_group(view, rankings["accuracy"], group)
        else:
            told.append(_alone(view, group))
    return told


def _rows(view: View) -> Markup:
    labeled = int(view.tree.attrs.get("n_labeled", 0))
    rest = int(view.tree.attrs.get("n_obs", labeled)) - labeled
    return Markup("From {} labelled rows and {} without a label.").format(
        count(labeled), count(rest)
    )


def _alone(view: View, group: str | None) -> Markup:
    """The numbers of the only classifier."""
    case = find_case(view.tree, group=group)
    values = [
        Markup("{} <b>{}</b>").format(metric_title(var), _value(view, var, case)) for var in DRAWN
    ]
    return Markup("{}{}: {}.").format(
        named(case.classifier), _inside(group), Markup(", ").join(values)
    )


def _of_group(view: View, ranking: Best, group: str | None) -> list[Markup]:
    """Who is best by accuracy, how accurate, and by how much."""
    winner = _winner(view, ranking, group)
    if winner is None:
        return []
    text = "By accuracy{}, {} is best with probability {}."
    if winner.chance < LIKELY:
        text = "By accuracy{}, no classifier is clearly best; {} leads with probability {}."
    chance = in_words(probability(winner.chance))
    said = [
        Markup(text).format(_inside(group), named(winner.name), chance),
        Markup("Its accuracy is <b>{}</b> (mean, {} credible interval).").format(
            winner.value, percent(view.prob)
        ),
    ]
    gap = difference(view.tree, winner.name, winner.second, ranking.var, view.prob, group=group)
    return [*said, _gap(gap)]


def _gap(gap: Difference) -> Markup:
    digits = decimals(gap.lower, gap.upper)
    low, high = fixed(gap.lower, digits), fixed(gap.upper, digits)
    words = "It differs from that of {} by {} ({} interval {} to {})."
    if gap.lower <= 0 <= gap.upper:
        words = "It is not told apart from that of {}: the difference is {} ({} interval {} to {})."
    return Markup(words).format(
        named(gap.second), _signed(gap.mean, digits), percent(gap.prob), low, high
    )


def _signed(value: float, digits: int) -> str:
    text = fixed(value, digits)
    return f"+{text}" if value > 0 else text


def _inside(group: str | None) -> Markup:
    return Markup("") if group is None else Markup(" in group {}").format(named(group))


def _winner(view: View, ranking: Best, group: str | None) -> Winner | None:
    """The two most probably best; None where the metric is undefined."""
    shares = ranking.prob_best if group is None else ranking.prob_best.sel({schema.GROUP: group})
    names = [str(name) for name in shares[schema.CLASSIFIER].values]
    chances = dict(zip(names, map(float, shares.values), strict=True))
    if any(math.isnan(chance) for chance in chances.values()):
        return None
    first, second = sorted(names, key=lambda name: -chances[name])[:2]
    title = metric_title(ranking.var)
    better = "highest" if ranking.var in HIGHER else "lowest"
    return Winner(
        metric=f"{title[0].upper()}{title[1:]} ({better})",
        where=group or "",
        name=first,
        chance=chances[first],
        value=_value(view, ranking.var, find_case(view.tree, first, group=group)),
        second=second,
        second_chance=chances[second],
    )


def _value(view: View, var: str, case: schema.Case) -> str:
    """Posterior mean and interval."""
    ends = view.interval(var, case)
    if ends is None or math.isnan(ends[0]):
        return MISSING
    digits = decimals(*ends)
    mean = averaged_mean(view.tree, var, case)
    return f"{fixed(mean, digits)} ({fixed(ends[0], digits)} to {fixed(ends[1], digits)})"


def joint_table(view: View) -> Markup:
    """Show every metric of every classifier, beside other estimates of it."""
    frame = summary(view.tree, view.prob)
    failed = set(frame["status"]) != {OK}
    titles = ["Metric", "Mean", "Median", f"{percent(view.prob)} interval"]
    titles += ["SSME‑KDE", "Ensemble", "Labelled rows"] + (["Fit"] if failed else [])
    rows = []
    for label, row in zip(frame.index, frame.to_dict("records"), strict=True):
        ends = [_number(row[name]) for name in ("lower", "upper")]
        cells = [metric_title(row["metric"]), _number(row["mean"]), _number(row["median"])]
        cells.append(MISSING if MISSING in ends else " to ".join(ends))
        cells += [_number(row.get(name)) for name in ("ssme_kde", "ensemble", "labeled")]
        cells += [row["status"] if row["status"] != OK else MISSING] if failed else []
        rows.append((label, cells))
    return render(
        "sections/table.html.j2",
        case_word=view.case_word,
        titles=titles,
        rows=rows,
        estimand=view.text("estimand"),
        bad=(NOT_CONVERGED, NO_LABELS),
    )


def _number(value: float | None) -> str:
    return fixed(value, _DIGITS)


def joint_plots(view: View) -> Markup | None:
    """Draw the metrics of all classifiers, and the probability of each rank."""
    if len(view.cases) > MOST_ROWS:
        return None
    drawn = [var for var in DRAWN if view.has(schema.POSTERIOR, var)]
    images = [_forest(view, var) for var in drawn]
    if len(schema.classifier_names(view.tree)) > 1:
        images.append(_ranks(view))
    return render("sections/joint_plots.html.j2", images=images)


def _forest(view: View, var: str) -> Image:
    title = metric_title(var)
    caption = (
        f"Posterior of the {title}, and below each interval what the paper's estimate, the plain "
        "ensemble and the labelled rows alone say. Where these lie far apart, the answer hangs on "
        "the model."
    )
    return image(
        partial(plot_metrics, view.tree, var, view.prob),
        alt=f"{title} of all classifiers. {caption}",
        name=f"{title[0].upper()}{title[1:]}",
        caption=caption,
    )


def _ranks(view: View) -> Image:
    caption = "Posterior probability of each rank; the first column is that of being best."
    return image(
        partial(plot_ranks, view.tree),
        alt=f"Ranks by accuracy. {caption}",
        name="Ranks by accuracy",
        caption=caption,
    )
