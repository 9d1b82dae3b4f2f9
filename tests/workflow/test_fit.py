"""Refits and fits: what a result says of itself, and that its draws belong to names."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy.special import expit

import bayescal as bc
from bayescal.cli.main import cli
from bayescal.core.errors import ConvergenceWarning
from bayescal.core.plausibility import Sign
from bayescal.core.quantity import CaseArrays
from bayescal.core.streams import stream
from bayescal.results.access import gather, in_words
from bayescal.results.schema import REMEDY
from bayescal.workflow import sampling
from bayescal.workflow.fit import _said, attributes, converged
from bayescal.workflow.sampling import Settings
from tests.several import DIRECT, NAMES, data_of, result_of

PRIORS = bc.ece.Priors(bc.ece.IndependentBins(), calibrated=0.3)
SCORES = bc.datasets.ece.truth("over").scores(200, seed=1)


def settings(**changes):
    given = {"draws": 50, "tune": 1, "chains": 2, "target_accept": None, "seed": 4}
    return Settings(**{**given, "method": "direct", "prob": 0.8, **changes})


def attrs_of(data=SCORES, priors=PRIORS, **changes):
    return attributes(bc.ece, bc.ece.plan(data, priors), priors, settings(**changes))


def test_attributes_are_those_of_quantity_priors_and_settings():
    found = attrs_of()
    assert found["quantity"] == "ece"
    assert found["estimand"] == bc.ece.ESTIMAND
    assert found["bayescal_version"] == bc.__version__
    assert [entry["key"] for entry in found["references"]] == [
        reference.key for reference in bc.ece.REFERENCES
    ]
    assert found["classifiers"] == ["over"]
    assert json.loads(found["priors"])["calibrated"] == 0.3
    assert found["prior_text"] == PRIORS.describe()
    for name in ("draws", "tune", "chains", "seed", "prob"):
        assert found[name] == getattr(settings(), name)


def test_the_version_is_that_of_what_sampled():
    assert attrs_of()["sampler_version"] == bc.__version__
    import nutpie

    assert attrs_of(method="nuts")["sampler_version"] == nutpie.__version__


@pytest.mark.parametrize(
    ("prior", "sampler"),
    [
        (bc.ece.SmoothCurve(), "importance sampling"),
        (bc.ece.HierarchicalBins(), "quadrature"),
        (bc.ece.IndependentBins(), "conjugate"),
    ],
)
def test_a_direct_result_says_what_drew_it(prior, sampler):
    scores = bc.datasets.ece.truth("over").scores(100, seed=1)
    tree = bc.fit(bc.ece, scores, priors=bc.ece.Priors(prior), method="direct", draws=150, seed=1)
    assert tree.attrs["sampler"] == sampler


def test_the_hash_is_that_of_the_data():
    assert attrs_of()["data_hash"] == attrs_of(seed=9, draws=70)["data_hash"]
    other = bc.datasets.ece.truth("over").scores(200, seed=2)
    assert attrs_of()["data_hash"] != attrs_of(other)["data_hash"]
    assert attrs_of()["data_hash"].startswith("sha256:")


@pytest.mark.parametrize("method", ["direct", pytest.param("nuts", marks=pytest.mark.mcmc)])
def test_a_result_is_made_again_from_its_attributes(method):
    options = {"draws": 60, "tune": 100, "chains": 2, "seed": 8, "method": method, "n_bins": 4}
    with pytest.warns(bc.ConvergenceWarning):
        first = bc.fit(bc.ece, SCORES, priors=PRIORS, closed="left", strategy="uniform", **options)
    attrs = first.attrs
    kind, parameters = next(iter(json.loads(attrs["priors"])["label_rate"].items()))
    priors = bc.ece.Priors(
        getattr(bc.ece, kind)(bc.Beta(**parameters["rate"])),
        json.loads(attrs["priors"])["calibrated"],
    )
    with pytest.warns(bc.ConvergenceWarning):
        again = bc.fit(
            bc.ece,
            SCORES,
            priors=priors,
            n_bins=attrs["n_bins"],
            strategy=attrs["binning_strategy"],
            closed=attrs["closed"],
            draws=attrs["draws"],
            tune=attrs["tune"],
            chains=attrs["chains"],
            seed=attrs["seed"],
            method=attrs["method"],
        )
    assert again.attrs["data_hash"] == attrs["data_hash"]
    for name, values in first["posterior"].data_vars.items():
        np.testing.assert_array_equal(again["posterior"][name], values)


GOOD = {"rhat_max": 1.001, "ess_min": 2000.0, "divergences": 0, "ebfmi_min": 0.9, "converged": True}


JUMPS = "the data favour a calibration curve that jumps."


def result(name="vit", warnings=(), **figures):
    return CaseArrays(
        coords={"classifier": name},
        posterior={},
        diagnostics={**GOOD, **figures},
        warnings=warnings,
    )


def status(found, warnings):
    return in_words(gather(_said(found, warnings)))


def test_a_good_fit_is_ok():
    assert status([result(), result("gbm")], [[], []]) == "ok"
    assert converged([result(), result("gbm")])


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"rhat_max": 1.3, "converged": False}, ["did not converge", "R-hat is 1.300", REMEDY]),
        ({"ess_min": 12.0, "converged": False}, ["the effective sample size is 12", REMEDY]),
        ({"divergences": 7, "converged": False}, ["7 transitions diverged", "target_accept=0.99"]),
        ({"warnings": [JUMPS]}, [JUMPS]),
    ],
)
def test_every_problem_names_its_remedy(figures, words):
    said = status([result(**figures)], [[]])
    assert said.startswith("vit: ")
    for word in words:
        assert word in said


def test_warnings_about_the_data_are_in_it_too():
    said = status([result(), result("gbm", [JUMPS])], [["all labels are positive."], []])
    assert "vit: all labels are positive." in said
    assert "gbm: the data favour" in said


def test_one_that_did_not_converge_is_enough():
    assert not converged([result(), result("gbm", converged=False)])


RNG = np.random.default_rng(1)
SCORE = RNG.random(400).round(6)
LABEL = (RNG.random(400) < SCORE).astype(int)
RIGHT = bc.Scores(y_true=LABEL, y_prob=SCORE, classifier="p")
REVERSED = bc.Scores(y_true=1 - LABEL, y_prob=SCORE, classifier="p")
AS_LOGITS = bc.Scores(y_true=LABEL, y_prob=SCORE, classifier="p", from_logits=True)
PANEL = {"p": SCORE, "q": np.clip(SCORE + RNG.normal(0, 0.05, 400), 0.01, 0.99)}


def warned_fit(quantity, data, **options):
    return bc.fit(quantity, data, method="direct", seed=1, draws=250, **options)


def of_scores(quantity):
    return lambda scores: warned_fit(quantity, scores)


def credal(scores):
    split = bc.CalibrationSplit(calibration=scores, target=[0.2, 0.8])
    return warned_fit(bc.credal, split, priors=bc.credal.Priors(bc.credal.ImpreciseDirichlet()))


FITS = {"ece": of_scores(bc.ece), "agnostic": of_scores(bc.agnostic), "credal": credal}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(
    ("scores", "sentence"),
    [(REVERSED, "the scores look reversed"), (AS_LOGITS, "Leave from_logits out")],
)
def test_a_fit_warns_and_its_status_says_so(name, scores, sentence):
    with pytest.warns(bc.DataWarning, match=sentence):
        result = FITS[name](scores)
    assert sentence in result.attrs["status"]
    assert result.attrs["converged"] == "true"


def test_warnings_of_a_fit_stand_at_the_line_that_called(tmp_path):
    (tmp_path / "ece-0.npz").touch()
    given = {"seed": 1, "method": "direct", "checkpoint": tmp_path}
    with pytest.warns(bc.ManyFitsWarning, match="cases as an earlier version") as kept:
        bc.fit(bc.ece, RIGHT, **given)
    with pytest.warns(bc.DataWarning, match="look reversed") as said:
        bc.prior_sensitivity(bc.ece, REVERSED, seed=1, method="direct")
    assert {one.filename for one in [*kept, *said]} == {__file__}


@pytest.mark.parametrize("name", FITS)
def test_nothing_is_said_of_calibrated_scores(name):
    assert "reversed" not in FITS[name](RIGHT).attrs["status"]


def test_positives_that_rank_below_unlabelled_rows():
    positive, unlabeled = SCORE[LABEL == 1], RNG.random(800)
    priors = bc.pu_ece.Priors(bc.Beta(50, 50), bc.pu_ece.SmoothCurve())
    data = bc.PUScores(positive=1 - positive, unlabeled=unlabeled)
    with pytest.warns(bc.DataWarning, match="look reversed"):
        result = warned_fit(bc.pu_ece, data, priors=priors)
    assert "the scores look reversed" in result.attrs["status"]


def test_ssme_names_the_classifier_whose_scores_are_reversed():
    scores = bc.Scores.stack({"p": SCORE, "q": 1 - PANEL["q"]}, y_true=LABEL)
    (case,) = bc.ssme.plan(scores, bc.ssme.Priors()).cases
    (sign,) = [said for said in case.warnings if isinstance(said, Sign)]
    assert sign.startswith("q: the scores look reversed")


def test_each_group_is_looked_at():
    group = np.repeat(["a", "b"], 200)
    scores = bc.Scores(y_true=np.where(group == "b", 1 - LABEL, LABEL), y_prob=SCORE, group=group)
    (case,) = bc.ece.plan(scores, bc.ece.Priors()).cases
    (sign,) = case.warnings
    assert isinstance(sign, Sign)
    assert "b" in sign
    assert "the scores look reversed" in sign


@pytest.mark.parametrize("quantity", [bc.ece, bc.agnostic, bc.temperature])
def test_classes_in_another_order(quantity):
    scores = bc.datasets.temperature.truth("heterogeneous").scores(600, seed=1)
    moved = bc.Scores(y_true=(scores.y_true + 1) % 10, y_prob=scores.y_prob[0])
    with pytest.warns(bc.DataWarning, match="clearly less often than a guess among 10 classes"):
        warned_fit(quantity, moved)


def test_counted_rows_are_looked_at_as_rows_in_memory_are(tmp_path):
    path = tmp_path / "rows.parquet"
    # Labels 1 and 2 with the default pos_label, which takes 1 for the positive one.
    pq.write_table(pa.table({"y": 1 + LABEL, "p": SCORE}), path)
    for counts, quantity in (
        (bc.count_rows(path, label="y", score="p"), bc.ece),
        (bc.agnostic.count_rows(path, label="y", score="p"), bc.agnostic),
    ):
        with pytest.warns(bc.DataWarning, match="look reversed"):
            warned_fit(quantity, counts)
    logits = bc.count_rows(path, label="y", score="p", pos_label=2, from_logits=True)
    with pytest.warns(bc.DataWarning, match="Leave from_logits out"):
        warned_fit(bc.ece, logits)


def test_page_summary_and_command_line_show_it(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p\n" + "".join(f"{1 - y},{p}\n" for y, p in zip(LABEL, SCORE, strict=True)))
    page = tmp_path / "page.html"
    words = ["ece", str(path), "--label", "y", "--score", "p"]
    done = CliRunner().invoke(cli, [*words, "--quick", "-o", str(page)])
    assert done.exit_code == 0
    assert "look reversed" in done.output
    assert "Read this first" in page.read_text()
    assert "look reversed" in page.read_text()
    for quantity in ("ece", "agnostic"):
        done = CliRunner().invoke(cli, [quantity, *words[1:], "--estimate-only", "--json"])
        assert "look reversed" in done.stderr
        json.loads(done.stdout)


def test_scores_in_percent_are_to_be_divided():
    with pytest.raises(bc.InputError, match=r"got 50 at row 0 .*divide percent by 100\.$"):
        bc.Scores(y_true=[0, 1], y_prob=[50.0, 99.5])
    with pytest.raises(bc.InputError, match=r"set from_logits=True\.$"):
        bc.Scores(y_true=[0, 1], y_prob=[-50.0, 99.5])
    with pytest.raises(bc.InputError, match=r"logits, pass their sigmoid\.$"):
        bc.PUScores(positive=[-50.0, 99.5], unlabeled=[0.5])
    assert bc.Scores(y_true=[0, 1], y_prob=expit([-50.0, 99.5])).n_obs == 2


FEWER = (NAMES[2], NAMES[0])


def of_one(tree, group, name):
    """Variables of one classifier, which has no dimension where it is the only one."""
    held = tree[group].to_dataset()
    return held.sel(classifier=name) if "classifier" in held.dims else held


def equal(first, second, name):
    for group in ("posterior", "prior", "model_average", "log_prior", "descriptions"):
        if group not in first.children:
            continue
        before, after = of_one(first, group, name), of_one(second, group, name)
        for variable in before.data_vars:
            held = [one[variable].values for one in (before, after)]
            # What is padded to a common length is longer beside a longer one.
            cut = tuple(slice(min(sizes)) for sizes in zip(*(a.shape for a in held), strict=True))
            np.testing.assert_array_equal(*(a[cut] for a in held), err_msg=f"{group}/{variable}")


@pytest.mark.slow
@pytest.mark.parametrize("key", DIRECT)
def test_direct_draws_belong_to_names(key):
    """In another order, and without the second classifier."""
    equal(result_of(key), result_of(key, FEWER), NAMES[2])


@pytest.mark.mcmc
def test_nuts_draws_belong_to_names():
    fits = []
    for names in (NAMES, FEWER, NAMES[2:]):
        quantity, data, _ = data_of("ece", names)
        priors = bc.ece.Priors(bc.ece.SmoothCurve())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fits.append(bc.fit(quantity, data, priors=priors, draws=30, tune=50, chains=2, seed=20))
    for other in fits[1:]:
        equal(fits[0], other, NAMES[2])


@pytest.mark.slow
def test_draws_under_several_priors_belong_to_names():
    grids = []
    for names in (NAMES[:2], NAMES[1::-1]):
        quantity, data, _ = data_of("ece", names)
        priors = {str(s): bc.ece.Priors(bc.ece.SmoothCurve(scale=s)) for s in (0.5, 1.0)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            grids.append(
                bc.prior_sensitivity(quantity, data, priors, seed=20, method="direct", draws=50)
            )
    equal(*grids, NAMES[0])


def test_streams_differ_by_seed_name_and_number_and_by_nothing_else():
    asked = [(1, ("a",), 0), (2, ("a",), 0), (1, ("b",), 0), (1, ("a", "b"), 0), (1, ("a",), 1)]
    first = [stream(seed, *names, number=number).random() for seed, names, number in asked]
    assert len(set(first)) == len(asked)
    again = [stream(seed, *names, number=number).random() for seed, names, number in asked]
    assert first == again
    # Lists of names that read alike are others.
    assert stream(1, "ab").random() != stream(1, "a", "b").random()
    assert np.isfinite(stream(1, "\ud800").random())


CURVE, BINS = bc.ece.SmoothCurve, bc.ece.IndependentBins
SEVERAL = {
    "default": bc.ece.Priors(),
    "tight": bc.ece.Priors(CURVE(scale=0.2)),
    "jeffreys": bc.ece.Priors(BINS(bc.Beta(0.5, 0.5))),
}

FIT = {"seed": 20, "method": "direct", "draws": 400}


def scores(n, seed=1):
    return bc.datasets.ece.truth("over").scores(n, seed=seed)


def compare(priors=SEVERAL, n=300, **options):
    return bc.prior_sensitivity(bc.ece, scores(n), priors, **{**FIT, "n_bins": 6, **options})


@pytest.fixture(scope="module")
def grid():
    return compare()


@pytest.mark.slow
def test_each_prior_is_the_fit_with_the_same_seed(grid):
    for name, priors in SEVERAL.items():
        alone = bc.fit(bc.ece, scores(300), priors=priors, n_bins=6, **FIT)
        for group in ("posterior", "point_estimate", "diagnostics"):
            for var, values in grid[group].dataset.data_vars.items():
                xr.testing.assert_equal(
                    values.sel(prior=name, drop=True), alone[group].dataset[var]
                )
        assert json.loads(grid.attrs["priors"])[name] == json.loads(priors.to_json())
        assert json.loads(grid.attrs["prior_texts"])[name] == priors.describe()


@pytest.mark.parametrize("order", [1, -1])
def test_groups_under_bins_stand_beside_those_that_share_a_curve(order):
    group = np.repeat(["a", "b"], 150)
    both = bc.Scores(y_true=LABEL[:300], y_prob=SCORE[:300], group=group)
    pairs = [("curve", bc.ece.Priors()), ("bins", bc.ece.Priors(bc.ece.IndependentBins()))]
    priors = dict(pairs[::order])
    grid = bc.prior_sensitivity(bc.ece, both, priors, n_bins=6, **FIT)
    for name, prior in priors.items():
        alone = bc.fit(bc.ece, both, priors=prior, n_bins=6, **FIT)
        own = grid["posterior"]["tce"].sel(prior=name, drop=True)
        xr.testing.assert_equal(own, alone["posterior"]["tce"])
        # A model of all groups has one figure of its sampler, bins have one a group.
        least = grid["diagnostics"]["ess_min"].sel(prior=name, drop=True)
        np.testing.assert_array_equal(least, alone["diagnostics"]["ess_min"].values)
    assert len(bc.conclusions(grid)) == 2


def test_the_conclusion_is_written_into_the_result(grid):
    (found,) = bc.conclusions(grid)
    assert grid.attrs["conclusion"] == found.text
    assert grid.attrs["robust"] == ("true" if found.robust else "false")
    assert grid.attrs["conclusion_var"] == "tce"
    assert grid.attrs["seed"] == 20
    assert "threshold" not in grid.attrs


@pytest.mark.slow
def test_threshold_quantity_and_probability_are_passed_on():
    two = {name: SEVERAL[name] for name in ("default", "tight")}
    grid = compare(two, threshold=0.02, var="ece", prob=0.8)
    (found,) = bc.conclusions(grid, "ece", 0.8, 0.02)
    assert grid.attrs["conclusion"] == found.text
    assert (grid.attrs["conclusion_var"], grid.attrs["threshold"]) == ("ece", 0.02)


def test_a_function_of_ones_own_is_the_measure_that_it_computes():
    def miss(rate, score, mass):
        return (mass * abs(rate - score)).sum(axis=-1)

    two = {name: SEVERAL[name] for name in ("default", "tight")}
    grid = compare(two, threshold=0.02, var=miss)
    np.testing.assert_allclose(grid["posterior"]["miss"], bc.measure(grid, "ici"), atol=1e-6)
    (found,) = bc.conclusions(grid, "miss", threshold=0.02)
    assert (grid.attrs["conclusion_var"], grid.attrs["conclusion"]) == ("miss", found.text)


@pytest.mark.mcmc
@pytest.mark.parametrize(("n", "scale", "dominates"), [(30, 0.1, True), (20_000, 0.7, False)])
def test_refits_and_power_scaling_agree(n, scale, dominates):
    """A normal prior to the power a has the scale / sqrt(a): refits and scaling agree."""
    power = 1.25
    scales = {"base": scale, "strong": scale / np.sqrt(power), "weak": scale * np.sqrt(power)}
    priors = {name: bc.ece.Priors(CURVE(scale=s), calibrated=0) for name, s in scales.items()}
    grid = compare(priors, n, n_bins=15, draws=2000)
    tce = grid["posterior"]["tce"]
    mean, sd = tce.mean(("chain", "draw")), float(tce.sel(prior="base").std())
    refit = float(mean.sel(prior="strong") - mean.sel(prior="weak")) / sd / (2 * np.log2(power))
    base = bc.fit(bc.ece, scores(n), priors=priors["base"], seed=20, method="direct", draws=2000)
    (row,) = bc.power_scale(base, "tce").to_dict("records")
    # Means of 8,000 draws, with the same random numbers; by others' chance .025.
    assert row["prior_shift"] == pytest.approx(refit, abs=0.06)
    if dominates:
        assert row["prior_sensitivity"] > 0.1
        assert np.sign(row["prior_shift"]) == np.sign(refit) == -1
        assert abs(refit) > 0.3
    else:
        assert row["prior_sensitivity"] < 0.05
        assert row["diagnosis"] == "the data decide"
        assert abs(refit) < 0.06


@pytest.mark.slow
def test_bins_and_power_scaling_agree():
    """Beta(a, a) to the power p is Beta(1 + p (a - 1), 1 + p (a - 1))."""
    power, strength = 1.25, 19
    parts = {"base": strength, "strong": strength * power, "weak": strength / power}
    priors = {
        name: bc.ece.Priors(BINS(bc.Beta(1 + part, 1 + part)), calibrated=0)
        for name, part in parts.items()
    }
    tce = compare(priors, 60, n_bins=15, draws=4000)["posterior"]["tce"]
    mean, sd = tce.mean(("chain", "draw")), float(tce.sel(prior="base").std())
    refit = float(mean.sel(prior="strong") - mean.sel(prior="weak")) / sd / (2 * np.log2(power))
    base = bc.fit(bc.ece, scores(60), priors=priors["base"], seed=20, method="direct", draws=4000)
    assert bc.power_scale(base, "tce")["prior_shift"].item() == pytest.approx(refit, abs=0.06)
    assert refit > 0.3


@pytest.mark.mcmc
def test_priors_of_one_kind_share_one_compiled_model():
    nuts = {"draws": 1000, "tune": 300, "chains": 2, "method": "nuts"}
    bc.fit(bc.ece, scores(300), seed=20, n_bins=6, **nuts)
    before = set(sampling._COMPILED)
    two = {"wide": bc.ece.Priors(CURVE(scale=2.0)), "sceptical": bc.ece.Priors(calibrated=0.1)}
    grid = compare(two, **nuts)
    assert set(sampling._COMPILED) == before
    assert grid["sample_stats"].sizes["prior"] == 2


def test_what_did_not_converge_is_said_once():
    with pytest.warns(bc.ConvergenceWarning) as caught:
        grid = compare(draws=20)
    assert len(caught) == 1
    assert grid.attrs["converged"] == "false"
    assert grid.attrs["conclusion"].startswith("Unreliable")


@pytest.mark.mcmc
def test_progress_counts_the_fits_of_all_priors():
    steps = []
    pair = bc.Scores.stack(
        {"p": scores(300).y_prob[0], "q": scores(300).y_prob[0] ** 0.9}, y_true=scores(300).y_true
    )
    two = {"default": bc.ece.Priors(CURVE()), "tight": SEVERAL["tight"]}
    bc.prior_sensitivity(
        bc.ece, pair, two, seed=1, method="direct", progress=lambda *step: steps.append(step)
    )
    assert steps[0] == ("default, p", 0, 4)
    assert steps[3] == ("tight, p", 2, 4)
    assert steps[-1] == ("", 4, 4)
    done = [step[1] for step in steps]
    assert done == sorted(done)


@pytest.mark.slow
def test_finished_fits_outlast_an_interruption(tmp_path, grid):
    def stop(label: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(checkpoint=tmp_path, progress=stop)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("cases/*.npz")}
    assert len(kept) == 2
    again = compare(checkpoint=tmp_path)
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert len(list(tmp_path.glob("cases/*.npz"))) == 3
    for group in ("posterior", "model_average"):
        xr.testing.assert_equal(again[group].dataset, grid[group].dataset)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"var": "e9"}, "no variable or measure 'e9'; did you mean 'e90'"),
        ({"var": "label_rate"}, "one number a case; 'label_rate' has dims .'bin',."),
        ({"var": "slope"}, "threshold must be given for 'slope'"),
        ({"var": "auc", "threshold": 70}, r"threshold must be a number in \[0, 1\]; got 70"),
        ({"var": "net_benefit"}, "net_benefit needs a threshold"),
        ({"priors": {"a": bc.ece.Priors(), "b": 3}}, "must be ece.Priors; got int"),
    ],
)
def test_what_no_result_would_answer_is_refused_before_a_fit(asked, words, monkeypatch):
    monkeypatch.setattr("bayescal.workflow.fit.fit", None)
    with pytest.raises(bc.InputError, match=words):
        compare(**asked)
    with pytest.raises(bc.InputError, match="ssme has no variable or measure 'e90'"):
        bc.prior_sensitivity(bc.ssme, scores(60), var="e90")


def test_the_cost_of_one_of_several_rules_may_be_asked():
    rule = bc.agnostic.bayes_rule({"a": (2, 0), "b": (0, 1)})
    how = {"method": "direct", "seed": 1, "decision": {"low": rule, "high": rule}}
    grid = bc.prior_sensitivity(bc.agnostic, scores(60), var="cost_low", **how)
    assert grid.attrs["conclusion_var"] == "cost_low"


@pytest.mark.slow
def test_without_a_seed_all_priors_share_one_that_is_kept():
    two = {name: SEVERAL[name] for name in ("tight", "jeffreys")}
    grid = compare(two, seed=None)
    again = compare(two, seed=grid.attrs["seed"])
    xr.testing.assert_equal(grid["posterior"].dataset, again["posterior"].dataset)


@pytest.mark.mcmc
def test_without_priors_there_is_a_grid_around_the_default():
    grid = compare(None, 60)
    names = list(grid["posterior"]["prior"].values)
    assert names == list(bc.ece.Priors().alternatives())
    assert names[0] == "default"
    own = compare(bc.ece.Priors(BINS(), calibrated=0.2), 60)
    assert json.loads(own.attrs["priors"])["default"]["calibrated"] == 0.2
    named = bc.prior_sensitivity("ece", scores(60), n_bins=6, **FIT)
    xr.testing.assert_equal(named["posterior"].dataset, grid["posterior"].dataset)


@pytest.mark.parametrize(
    ("priors", "words"),
    [
        ({"one": bc.ece.Priors()}, "two priors or more; got 1"),
        ([bc.ece.Priors()], "must be ece.Priors; got list"),
        ({"one": bc.ece.Priors(), "": bc.ece.Priors()}, "must have a name; got ''"),
        ({"one": bc.ece.Priors(), "two": bc.Beta(1, 1)}, "must be ece.Priors; got Beta"),
    ],
)
def test_what_is_no_set_of_priors_is_refused(priors, words):
    with pytest.raises(bc.InputError, match=words):
        compare(priors)


def test_a_prior_without_another_is_refused_before_it_is_fitted():
    class Alone(bc.ece.Priors):
        def alternatives(self):
            return {"default": self}

    with pytest.raises(bc.InputError, match="two priors or more; got 1"):
        bc.prior_sensitivity(bc.ece, SCORES, Alone(), progress=lambda *_: pytest.fail("fitted"))


@pytest.mark.mcmc
def test_positive_and_unlabelled_rows_under_several_class_priors():
    data = bc.datasets.pu_ece.truth("near").scores((300, 2000), 1)
    curve = bc.pu_ece.SmoothCurve()
    known = {f"{pi:g}": bc.pu_ece.Priors(pi, curve) for pi in (0.5, 0.55)}
    grid = bc.prior_sensitivity(bc.pu_ece, data, known, **FIT)
    assert grid.attrs["robust"] == "false"
    assert grid["sensitivity"]["class_prior"].dims[0] == "prior"
    assert float(grid["point_estimate"]["ece"].std()) > 0
