"""Every kind of object shows itself, the same with bayescal.show as without."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len

import bayescal as bc
from bayescal.results.assemble import combine
from bayescal.results.summary import table
from tests.report.pages import HOSTILE, Page, words
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_grid, make_credal_result, make_split
from tests.synthetic_ssme import make_panel_result

RNG = np.random.default_rng(3)
SCORE = RNG.random(200)
LABEL = (RNG.random(200) < SCORE).astype(int)
EVIL = HOSTILE[0]


def scores(**more: Any) -> bc.Scores:
    """Two classifiers on the same rows."""
    both = {EVIL: SCORE, "other": SCORE**2}
    return bc.Scores.stack(both, y_true=LABEL, **more)


def plan() -> Any:
    """Of a smooth curve, a tenth of the time of the average."""
    priors = bc.ece.Priors(bc.ece.SmoothCurve())
    pilot = bc.fit(bc.ece, bc.Scores(LABEL, SCORE), priors=priors, method="direct", seed=1)
    return bc.plan_labels(pilot, n=[100, 400], replications=3)


def fits() -> bc.ManyFits:
    """Two fits, one of which fails."""
    data = {EVIL: bc.Scores(LABEL, SCORE), "broken": 3}
    with pytest.warns(bc.ManyFitsWarning):
        return bc.fit_many(bc.ece, data, method="direct", seed=1)


SHOWING: dict[str, Callable[[], Any]] = {
    "Scores": scores,
    "Scores with groups and weights": lambda: scores(
        group=np.where(LABEL, EVIL, "b"), sample_weight=1 + SCORE
    ),
    "Scores of classes": lambda: bc.Scores([0, 1, 2, None], np.full((4, 3), 1 / 3)),
    "PUScores": lambda: bc.PUScores(positive=SCORE[LABEL == 1], unlabeled=SCORE, classifier=EVIL),
    "CalibrationSplit": lambda: make_split((EVIL,)),
    "Counts": lambda: bc.Counts.from_arrays(LABEL, SCORE),
    "CountTable": lambda: bc.Counts.from_scores(scores(group=LABEL)),
    "Difference": lambda: bc.difference(make_result((EVIL, "b"), draws=100), EVIL, "b"),
    "Best": lambda: bc.best(make_result((EVIL, "b"), draws=100)),
    "Best by group": lambda: bc.best(make_panel_result((EVIL, "b"), ("x", "y")), "auc"),
    "LabelPlan": plan,
    "LabelPlan with a limit": lambda: plan().with_limit(0.05),
    "Change": lambda: bc.change([make_result((EVIL,), draws=100, seed=k) for k in range(2)]),
    "DecisionCurve": lambda: bc.decision_curve(make_result((EVIL, "b"), draws=100)),
    "ManyFits": fits,
}
RESULTS: dict[str, Callable[[], Any]] = {
    "one classifier": lambda: make_result((EVIL,), draws=100),
    "several classifiers": lambda: make_result(HOSTILE, draws=50),
    "classes and groups": lambda: make_result((EVIL, "b"), ("0", "1"), ("x", "y"), draws=50),
    "many cases": lambda: make_result([f"c{k}" for k in range(35)], draws=20),
    "several priors": lambda: bc.prior_sensitivity(
        bc.ece,
        bc.Scores(LABEL, SCORE),
        {"average": bc.ece.Priors(), "bins": bc.ece.Priors(bc.ece.IndependentBins())},
        method="direct",
        draws=250,
        seed=1,
    ),
    "positives and unlabelled rows": lambda: bc.fit(
        bc.pu_ece,
        SHOWING["PUScores"](),
        priors=bc.pu_ece.Priors(bc.Beta(8, 8), bc.pu_ece.SmoothCurve()),
        method="direct",
        draws=250,
        seed=1,
    ),
    "a panel": lambda: make_panel_result((EVIL, "b", "c")),
    "a panel with groups": lambda: make_panel_result((EVIL, "b"), ("x", "y")),
    "rows": lambda: make_credal_result((EVIL, "b")),
    "rows under several priors": lambda: make_credal_grid((EVIL,)),
    "intervals": lambda: bc.fit(bc.agnostic, scores(), method="direct", draws=250, seed=1),
    "temperatures": lambda: bc.fit(bc.temperature, scores(), method="direct", seed=1, chains=2),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "estimate": lambda: bc.ece.estimate(bc.Scores(LABEL, SCORE)),
    "power scaling": lambda: bc.power_scale(make_result((EVIL,), draws=200, prior=True)),
    "summary": lambda: bc.summary(make_panel_result((EVIL, "b"))),
    "table": lambda: pd.DataFrame({"a": [EVIL] * 40, "b": range(40), "c": [None] * 40}),
    "shown": lambda: bc.show(bc.Scores(LABEL, SCORE, classifier=EVIL)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SHOWING, *RESULTS, *OTHERS])
def test_everything_shows_itself(name: str) -> None:
    made = {**SHOWING, **RESULTS, **OTHERS}[name]()
    found = bc.show(made)
    lines = found.text(80).splitlines()
    assert lines
    assert max(map(cell_len, lines)) <= 80
    html = found._repr_html_()
    page = Page(html)
    assert not page.all("script")
    assert not page.ids
    assert "src=" not in html
    assert "url(" not in html
    if name in SHOWING:
        assert made._repr_html_() == html


def test_the_answer_is_that_of_the_report() -> None:
    result = make_result(("vit",), draws=100, p_calibrated=0.2)
    found = bc.show(result, 0.8)
    assert found.columns[1].casefold() == table(result, 0.8).columns[2].casefold()
    text = words(found.text(80))
    high = float(bc.interval(result, "tce", 0.8).sel(ci_bound="upper").item())
    assert "The calibration error of vit is" in text
    assert f"(80% credible interval 0 to {high:.3f})" in text
    assert "calibrated is 0.20" in text
    assert "2,000 labelled rows" in text


def test_the_conclusion_is_on_what_is_shown() -> None:
    priors = {"x": 0.2, "y": 0.3, "z": 0.4}
    grid = combine({one: make_result(("a", "b"), p_calibrated=p) for one, p in priors.items()})
    grid.attrs["conclusion"] = "The conclusions on a and b under x, y and z."
    (lead,) = bc.show(grid.sel(prior=["z", "x"], classifier="b"), 0.8).lead
    assert lead.startswith("The conclusion on the calibration error is robust")
    assert "under both priors the 80% intervals overlap" in lead
    assert "under z" in lead


def test_only_an_estimate_is_called_one() -> None:
    assert "without a posterior" in bc.show(OTHERS["estimate"]()).text(80)
    mean = bc.marginal(make_result(("a",), ("0", "1"), draws=50))
    shown = bc.show(mean)
    assert shown.lead == [mean.text]
    assert "text" not in dict(shown.rows)
    test = bc.agnostic.calibration_test(SCORE, label=LABEL, draws=99, seed=1)
    assert bc.show(test).lead == []


def test_what_did_not_converge_is_marked_with_its_remedy() -> None:
    for result in (
        make_result(("vit",), draws=50, converged=False),
        make_panel_result(("vit", "b"), converged=False, status="Sample longer."),
    ):
        found = bc.show(result)
        said = " ".join(str(result.attrs["status"]).split())
        assert said in words(found.text(80))
        page = Page(found._repr_html_())
        assert "did not converge" in page.all("p")[0].text
        assert said in words(page.all("p")[0].text)
        assert "not converged" in found.text(80)
        assert "status" not in found.columns  # once is enough


def test_a_classifier_may_be_called_as_a_status_is() -> None:
    found = bc.show(make_panel_result(("ok", "NOT CONVERGED"), draws=20))
    assert found.columns[0] == "Classifier"
    assert [row[0] for row in found.rows] == ["ok", "NOT CONVERGED"]


@pytest.mark.parametrize("group", ["y", ["y"]])
def test_what_was_selected_is_named(group: str | list[str]) -> None:
    result = make_result(("a", "b"), groups=("x", "y"), draws=100).sel(group=group)
    both, one = bc.show(result), bc.show(result.sel(classifier="b"))
    assert both.columns[0] == one.columns[0] == "Classifier"
    assert sorted(row[0] for row in both.rows) == ["a", "b"]
    assert "b, group y" in words(str(one.lead[0]))
    assert [row[0] for row in one.rows] == ["b, group y"]
    for shown in (both, one):
        assert shown.origin.startswith("Expected calibration error, group y · ")
        assert "rows in all groups · " in shown.origin


@pytest.mark.parametrize("along", ["classes", "groups"])
def test_the_one_classifier_of_several_rows_is_named(along: str) -> None:
    found = bc.show(make_result(("forest",), draws=50, **{along: ("x", "y")}))
    assert found.origin.startswith("Expected calibration error, classifier forest · ")


def test_strip_has_a_bar_a_row() -> None:
    many = make_panel_result([f"m{k}" for k in range(31)], draws=20)  # of which 30 are shown
    few = make_panel_result(("a", "b"), ("x", "y"))
    for result in (make_result(HOSTILE, draws=50), few, many):
        found = bc.show(result)
        assert found.strip is not None
        assert len(found.strip.bars) == len(found.rows)
        for bar in found.strip.bars:
            assert bar is not None
            assert 0 <= bar.low <= bar.point <= bar.high <= 1


def test_a_logarithmic_strip_is_called_so() -> None:
    result = make_result(("a", "b"), draws=50, p_calibrated=0.0)
    for share, said in ((1.0, False), (1e-3, True)):
        for group in ("posterior", "given_miscalibration"):
            tce = result[group]["tce"]
            result[group]["tce"] = tce.where(tce.classifier == "b", share * tce)
        strip = bc.show(result).strip
        assert strip is not None
        assert strip.key.endswith("; logarithmic scale, 0 apart.") is said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (({"a": 1},), "show takes a result.*got dict"),
        ((make_split(), 2), r"prob must be a number in \(0, 1\)"),
    ],
)
def test_bad_input(given: tuple[Any, ...], said: str) -> None:
    with pytest.raises(bc.InputError, match=said):
        bc.show(*given)
