"""Metrics of classifiers in one posterior in the report: values, ranks, reference estimates."""

from __future__ import annotations

import math
from typing import NamedTuple

from markupsafe import Markup

from bayescal.core.quantity import MORE
from bayescal.core.text import (
    MISSING,
    capital,
    decimals,
    ends,
    fixed,
    percent,
    probability,
    with_ends,
)
from bayescal.report.answers import best_sentence
from bayescal.report.render import Answer, Column, View, named, plain, several_named, table
from bayescal.results import access, schema
from bayescal.results.access import ResultSlice
from bayescal.results.compare import Best, Difference, best, difference, leaders, rankable
from bayescal.results.summary import heading

BOUNDS_OF = "the metrics on the labelled rows alone"
ROWS_WARN = False
MOST_SHOWN = 3
"""Metrics that are said of a single classifier."""
MOST_PLACES = 6

_COMPARED = {
    "independent": "Classifiers are fitted apart: their differences are those of independent "
    "estimates.",
    "shared rows": "Classifiers are fitted one by one, and their differences are paired by the "
    "rows that they share.",
    "": "All classifiers are evaluated on the same rows in every draw, so that noise they share "
    "cancels in comparisons.",
}
_LABELING = {
    "random": "The labelled rows are assumed to be a random sample of all rows.",
    "one-per-class": "The labelled rows are assumed to be a random sample of all rows, except for "
    "one row of each class that was chosen on purpose.",
}
_METHODS = {
    "ensemble": (
        "Ensemble",
        "the metric if the mean score of all classifiers were the probability of the label",
    ),
    "labeled": ("Labelled rows", "the metric on the rows with labels alone"),
}


class Place(NamedTuple):
    """The class and the group that something is said of; None where there is but one."""

    class_: str | None
    group: str | None

    @classmethod
    def of(cls, case: ResultSlice) -> Place:
        """Where a case is."""
        return cls(case.sel.get(schema.CLASS), case.sel.get(schema.GROUP))

    @property
    def words(self) -> Markup:
        """Words for it, after a name."""
        where = {" of class {}": self.class_, " in group {}": self.group}
        held = (
            Markup(word).format(named(name)) for word, name in where.items() if name is not None
        )
        return Markup("").join(held)


def answer(view: View) -> Answer:
    """Which classifier is best by the main metric, or the values of the only one."""
    every = [*dict.fromkeys(map(Place.of, view.cases))]
    places = every[:MOST_PLACES]
    ranked = [one for one in view.answers if rankable(view.tree, one)]
    rankings = {one.name: best(view.tree, one.name) for one in ranked}
    lead: list[str] = [f"Data: {view.data}."]
    for place in places:
        main = next(iter(rankings.values()), None)
        lead += [_alone(view, place)] if main is None else _at(view, main, place)
    notes = []
    if len(every) > MOST_PLACES:
        what = "groups" if every[0].class_ is None else "classes"
        notes.append(f"The first {MOST_PLACES} {what}; all {len(every)} are in the table below.")
    rests_on = [_LABELING.get(view.text("labeling"), ""), *_model(view, compared=bool(ranked))]
    notes.append(" ".join(filter(None, rests_on)))
    return Answer(lead, _best_table(view, rankings, places), list(filter(None, notes)))


def _model(view: View, *, compared: bool) -> list[str]:
    """What rows without a label, and the comparison of classifiers, rest on."""
    pairing, said = view.text("pairing"), list[str]()
    n = int(view.tree.attrs.get("n_obs", 0))
    curve = schema.CURVE in view.tree.children
    if (curve or pairing != "independent") and int(view.tree.attrs.get("n_labeled", n)) < n:
        given = "its score" if curve else "all classifiers' scores"
        said.append(
            f"Rows without a label count through a model of the label given {given}, with the "
            "priors below: what is said of them depends on that model."
        )
    if compared:
        said.append(_COMPARED.get(pairing, _COMPARED[""]))
    return said


def _alone(view: View, place: Place) -> Markup:
    """The values of each classifier that is not ranked, by the first metrics."""
    shown = view.answers[:MOST_SHOWN]
    said = []
    for case in view.cases:
        if Place.of(case) == place:
            values = ((heading(var), _value(view, var.name, case)) for var in shown)
            listed = Markup(", ").join(Markup("{} <b>{}</b>").format(*pair) for pair in values)
            said.append(Markup("{}{}: {}.").format(named(case.classifier), place.words, listed))
    return Markup(" ").join(said)


def _at(view: View, ranking: Best, place: Place) -> list[Markup]:
    """Which classifier is best, its value, and by how much it differs from the second."""
    shares = _shares(ranking, place)
    if shares is None:
        return []
    title = access.described(view.tree, ranking.var).title
    of_rows = ranking.title != title and view.text("pairing") != "independent"
    (first, chance), (second, _) = shares[:2]
    said = best_sentence(leaders(dict(shares)), chance, "best", "no")
    case = access.find_case(view.tree, first, *place)
    where = {"class_": place.class_, "group": place.group}
    return [
        Markup("By {}{}{}, {}").format(
            title, place.words, " on the labelled rows" if of_rows else "", said
        ),
        Markup("The {} of {} is <b>{}</b> (mean, {} credible interval).").format(
            title, named(first), _value(view, ranking.var, case), percent(view.prob)
        ),
        _gap(difference(view.tree, first, second, ranking.var, view.prob, **where), of_rows),
    ]


def _gap(gap: Difference, of_rows: bool) -> Markup:
    """The difference, which may be that of the labelled rows where the values are of curves."""
    if gap.lower == gap.upper == 0:
        return Markup("That of {} is the same.").format(named(gap.second))
    digits = decimals(gap.lower, gap.upper)
    where = "On the labelled rows alone, without the curves, " if of_rows else ""
    words = "it differs from that of {} by {} ({} interval {})."
    if gap.lower <= 0 <= gap.upper:
        words = "the difference from that of {} is not resolved: {} ({} interval {})."
    mean = fixed(gap.mean, digits)
    mean = f"+{mean}" if gap.mean > 0 else mean
    return Markup(capital(where + words)).format(
        named(gap.second), mean, percent(gap.prob), ends(gap.lower, gap.upper, digits)
    )


def _shares(ranking: Best, place: Place) -> list[tuple[str, float]] | None:
    """Classifiers with their probability of being best, in order; None if it is undefined."""
    where = {schema.CLASS: place.class_, schema.GROUP: place.group}
    held = ranking.prob_best.sel({dim: name for dim, name in where.items() if name is not None})
    found = {str(name): held.sel(classifier=name).item() for name in held[schema.CLASSIFIER].values}
    if any(math.isnan(chance) for chance in found.values()):
        return None
    return sorted(found.items(), key=lambda item: -item[1])


def _best_table(view: View, rankings: dict[str, Best], places: list[Place]) -> Markup:
    """The two most probably best by each metric."""
    found = [
        (var, place, shares)
        for var, ranking in rankings.items()
        for place in places
        if (shares := _shares(ranking, place)) is not None
    ]
    if not found:
        return Markup("")
    metrics = [access.described(view.tree, var) for var, *_ in found]
    titles = [
        f"{capital(heading(one))} ({'highest' if one.better == MORE else 'lowest'})"
        for one in metrics
    ]
    best_two = list(zip(*(_best_two(shares) for *_, shares in found), strict=True))
    values = [
        _value(view, var, access.find_case(view.tree, first, *place))
        for var, place, ((first, _), *_) in found
    ]
    columns = [Column("Metric", titles, words=True)]
    for k, title in enumerate(("Class", "Group")):
        if places[0][k] is not None:
            names = [plain(str(place[k])) for _, place, _ in found]
            columns.append(Column(title, names, words=True))
    for title, both in zip(("Best", "Second"), best_two, strict=True):
        columns.append(Column(title, [name for name, _ in both], words=True))
        columns.append(Column("P(best)", [probability(chance) for _, chance in both]))
        if title == "Best":
            columns.append(Column(f"Mean and {percent(view.prob)} interval", values))
    return table("Best classifiers", columns)


def _best_two(shares: list[tuple[str, float]]) -> tuple[tuple[Markup, float], ...]:
    """The best and the second, those that tie under one probability."""
    found = []
    for rest in (shares, shares[len(leaders(dict(shares))) :]):
        tied = leaders(dict(rest)) if rest else []
        name = several_named(tied) if len(tied) > 1 else Markup("").join(map(plain, tied))
        found.append((name or Markup(MISSING), rest[0][1] if rest else math.nan))
    return tuple(found)


def _value(view: View, var: str, case: ResultSlice) -> str:
    """Posterior mean and interval."""
    bounds = view.interval(var, case)
    return with_ends(access.posterior_mean(view.tree, var, case), *bounds, decimals(*bounds))


def titles(view: View) -> dict[str, str]:
    """Headings of the summary's columns: other estimates stand beside the posterior."""
    found = {name: _METHODS.get(name, (name,))[0] for name in _methods(view)}
    return {"point": capital(access.point_label(view.tree)), **found}


def terms(view: View) -> list[tuple[str, str]]:
    """Other estimates, and what being best and an interval mean."""
    found = []
    if view.tree[schema.POINT_ESTIMATE].data_vars:
        text = "The estimate without a posterior, to be read beside it."
        found.append((capital(access.point_label(view.tree)), text))
    found += [
        (_METHODS[name][0], f"A reference estimate: {_METHODS[name][1]}.")
        for name in _methods(view)
        if name in _METHODS
    ]
    if len(access.classifier_names(view.tree)) > 1:
        text = (
            "Posterior probability that no other classifier has a better value of the metric, all "
            "on the same rows."
        )
        found.append(("P(best)", text))
    prob = percent(view.prob)
    text = (
        f"Given the data and the priors, the value lies in it with a probability of {prob}, and on "
        "either side of it with equal probability."
    )
    return [*found, (f"{prob} credible interval of a metric", text)]


def _methods(view: View) -> list[str]:
    """Methods of the reference estimates."""
    if schema.REFERENCE_ESTIMATES not in view.tree.children:
        return []
    return [str(name) for name in view.tree[schema.REFERENCE_ESTIMATES].dataset["method"].values]
