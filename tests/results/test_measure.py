"""Measures of a result: by hand from its curve, as its variables, and of many fits."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit

import bayescal as bc
from bayescal.core.errors import InputError
from bayescal.core.functionals import weighted_influence
from bayescal.measures import errors
from bayescal.measures.measure import Measure
from bayescal.measures.registry import resolve
from bayescal.quantities.ece.simulator import sample_panel
from bayescal.results import access
from bayescal.results.bootstrap import Cells, Draws, Rows, curve_by_part, part_weights
from bayescal.results.measure import correlation as correlate
from bayescal.results.measure import measure_correlation, slopes, values_of, with_measures
from bayescal.results.summary import measure_table, records
from tests.several import NAMES, data_of, result_of

WITH_CURVE = ("ece", "ece by group", "ece of three classes", "pu_ece", "credal", "agnostic")
THREE = ("e90", "slope", "brier")


def by_hand(tree: xr.DataTree, group: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The curve of the first case at its cells with rows, in the order of their scores."""
    (case, *_) = access.cases(tree)
    score = access.variable(tree, "constant_data", "cell_score", case).values
    rows = access.variable(tree, "constant_data", "cell_count", case).values
    held = np.flatnonzero(rows > 0)
    held = held[np.argsort(score[held])]
    found = []
    for name in ("rate", "mass"):
        kinds = ("given_", "") if group == "given" else ("",)
        own = next(k for k in kinds if access.has_variable(tree, "curve", f"{k}{name}"))
        draws = access.variable(tree, "curve", f"{own}{name}", case).transpose(
            "chain", "draw", "cell"
        )
        found.append(draws.values[..., held].astype(float))
    return found[0], score[held], found[1]


def e90(rate: np.ndarray, score: np.ndarray, mass: np.ndarray) -> np.ndarray:
    gap = np.abs(rate - score)
    return np.array(
        [
            np.quantile(g, 0.9, weights=m, method="inverted_cdf")
            for g, m in zip(gap, mass, strict=True)
        ]
    )


def slope(rate: np.ndarray, score: np.ndarray, mass: np.ndarray) -> np.ndarray:
    logit = np.log(score / (1 - score))

    def loss(ab: np.ndarray, r: np.ndarray, m: np.ndarray) -> float:
        line = ab[0] + ab[1] * logit
        return float((m * (np.logaddexp(0, line) - r * line)).sum())

    return np.array(
        [minimize(loss, (0, 1), (r, m), tol=1e-12).x[1] for r, m in zip(rate, mass, strict=True)]
    )


def resolution(rate: np.ndarray, score: np.ndarray, mass: np.ndarray) -> np.ndarray:
    return (mass * rate**2).sum(-1) - (mass * rate).sum(-1) ** 2


@pytest.mark.parametrize("key", WITH_CURVE)
@pytest.mark.parametrize(
    ("name", "oracle", "group", "tolerance"),
    [
        ("e90", e90, "curve", 1e-6),
        # The minimiser stops at a loss that is right to about nine digits.
        (Measure("line", "", errors.slope), slope, "curve", 1e-4),
        (
            Measure("resolution", "", resolution, components="miscalibrated"),
            resolution,
            "given",
            1e-6,
        ),
    ],
)
def test_draws_are_those_of_the_curve(
    key: str, name: str | Measure, oracle: Any, group: str, tolerance: float
) -> None:
    tree = result_of(key)
    rate, score, mass = (part[0, :8] if part.ndim > 1 else part for part in by_hand(tree, group))
    draws = bc.measure(tree, name)
    assert draws.dims[:2] == ("chain", "draw")
    found = access.at(draws, access.cases(tree)[0]).values[0, :8]
    np.testing.assert_allclose(found, oracle(rate, score, mass), atol=tolerance)


def test_lines_of_a_rare_event_are_not_those_of_wide_cells() -> None:
    # Scores of the last hundredth are .3 to 1: at their mean the line was another, by 2 sd or more.
    grid = np.linspace(-22, 8, 10_001)
    weight, rate = np.exp(-((grid + 7.5) ** 2) / 18), expit(grid * 2 / 3 - 2.5)
    citl = brentq(lambda a: np.average(expit(a + grid) - rate, weights=weight), -5, 0)
    rng = np.random.default_rng(20)
    logits = -7.5 + 3 * rng.normal(size=100_000)
    label = rng.random(100_000) < expit(logits * 2 / 3 - 2.5)
    scores = bc.Scores(y_true=label, y_prob=expit(logits))
    tree = bc.fit(bc.ece, scores, method="direct", draws=400, chains=2, seed=20)
    for name, expected in {"slope": 2 / 3, "intercept": -2.5, "citl": citl}.items():
        draws = bc.measure(tree, name)
        assert float(draws.mean()) == pytest.approx(expected, abs=1.5 * float(draws.std()))


def test_the_largest_gap_of_a_rare_event_is_not_that_of_a_wide_cell() -> None:
    # Gaps of .8 s are .8 at most; the mean score of the last hundredth is .96, three sd away.
    rng = np.random.default_rng(20)
    score = rng.random(100_000) ** 8
    scores = bc.Scores(y_true=rng.random(100_000) < 0.2 * score, y_prob=score)
    tree = bc.fit(bc.ece, scores, method="direct", draws=400, chains=2, seed=20)
    draws = bc.measure(tree, "emax")
    assert float(draws.mean()) == pytest.approx(0.8, abs=1.5 * float(draws.std()))


@pytest.mark.parametrize("quantity", [bc.ece, bc.credal, bc.pu_ece])
@pytest.mark.parametrize("line", [(0, 1), (-2, 0.7)])
def test_squares_of_a_rare_event_are_not_those_of_wide_cells(
    line: tuple[float, float], quantity: Any
) -> None:
    # Half of the variance of these rates, and of the squared gaps, is within the last hundredth.
    a, b = line
    grid = np.linspace(-10, 3 * 8 - 10, 100_001)
    weight = np.exp(-((grid + 10) ** 2) / 18)
    grid, weight = np.append(grid, -20 - grid), np.append(weight, weight)
    score, rate = expit(grid), expit(a + b * grid)
    squares = np.average((rate - score) ** 2, weights=weight)
    mean = float(np.average(rate, weights=weight))
    variance = np.average((rate - mean) ** 2, weights=weight)
    order = np.argsort(score)[::-1]
    hits, called = (np.cumsum((weight * one)[order]) for one in (rate, np.ones(len(rate))))
    false = weight * (1 - rate)
    known = {
        "brier_discrimination": variance,
        "auprc": np.average(hits / called, weights=(weight * rate)[order]),
        "specificity:0.001": false[score < 0.001].sum() / false.sum(),
    } | ({"brier_miscalibration": squares, "l2": squares**0.5} if a else {})
    rng = np.random.default_rng(20)
    logits = -10 + 3 * rng.normal(size=200_000)
    label = rng.random(200_000) < expit(a + b * logits)
    scores, priors = bc.Scores(y_true=label, y_prob=expit(logits), classifier="rare"), {}
    data: Any = scores
    if quantity is bc.credal:
        data = bc.CalibrationSplit(calibration=scores, target=[0.5])
    elif quantity is bc.pu_ece:
        # The positives of as many rows again, and a class prior that is known to 2.5 percent.
        again = -10 + 3 * rng.normal(size=200_000)
        positive = expit(again[rng.random(200_000) < expit(a + b * again)])
        data = bc.PUScores(positive=positive, unlabeled=expit(logits))
        priors = {"priors": bc.pu_ece.Priors(bc.Beta(1600, 1600 / mean - 1600))}
    tree = bc.fit(quantity, data, **priors, method="direct", draws=400, chains=2, seed=20)
    for name, expected in known.items():
        lower, upper = bc.interval(tree, name).values
        assert lower <= expected <= upper
        # Of 200 to 500 events, the standard errors are about a tenth; cells alone have half.
        assert float(bc.measure(tree, name).mean()) == pytest.approx(expected, rel=0.3)


def test_parts_of_a_curve_add_up_to_its_cells() -> None:
    part, own = np.array([0.05, 0.15, 0.5, 0.85, 0.95, 1]), np.array([0, 0, 1, 2, 2, 3])
    score, line = np.array([0.075, 0.5, 0.9, 1]), np.array([0.5, 0.8])
    curves = [score, expit(logit(score) + 1), expit(line[0] + line[1] * logit(score))]
    curves.append(np.array([0, 0.4, 0.4, 1]))
    mass = np.random.default_rng(20).dirichlet(np.ones(4), 4)[None]
    rows = Rows(part, np.array([3.0, 1, 4, 2, 2, 1]), np.zeros(6), own)
    cells = Cells(np.stack(curves)[None], score, mass)
    weight = part_weights(rows, Draws(4, np.arange(4)), np.random.default_rng(20))
    found = curve_by_part(cells, rows, weight)
    expected = [part, expit(logit(part) + 1), expit(line[0] + line[1] * logit(part))]
    expected.append(np.array([0, 0, 0.4, 0.4, 0.4, 1]))
    np.testing.assert_array_equal(found.rate[0, 0], part)
    np.testing.assert_allclose(found.rate[0, 3], expected[3])
    # What the curves have at the cells' scores is the mean of their parts; they bend in between.
    np.testing.assert_allclose(found.rate[0], expected, atol=0.02)
    means = np.add.reduceat(rows.number * found.rate[0], [0, 2, 3, 5], axis=-1) / [4, 4, 4, 1]
    np.testing.assert_allclose(means, curves, atol=2e-4)
    np.testing.assert_allclose(np.add.reduceat(found.mass, [0, 2, 3, 5], axis=-1), mass)


@pytest.mark.parametrize("key", ["ece by group", "credal"])
def test_as_variables_they_leave_the_answers_alone(key: str, tmp_path: Path) -> None:
    tree = result_of(key)
    found = with_measures(tree, [*THREE, "net_benefit:.25", "e90"])
    names = [*THREE, "net_benefit:0.25"]
    assert access.measure_names(found) == names
    assert access.answers(found) == access.answers(tree)
    assert access.main(found) == access.main(tree)
    assert set(tree["posterior"].data_vars) == set(result_of(key)["posterior"].data_vars)
    bc.save(found, tmp_path / "result.nc")
    loaded = bc.load(tmp_path / "result.nc")
    assert loaded.identical(found)
    table = bc.summary(loaded)
    rows = set(table["metric"]) if "metric" in table else {one[:-5] for one in table}
    assert set(names) <= rows
    assert records(loaded, 0.9) == records(tree, 0.9, names)


@pytest.mark.parametrize("key", WITH_CURVE)
@pytest.mark.parametrize("name", THREE)
def test_what_reads_a_result_reads_a_measure(key: str, name: str) -> None:
    tree = result_of(key)
    draws = bc.measure(tree, name)
    bounds = bc.interval(tree, name)
    inside = (draws >= bounds[..., 0]) & (draws <= bounds[..., 1])
    assert (inside.mean(["chain", "draw"]) >= 0.89).all()
    scaled = bc.power_scale(tree, name)
    assert set(scaled["quantity"]) == {name}
    of_rows = scaled["diagnosis"] == "of the rows alone, whatever the prior"
    assert of_rows.all() == of_rows.any() == (name == "brier" and key != "pu_ece")


@pytest.mark.parametrize("read", [bc.summary, bc.metrics])
def test_tables_have_no_measure_of_each_class_of_a_row(read: Any) -> None:
    result = result_of("credal of three classes")
    message = r"one number a case; 'e90' has one .* classes '0', '1', '2'\. Read bayescal\.interval"
    with pytest.raises(InputError, match=message):
        read(result, measures=["e90"])
    assert bc.interval(result, "e90").dims == ("classifier", "label_class", "ci_bound")


@pytest.mark.parametrize("key", ["ece", "agnostic"])
def test_classifiers_are_compared_by_it(key: str) -> None:
    tree = result_of(key)
    for name in ("mean_gap", "e90", "brier"):
        apart = bc.difference(tree, *NAMES[:2], name)
        draws = [bc.measure(tree, name).sel(classifier=one) for one in NAMES[:2]]
        # The same draws; those of a measure of rows are others, of common weights.
        error = 4 * np.hypot(*(float(one.std()) / one.size**0.5 for one in draws))
        tolerance = error if name == "brier" else 1e-9
        assert apart.mean == pytest.approx(float((draws[0] - draws[1]).mean()), abs=tolerance)
    assert float(bc.best(tree, "brier").prob_best.sum()) == pytest.approx(1)
    with pytest.raises(bc.InputError, match=r"more of 'slope' is better.*Measure with `better`"):
        bc.best(tree, "slope")
    for compare in (bc.best, lambda *given: bc.difference(given[0], *NAMES[:2], given[1])):
        with pytest.raises(bc.InputError, match="by what rows tell apart"):
            compare(tree, "brier_discrimination")


def test_the_mean_over_classes() -> None:
    tree = result_of("ece of three classes")
    found = bc.marginal(tree, "e90", classifier="sharp")
    assert found.mean == pytest.approx(
        float(bc.measure(tree, "e90").sel(classifier="sharp").mean())
    )
    with pytest.raises(bc.InputError, match="a calibration error"):
        bc.marginal(tree, "slope", classifier="sharp")


@pytest.mark.parametrize(
    "place",
    [{"chain": 0}, {"draw": slice(0, 40)}, {"chain": 0, "draw": 3}, {"classifier": "plain"}],
)
def test_of_a_selection(place: dict[str, Any]) -> None:
    tree = result_of("ece")
    names = [*THREE, "l2"]
    found = with_measures(tree.sel(place), names)
    for name in names:
        expected = bc.measure(tree, name).sel(place)
        # Sums over arrays of other shapes round otherwise.
        np.testing.assert_allclose(found["posterior"][name], expected, rtol=1e-12)


def test_the_terminal_shows_them_within_80_columns() -> None:
    found = measure_table(result_of("ece"), 0.9, [*THREE, "net_benefit_all:.25", "tce"])
    assert found is not None
    assert [row[:2] for row in found.rows[:2]] == [("plain", "e90"), ("", "slope")]
    assert (
        sum(max(map(len, column)) + 3 for column in zip(found.columns, *found.rows, strict=True))
        <= 80
    )
    # The plug-in beside the error without bins is that of bins.
    assert found.rows[4][1:3] == ("tce", "–")
    assert measure_table(result_of("ece"), 0.9) is None


@pytest.mark.filterwarnings("ignore")
def test_the_intercept_is_the_measure_and_has_its_plug_in() -> None:
    score = np.repeat([0.2, 0.4, 0.6, 0.8], 50)
    event = np.tile(np.arange(50), 4) < np.repeat([15, 20, 25, 45], 50)
    logit = np.log(score / (1 - score))
    side = 1 - 2 * event
    found = minimize(lambda line: np.logaddexp(0, side * (line[0] + line[1] * logit)).sum(), [0, 1])
    fitted = bc.fit(bc.ece, bc.Scores(event, score), method="direct", draws=100, seed=1)
    row = bc.summary(fitted, measures=["intercept", "slope"]).iloc[0]
    np.testing.assert_allclose(row[["intercept_point", "slope_point"]].astype(float), found.x, 1e-4)
    shown = with_measures(fitted, ["intercept"])
    assert access.described(shown, "intercept").title == "calibration intercept"


def test_a_number_of_the_model_is_not_taken_for_a_measure() -> None:
    rows = bc.Scores(np.arange(60) % 3 > 0, np.linspace(0.1, 0.9, 60))
    data = bc.CalibrationSplit(calibration=rows, target=[0.5])
    prior = bc.credal.Priors(label_rate=bc.credal.MonotoneCurve())
    rising = bc.fit(bc.credal, data, priors=prior, method="direct", seed=1)
    with pytest.raises(InputError, match=r"intercept is a number of .* model.*measure\("):
        bc.summary(rising, measures=["intercept"])
    assert not np.array_equal(bc.measure(rising, "intercept"), rising["posterior/intercept"])


def test_under_several_priors() -> None:
    quantity, data, _ = data_of("ece", NAMES[:1])
    with pytest.warns(bc.ConvergenceWarning):
        tree = bc.prior_sensitivity(
            quantity,
            data,
            {"a": bc.ece.Priors(), "b": bc.ece.Priors(bc.ece.SmoothCurve(scale=0.2))},
            method="direct",
            draws=100,
            chains=2,
            seed=1,
            var="e90",
        )
    assert tree.attrs["conclusion_var"] == "e90"
    (found,) = bc.conclusions(tree, "brier", threshold=0.2)
    means = bc.measure(tree, "brier").mean(["chain", "draw"])
    assert [row.mean for row in found.rows] == pytest.approx(means.values.ravel().tolist())


@pytest.mark.filterwarnings("ignore")
def test_of_many_fits() -> None:
    quantity, data, _ = data_of("ece", NAMES[:1])
    how = {"method": "direct", "draws": 50, "chains": 2, "seed": 1}
    whole, small = (
        bc.fit_many(quantity, {"x": data}, keep=keep, **how) for keep in ("draws", "scalars")
    )
    assert bc.measure(whole["x"], "e90").shape == (2, 50)
    with pytest.raises(bc.InputError, match="keep='draws'"):
        bc.interval(small["x"], "e90")


def flat(rate: Any, score: Any, mass: Any) -> Any:
    return rate


def undefined(rate: Any, score: Any, mass: Any) -> Any:
    return rate.sum(-1) * np.nan


def tce(rate: Any, score: Any, mass: Any) -> Any:
    return rate.sum(axis=2)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("e99", "no variable or measure 'e99'; did you mean 'e90'"),
        ("net_benefit", "needs a threshold; got none. Write net_benefit:0.25, or in P"),
        ("net_benefit:2", r"threshold must be a number in \(0, 1\); got 2.0"),
        ("accuracy:a", "must be numbers; got 'accuracy:a'"),
        ("slope:3", "must be given as slope; got 'slope:3'"),
        (flat, r"flat must give one value a draw, shape \(4, 150\); got \(4, 150, 105\)"),
        (undefined, "undefined must be a finite number in every draw; it is not for plain"),
        (tce, "name of its own among the variables of a result; 'tce' is taken"),
        (3, "no measure '3'"),
        (lambda rate: rate, r"of rate, score, mass; got <lambda>\(rate\). Define it as f\(rate, s"),
        ("p_calibrated", r"without. Take result\['model_average/p_calibrated'\]"),
    ],
)
def test_what_is_no_measure(spec: Any, message: str) -> None:
    with pytest.raises(bc.InputError, match=message):
        bc.interval(result_of("ece"), spec)


def test_a_function_is_one_by_its_name() -> None:
    def largest(rate: Any, score: Any, mass: Any) -> Any:
        return np.abs(np.cumsum(mass * (score - rate), axis=2)).max(axis=2)

    found = bc.interval(result_of("ece"), largest)
    np.testing.assert_array_equal(found, bc.interval(result_of("ece"), "ks"))
    with pytest.raises(bc.InputError, match="name of its own"):
        bc.summary(result_of("ece"), measures=[largest, largest])


def test_where_no_event_is_expected_the_ratio_says_so() -> None:
    never = bc.fit(bc.ece, bc.Scores([0, 1] * 20, np.zeros(40)), method="direct", seed=1)
    with pytest.raises(InputError, match="every score is 0: choose mean_gap"):
        bc.measure(never, "oe")
    assert bc.measure(never, "mean_gap").mean() > 0


@pytest.mark.filterwarnings("ignore")
def test_an_infinite_log_loss_names_the_remedy() -> None:
    score = np.tile([0.0, 0.3, 0.6, 0.9], 50)
    label = (np.arange(200) % 3 == 0).astype(int)
    tree = bc.fit(
        "ece", bc.Scores(y_true=label, y_prob=score), method="direct", draws=50, chains=2, seed=1
    )
    with pytest.raises(bc.InputError, match="a score of exactly 0 or 1 is wrong: clip the scores"):
        bc.measure(tree, "log_loss")


@pytest.mark.parametrize("read", [bc.measure, bc.interval, bc.best])
def test_a_result_without_a_curve_says_what_to_fit(read: Any) -> None:
    with pytest.raises(bc.InputError, match=r"holds none\. Choose from ece, .* or fit"):
        read(result_of("temperature"), "e90")


@pytest.mark.parametrize("measures", [3, None, ["e99"], [3]])
def test_what_a_summary_refuses(measures: Any) -> None:
    with pytest.raises(bc.InputError, match="measure"):
        bc.summary(result_of("ece"), measures=measures)


@pytest.mark.parametrize(
    ("draw", "var"),
    [
        (bc.plots.plot_posterior, "e90"),
        (bc.plots.plot_comparison, "e90"),
        (bc.plots.plot_differences, "slope"),
        (bc.plots.plot_metrics, "mean_gap"),
        (bc.plots.plot_ranks, "brier"),
    ],
)
def test_pictures_of_it(draw: Any, var: str) -> None:
    tree = result_of("ece")
    (axes, *_) = draw(tree, var).axes
    low, high = axes.get_xlim()
    if draw is bc.plots.plot_metrics:
        bounds = bc.interval(tree, var)
        assert low < float(bounds.min()) < 0 < float(bounds.max()) < high
    title = access.described(with_measures(tree, [var]), var).title
    assert title.casefold() in axes.get_xlabel().casefold() or draw is bc.plots.plot_posterior


def test_a_forest_of_errors_refuses_what_is_none() -> None:
    with pytest.raises(bc.InputError, match="one of the calibration errors; got var 'slope'"):
        bc.plots.plot_comparison(result_of("ece"), "slope")


PANEL = sample_panel(600, seed=5, names=["less", "better", "over"])
SCORES = bc.Scores.stack(PANEL.score, y_true=PANEL.label)


def classes() -> bc.Scores:
    rng = np.random.default_rng(2)
    first, second = rng.dirichlet([2.0, 3.0, 4.0], (2, 120))
    return bc.Scores.stack({"a": first, "b": second}, y_true=np.arange(120) % 3)


def fit(data: bc.Scores, quantity: Any = bc.ece, **options: object) -> xr.DataTree:
    """Of a curve or its absence, a third of the time of the average by default."""
    priors = quantity.Priors(label_rate=bc.ece.CurveAverage(rough=0, segments=0, linear=0))
    how = {"method": "direct", "draws": 500, "chains": 2, "seed": 20}
    return bc.fit(quantity, data, priors=priors, **how, **options)


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    return fit(SCORES)


@pytest.mark.parametrize(
    ("quantity", "data", "options", "dims"),
    [
        (bc.ece, SCORES, {}, ("classifier", "shared_row")),
        (bc.agnostic, SCORES, {}, ("classifier", "shared_row")),
        (bc.ece, classes(), {}, ("classifier", "shared_row")),
        (bc.ece, classes(), {"multiclass": "class-wise"}, ("classifier", "class", "shared_row")),
    ],
)
def test_a_result_holds_the_cells_and_labels_of_shared_rows(quantity, data, options, dims) -> None:
    tree = fit(data, quantity, **options)
    rows, constant = tree["shared_rows"].dataset, tree["constant_data"].dataset
    assert rows["cell"].dims == rows["label"].dims == dims
    count = constant["cell_count"].values.reshape(-1, constant.sizes["cell"])
    cell, label = (rows[name].values.reshape(len(count), -1) for name in ("cell", "label"))
    for own, expected, events in zip(cell, count, label, strict=True):
        np.testing.assert_array_equal(np.bincount(own, minlength=len(expected)), expected)
        assert set(events) == {0, 1}


def test_classifiers_that_call_the_same_rows_tie_in_every_draw() -> None:
    rng = np.random.default_rng(3)
    score = rng.uniform(0.4, 0.9, 400)
    near = score + rng.uniform(-0.05, 0.05, 400)
    scores = bc.Scores.stack({"a": score, "b": near}, y_true=rng.random(400) < score)
    tree = fit(scores)
    # Every row is called at .2, and none at .99; only the cells differ.
    for name in ("accuracy:0.2", "net_benefit:0.2", "accuracy:0.99"):
        found = bc.difference(tree, "a", "b", name)
        assert (found.prob_first_larger, found.prob_equal, found.mean) == (0, 1, 0)
        assert bc.best(tree, name).prob_best.values.tolist() == [0.5, 0.5]


def test_what_shares_no_rows_holds_none() -> None:
    grouped = bc.Scores.stack(PANEL.score, y_true=PANEL.label, group=np.arange(600) % 2)
    counts = {
        name: bc.Counts.from_arrays(PANEL.label, score) for name, score in PANEL.score.items()
    }
    for data in (SCORES.select("less"), grouped, counts):
        assert "shared_rows" not in fit(data).children


def test_rows_are_kept_by_files_and_selections(tree: xr.DataTree, tmp_path: Path) -> None:
    loaded = bc.load(bc.save(tree, tmp_path / "result.nc"))
    xr.testing.assert_identical(loaded["shared_rows"].dataset, tree["shared_rows"].dataset)
    few = loaded.sel(classifier=["over", "less"])
    one = loaded.sel(classifier="over")
    assert few["shared_rows"]["cell"].dims == ("classifier", "shared_row")
    np.testing.assert_array_equal(one["shared_rows"]["cell"], few["shared_rows"]["cell"][0])


def test_classifiers_are_compared_by_rows_in_one_chain_as_in_all(tree: xr.DataTree) -> None:
    one = bc.difference(tree.isel(chain=0), "over", "less", "brier")
    of_all = bc.difference(tree, "over", "less", "brier").draws
    np.testing.assert_allclose(one.draws, of_all[:500], atol=1e-12)
    assert bc.best(tree.isel(chain=0), "brier").name == bc.best(tree, "brier").name


def test_slopes_are_the_derivatives() -> None:
    rng = np.random.default_rng(1)
    rate, mass = rng.uniform(0.2, 0.8, (200, 5)), rng.dirichlet(np.full(5, 30.0), 200)
    score, w, eta = np.linspace(0.1, 0.9, 5), mass.mean(axis=0), rate.mean(axis=0)
    # Quadratic in the rate and linear in the masses: central differences are exact.
    by_rate, by_mass = slopes(lambda r, s, m: (m * (r - s) ** 2).sum(axis=-1), rate, score, mass)
    np.testing.assert_allclose(by_rate, 2 * w * (eta - score))
    np.testing.assert_allclose(by_mass, (eta - score) ** 2 - w @ (eta - score) ** 2)


def correlation(tree: xr.DataTree, name: str) -> np.ndarray:
    return measure_correlation(tree, resolve(name).function, access.cases(tree))


@pytest.mark.parametrize("name", ["brier", "accuracy:.5", "auc", "net_benefit:.25", "mean_gap"])
def test_correlations_are_those_of_the_bayesian_bootstrap(tree: xr.DataTree, name: str) -> None:
    rows, score = tree["shared_rows"].dataset, tree["constant_data"]["cell_score"].values
    weight = np.random.default_rng(7).dirichlet(np.ones(rows.sizes["shared_row"]), 2000)
    values = []
    for cell, label, at in zip(rows["cell"].values, rows["label"].values, score, strict=True):
        held = np.eye(cell.max() + 1)[cell]
        mass, positive = weight @ held, weight @ (held * label[:, None])
        values.append(resolve(name).function(positive / mass, at[: mass.shape[1]], mass))
    # Four standard errors of 2,000 resamples, .02 each, and as much for the smoothed curve.
    np.testing.assert_allclose(correlation(tree, name), np.corrcoef(values), atol=0.1)


def test_that_of_the_calibration_error_is_near_the_stored_one(tree: xr.DataTree) -> None:
    stored = tree["error_correlation"]["correlation"].values
    # Another account of cells whose gap may be of either sign.
    np.testing.assert_allclose(correlation(tree, "tce"), stored, atol=0.15)


def test_what_does_not_vary_has_no_correlation(tree: xr.DataTree) -> None:
    found = measure_correlation(tree, lambda rate, s, w: 0 * rate[..., 0], access.cases(tree))
    np.testing.assert_array_equal(found, np.eye(3))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_one_row_has_no_correlation_and_no_warning() -> None:
    np.testing.assert_array_equal(correlate([np.ones(1), np.zeros(1)]), np.eye(2))


def test_a_weight_of_two_is_a_row_twice() -> None:
    rng = np.random.default_rng(4)
    influence, weight = rng.normal(size=(2, 50)), np.ones(50)
    weight[:20] = 2
    twice = np.concatenate([influence, influence[:, :20]], axis=1)
    found = [weighted_influence(one, weight) for one in influence]
    centred = twice - twice.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found[0].sum(), 0, atol=1e-9)
    per_row = centred[:, :50] * weight / weight.mean()
    np.testing.assert_allclose(found, per_row)


@pytest.mark.parametrize("quantity", [bc.ece, bc.agnostic])
def test_classifiers_are_compared_by_any_measure(tree: xr.DataTree, quantity: object) -> None:
    result = tree if quantity is bc.ece else fit(SCORES, quantity)
    for name in ("slope", "e90"):
        found = bc.difference(result, "less", "over", name)
        other = bc.difference(result, "over", "less", name)
        assert found.lower <= found.mean <= found.upper
        assert (found.lower, found.upper) == pytest.approx((-other.upper, -other.lower))
        pair = measure_correlation(
            result, resolve(name).function, [access.find_case(result, n) for n in ("less", "over")]
        )
        assert found.correlation == pytest.approx(pair[0, 1])
    apart = bc.difference(result, "less", "over", "log_loss")
    # A mean over rows: the interval is that of the paired draws.
    assert apart.lower == pytest.approx(np.quantile(apart.draws, 0.05))
    assert float(bc.best(result, "log_loss").prob_best.sum()) == pytest.approx(1)


def test_near_copies_differ_in_log_loss_as_their_rows_do() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=2000)
    label = rng.random(2000) < expit(2 * x)
    copies = {"a": expit(2 * x), "b": expit(2.05 * x)}
    loss = [-np.log(np.where(label, p, 1 - p)) for p in copies.values()]
    error = np.std(loss[0] - loss[1]) / 2000**0.5
    found = bc.difference(fit(bc.Scores.stack(copies, y_true=label)), "a", "b", "log_loss")
    assert found.mean == pytest.approx(np.mean(loss[0] - loss[1]), abs=error / 4)
    assert found.upper - found.lower == pytest.approx(2 * 1.645 * error, rel=0.2)


def test_classifiers_are_compared_by_a_function(tree: xr.DataTree) -> None:
    def largest_sum(rate: np.ndarray, score: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return np.abs(np.cumsum(mass * (score - rate), axis=-1)).max(axis=-1)

    by_function = bc.difference(tree, "less", "over", largest_sum)
    by_name = bc.difference(tree, "less", "over", "ks")
    assert by_function.correlation == pytest.approx(by_name.correlation)
    assert by_function.mean == pytest.approx(by_name.mean)


def test_stored_correlations_are_kept(tree: xr.DataTree) -> None:
    stored = float(tree["error_correlation"]["correlation"][0, 2])
    assert bc.difference(tree, "less", "over", "tce").correlation == pytest.approx(stored)


def test_classes_are_compared_by_errors_and_measures() -> None:
    result = fit(classes(), multiclass="class-wise")
    for name in ("tce", "ece", "mce", "brier"):
        assert np.isfinite(bc.difference(result, "a", "b", name, class_="1").correlation)
        assert bc.best(result, name).prob_best.sizes == {"class": 3, "classifier": 2}


def test_a_selected_class_is_compared_by_a_measure_as_among_all() -> None:
    result = result_of("ece of three classes")
    selected, both = result.sel({"class": "1"}), ("plain", "sharp", "e90")
    one, among = bc.difference(selected, *both), bc.difference(result, *both, class_="1")
    np.testing.assert_array_equal(one.draws, among.draws)
    chances = bc.best(selected, "e90").prob_best, bc.best(result, "e90", class_="1").prob_best
    np.testing.assert_array_equal(*chances)


def test_without_shared_rows_the_remedy_is_named(tree: xr.DataTree) -> None:
    old = tree.copy()
    del old["shared_rows"]
    for compare in (
        lambda: bc.difference(old, "less", "over", "brier"),
        lambda: bc.best(old, "auc"),
    ):
        with pytest.raises(InputError, match=r"rows that they share.*Scores\.stack"):
            compare()


@pytest.mark.parametrize("name", ["slope", "intercept", "oe"])
def test_an_interval_of_signed_measures_has_its_ends_in_order(tree: xr.DataTree, name: str) -> None:
    for first, second in (("less", "better"), ("better", "over"), ("over", "less")):
        found = bc.difference(tree, first, second, name)
        inside = (found.draws >= found.lower) & (found.draws <= found.upper)
        assert inside.mean() >= 0.9


def test_a_line_beyond_all_numbers_is_refused_without_a_warning_of_numpy():
    """Newton's steps grow until exponentials overflow: one score has all of the rows."""
    rate, score = np.array([0.68, 0.0, 0.0, 0.0]), np.array([0.1, 0.7, 0.9, 0.999])
    mass = np.array([3.6e-17, 0.24, 4e-6, 0.76])
    cells = Cells(rate[None, None], score, mass[None, None] / mass.sum())
    with pytest.raises(InputError, match="slope must be a finite number in every draw"):
        next(values_of(cells, [resolve("slope")], access.cases(result_of("ece"))[0], {}))


@cache
def one_group_without_events() -> tuple[xr.DataTree, dict[str, float]]:
    """A fit of three groups, one of which has no event; and the AUC of each of the others."""
    rng = np.random.default_rng(4)
    score = rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], 360)
    group = np.repeat(["a", "b", "c"], 120)
    label = ((rng.random(360) < score) & (group != "c")).astype(int)
    area = {}
    for name in ("a", "b"):
        high, low = (score[(group == name) & (label == one)] for one in (1, 0))
        area[name] = np.mean((high[:, None] > low) + (high[:, None] == low) / 2)
    scores = bc.Scores(y_true=label, y_prob=score, group=group)
    return bc.fit(bc.ece, scores, method="direct", draws=250, seed=3), area


NO_AREA = "auc has no value for classifier, group c, the others have one. .* collect rows of"


def test_groups_of_both_labels_have_their_auc_beside_one_that_has_none() -> None:
    tree, area = one_group_without_events()
    with pytest.warns(bc.DataWarning, match=NO_AREA):
        table = bc.summary(tree, measures=["auc"]).set_index("group")
    for name, value in area.items():
        assert table.loc[name, "auc_point"] == pytest.approx(value)
        # The mean of 1,000 draws of the bootstrap, whose two further rows move it by 2 / 122.
        assert table.loc[name, "auc_mean"] == pytest.approx(value, abs=0.02)
    assert table.loc["c", ["auc_point", "auc_mean", "auc_lower"]].isna().all()
    with pytest.warns(bc.DataWarning, match=NO_AREA):
        draws = bc.measure(tree, "auc")
    alone = bc.measure(tree.sel(group=["a", "b"]), "auc")
    np.testing.assert_array_equal(draws.sel(group=["a", "b"]), alone)
    with pytest.raises(InputError, match="it is not for classifier, group c"):
        bc.measure(tree.sel(group=["c"]), "auc")


PROB = np.random.default_rng(5).dirichlet([1, 1, 1], 120)
UNIFORM = np.random.default_rng(6).random(120)
FEW = {"method": "direct", "draws": 250, "seed": 3}


@pytest.mark.parametrize(
    ("fit", "dim"),
    [
        (lambda given: bc.fit(bc.ece, given, multiclass="class-wise", **FEW), "class"),
        (
            lambda given: bc.fit(
                bc.credal, bc.CalibrationSplit(calibration=given, target=PROB[:2]), **FEW
            ),
            "label_class",
        ),
    ],
)
def test_classes_with_both_labels_have_their_auc_beside_one_that_has_none(fit, dim) -> None:
    label = (PROB[:, 1] / PROB[:, :2].sum(axis=1) > UNIFORM).astype(int)
    result = fit(bc.Scores(y_true=label, y_prob=PROB))
    with pytest.warns(bc.DataWarning, match="no value for classifier, class 2, the others have"):
        draws = bc.measure(result, "auc")
    for k in (0, 1):
        high, low = (PROB[(label == k) == one, k] for one in (True, False))
        area = np.mean(high[:, None] > low)
        # Two further rows of the bootstrap move the mean by 2 / 122.
        assert draws.sel({dim: str(k)}).mean() == pytest.approx(area, abs=0.02)
    assert draws.sel({dim: "2"}).isnull().all()


@pytest.mark.parametrize(
    "read",
    [
        lambda tree: bc.measure(tree, "auc"),
        lambda tree: bc.summary(tree, measures=["auc"]),
        lambda tree: bc.metrics(tree, ["auc"]),
        lambda tree: bc.interval(tree, "auc"),
    ],
)
def test_a_warning_stands_at_the_line_that_called(read: Any) -> None:
    tree, _ = one_group_without_events()
    with pytest.warns(bc.DataWarning, match=NO_AREA) as said:
        read(tree)
    assert [one.filename for one in said] == [__file__]


@pytest.mark.parametrize(("name", "said"), [("citl", "0 and 1: choose"), ("slope", "two values")])
def test_one_label_or_score_is_named_where_a_curve_has_no_line(name: str, said: str) -> None:
    one_label = bc.fit(bc.ece, bc.Scores(np.ones(120), UNIFORM), **FEW)
    with pytest.raises(
        InputError, match=f"{name} must be .* rows of both labels .*{said}.*mean_gap"
    ):
        bc.measure(one_label, name)
    one_score = bc.fit(bc.ece, bc.Scores(UNIFORM < 0.3, np.full(120, 0.4)), **FEW)
    if name == "citl":  # of a single score it has a value
        assert bc.measure(one_score, name).notnull().all()
