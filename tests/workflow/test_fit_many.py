"""Many fits in this process: the same draws in any order, what is kept, what is fitted again."""

from dataclasses import replace
from pathlib import Path

import made
import numpy as np
import pytest
import xarray as xr

import bayescal as bc
from bayescal.workflow.runners import carry_out, check_executor


@pytest.fixture(scope="module")
def fits() -> bc.ManyFits:
    return made.fit(4)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "store"
    made.fit(4, store=path)
    return path


def test_draws_depend_on_seed_and_key_alone(fits) -> None:
    other = dict(reversed(list(made.data(4).items())[1:]))
    found = bc.fit_many("ece", iter(other.items()), priors=made.PRIORS, **made.OPTIONS)
    assert list(found) == list(other)
    for key in found:
        assert found[key].posterior.identical(fits[key].posterior)
    seeds = {fits[key].attrs["seed"] for key in fits}
    assert len(seeds) == 4
    again = made.fit(1, seed=21)
    assert not again["north", 0].posterior.identical(fits["north", 0].posterior)


def test_other_fits_of_the_same_keys_are_others(fits) -> None:
    assert {fits: 1}[fits] == 1
    assert fits != replace(fits, contents=dict.fromkeys(fits.contents, fits.contents["north", 0]))


def test_what_is_shown_is_the_main_number_of_each_fit_and_named() -> None:
    priors = bc.ece.Priors(bc.ece.SmoothCurve())
    fits = bc.fit_many("ece", made.data(2), priors=priors, **made.OPTIONS)
    shown, summary = bc.show(fits), fits.summary()
    assert shown.columns == ("Fit", "Calibration error (TCE)", "Interval", "Status")
    assert [float(row[1]) for row in shown.rows] == pytest.approx(summary.tce_mean, abs=5e-4)
    assert not np.allclose(summary.tce_mean, summary.ece_mean, atol=1e-3)


def test_what_can_be_no_key_is_not_in_it(fits) -> None:
    assert ("north", 0) in fits
    for other in (("north", 9), 1.5, None, ["north", 0], ()):
        assert other not in fits
        assert fits.get(other, "none") == "none"
    with pytest.raises(KeyError, match="a key must be a word, a whole number"):
        fits[1.5]


def test_a_number_of_processes_may_be_that_of_numpy() -> None:
    assert type(check_executor(np.int64(2))) is int


def test_fits_of_other_classifiers_are_joined_under_their_names() -> None:
    one = made.data(1)["north", 0]
    data = {name: bc.Scores.stack({name: one.y_prob[0]}, y_true=one.y_true) for name in "ab"}
    found = bc.fit_many("ece", data, priors=made.PRIORS, **made.OPTIONS).draws("tce")
    assert found["classifier"].dims == ("fit",)
    assert found["classifier"].values.tolist() == ["a", "b"]


def test_a_second_call_takes_all_from_the_store(fits, store) -> None:
    found = made.fit(4, store=store)
    assert not found.computed
    made.same(found, fits)
    assert repr(found) == "<ManyFits of ece: 4 results, 4 of them from the store>"
    made.same(bc.load_many(store), fits)


def test_without_a_seed_that_of_the_store_goes_on(store) -> None:
    assert not made.fit(4, store=store, seed=None).computed


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"n_bins": 4}, "other options"),
        ({"priors": bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(2, 2)))}, "other priors"),
        ({"draws": 260}, "draws 250 instead of 260"),
        ({"seed": 21}, "seed 20 instead of 21"),
        ({"keep": "scalars"}, "keep 'draws' instead of 'scalars'"),
        ({"data": {("north", 0): made.data()["north", 1]}}, "other data"),
    ],
)
def test_what_was_computed_otherwise_is_fitted_again_and_said(tmp_path, change, why) -> None:
    before = made.fit(1, store=tmp_path / "store")
    given = {"data": made.data(1), "priors": made.PRIORS, **made.OPTIONS, **change}
    with pytest.warns(bc.ManyFitsWarning, match=f"north / 0: the store has it of {why}"):
        found = bc.fit_many("ece", store=tmp_path / "store", **given)
    assert found.computed == list(found.recomputed) == [("north", 0)]
    assert not bc.fit_many("ece", store=tmp_path / "store", **given).computed
    if "keep" not in change:  # which leaves the numbers as they are
        with pytest.raises(bc.InputError, match=r"fit of north / 0 that was found .* another one"):
            before["north", 0]


def test_another_version_fits_again(tmp_path, monkeypatch) -> None:
    made.fit(1, store=tmp_path / "store")
    monkeypatch.setattr("bayescal.workflow.archive.__version__", "9.9")
    with pytest.warns(bc.ManyFitsWarning, match="version '.*' instead of '9.9'"):
        assert made.fit(1, store=tmp_path / "store").computed


def test_resume_can_be_refused(tmp_path) -> None:
    made.fit(1, store=tmp_path / "store")
    found = made.fit(1, store=tmp_path / "store", resume=False)
    assert found.computed == [("north", 0)]
    assert not found.recomputed


def test_scalars_give_the_same_answers_in_a_fraction_of_the_space() -> None:
    # The default prior: its intervals need the draws given miscalibration.
    scores = bc.datasets.ece.truth("over").scores(10_000, seed=1)
    given = {"seed": 20, "method": "direct"}
    whole = bc.fit_many("ece", {"a": scores}, **given)
    few = bc.fit_many("ece", {"a": scores}, keep="scalars", **given)
    assert len(few.contents["a"]) <= 200_000
    assert len(few.contents["a"]) < len(whole.contents["a"]) / 40
    for var in ("ece", "tce", "mce"):
        # float32 has seven digits.
        np.testing.assert_allclose(
            bc.interval(few["a"], var), bc.interval(whole["a"], var), rtol=1e-6
        )
    assert few.summary().equals(whole.summary())


@pytest.mark.parametrize(
    ("quantity", "lost"), [("agnostic", "The wide band"), ("temperature", "Classes of")]
)
def test_a_report_of_scalars_leaves_out_what_was_not_kept(quantity, lost, tmp_path) -> None:
    data = {"a": bc.datasets.ece.truth("over").scores(100, seed=1)}
    given = {"method": "direct", "draws": 250, "seed": 20}
    one, few = (bc.fit_many(quantity, data, keep=keep, **given) for keep in ("draws", "scalars"))
    pages = (bc.report(fits["a"], tmp_path / "a.html").read_text() for fits in (one, few))
    assert [lost in page for page in pages] == [True, False]


def test_rows_have_no_scalars_to_keep() -> None:
    data = {"a": bc.datasets.credal.truth("logistic").split(50, 3, 1)}
    few = bc.fit_many("credal", data, keep="scalars", method="direct", draws=250, seed=20)
    assert len(few.summary()) == 1
    with pytest.raises(bc.InputError, match=r"one value a case.* Read \.summary\(\), or fit with"):
        few["a"]


def test_a_result_comes_back_as_it_was(fits) -> None:
    seed = fits["north", 0].attrs["seed"]
    options = {name: value for name, value in made.OPTIONS.items() if name != "seed"}
    before = bc.fit("ece", made.data()["north", 0], priors=made.PRIORS, seed=seed, **options)
    after = fits["north", 0]
    assert made.without_date(after.attrs) == made.without_date(before.attrs)
    assert set(after.children) == set(before.children)
    for name in before.children:
        assert after[name].to_dataset().identical(before[name].to_dataset()), name


def test_of_a_summary_there_is_no_result() -> None:
    found = made.fit(2, keep="summary")
    assert found.summary().equals(made.fit(2).summary())
    with pytest.raises(bc.InputError, match="only the summary of this fit was kept"):
        found["north", 0]


def test_the_summary_has_a_row_a_fit_and_a_failure() -> None:
    data = {**made.data(1), ("south", 0): lambda: bc.Scores(y_true=[0, 1], y_prob=[0.1, 2])}
    with pytest.warns(bc.ManyFitsWarning, match="1 of 2 fits failed"):
        found = bc.fit_many("ece", data, priors=made.PRIORS, **made.OPTIONS)
    table = found.summary()
    assert table.index.tolist() == [("north", 0), ("south", 0)]
    assert table.loc[("north", 0), "n"] == 60
    assert table.loc[("south", 0), "status"].startswith("FAILED, InputError: y_prob must lie in")
    with pytest.raises(KeyError, match="failed: y_prob must lie in"):
        found["south", 0]
    with pytest.raises(KeyError):
        found["west"]


def test_a_failure_is_over_when_its_data_are_right(tmp_path) -> None:
    with pytest.warns(bc.ManyFitsWarning, match="failed"):
        bc.fit_many("ece", {"a": None}, store=tmp_path / "store", **made.OPTIONS)
    stored = bc.load_many(tmp_path / "store")
    assert (stored.quantity, list(stored.failures)) == ("ece", ["a"])
    data = {"a": made.data()["north", 0]}
    found = bc.fit_many("ece", data, priors=made.PRIORS, store=tmp_path / "store", **made.OPTIONS)
    assert not found.failures
    assert not bc.load_many(tmp_path / "store").failures


def test_fits_that_did_not_converge_are_named() -> None:
    with pytest.warns(bc.ConvergenceWarning, match="1 of 1 fits did not converge: north / 0"):
        found = made.fit(1, draws=20)
    assert found.unconverged == [("north", 0)]


def test_what_is_said_of_fits_is_in_the_order_of_the_data(monkeypatch) -> None:
    def last_first(tasks, executor):
        return ((task.key, carry_out(task)) for task in reversed([*tasks]))

    monkeypatch.setattr("bayescal.workflow.fit_many.outcomes", last_first)
    few, *_ = made.data(1).values()
    data = {"Jan": few, "Feb": few, "Mar": [1], "Apr": [2]}
    with pytest.warns(bc.ConvergenceWarning, match="Jan, Feb"), pytest.warns(bc.ManyFitsWarning):
        found = bc.fit_many("ece", data, priors=made.PRIORS, **{**made.OPTIONS, "draws": 20})
    assert found.computed == list(data)
    assert (found.unconverged, list(found.failures)) == (["Jan", "Feb"], ["Mar", "Apr"])


def test_progress_is_called_after_each_fit() -> None:
    calls = []
    made.fit(2, progress=lambda *given: calls.append(given))
    assert calls == [("north / 0", 1, 2), ("north / 1", 2, 2)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"keep": "all"}, "keep must be one of"),
        ({"executor": 0}, "executor must be None, a number of processes"),
        ({"n_bin": 3}, "ece has no option 'n_bin'.* Did you mean 'n_bins'"),
        ({"checkpoint": "x"}, "ece has no option 'checkpoint'.* Leave it out"),
        ({"prior": 3}, "ece has no option 'prior'.* Did you mean 'priors'"),
        ({"priors": bc.ssme.Priors()}, "priors must be ece.Priors"),
        ({"data": 3}, "data must be a mapping, or pairs of a key and data; got int"),
        ({"data": [1, 2]}, "data must be a mapping, or pairs of a key and data; got 1"),
        ({"data": {1.5: None}}, "a key must be a word, a whole number or a tuple of them; got 1.5"),
        ({"data": [("a", None), ("a", None)]}, "keys must differ; got 'a' twice"),
    ],
)
@pytest.mark.filterwarnings("ignore::bayescal.ManyFitsWarning")
def test_what_no_fit_could_use_is_refused_at_once(change, said) -> None:
    given = {"data": made.data(1), **made.OPTIONS, **change}
    with pytest.raises(bc.InputError, match=said):
        bc.fit_many("ece", **given)


@pytest.mark.parametrize("last", [("a", None), (1.5, None), None])
def test_a_bad_key_at_the_end_costs_no_fit(last) -> None:
    read = []
    with pytest.raises(bc.InputError, match=r"keys must differ|a key must be|data must be"):
        bc.fit_many("ece", [("a", lambda: read.append("a")), last], **made.OPTIONS)
    assert not read


@pytest.mark.parametrize("data", [{1.5: None}, [("a", None), ("a", None)], 5])
def test_a_refused_call_leaves_the_store_its_seed(data, tmp_path) -> None:
    store = tmp_path / "store"
    made.fit(1, store=store)
    before = (store / "store.json").read_bytes()
    with pytest.raises(bc.InputError):
        bc.fit_many("ece", data, **{**made.OPTIONS, "seed": made.OPTIONS["seed"] + 1}, store=store)
    assert (store / "store.json").read_bytes() == before


def test_a_directory_that_is_no_store_is_left_alone(tmp_path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(bc.InputError, match="a store must be a directory that"):
        made.fit(1, store=tmp_path)
    with pytest.raises(bc.InputError, match="a store must be"):
        bc.load_many(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_every_fit_has_its_own_draws_under_its_key(fits) -> None:
    found = fits.draws("tce", "ece")
    assert dict(found.sizes) == {"fit": 4, "chain": 2, "draw": 250}
    assert sorted(found) == ["ece", "tce"]
    for place, key in enumerate(fits):
        one = found.isel(fit=place)
        assert (one["key_1"].item(), one["key_2"].item()) == key
        np.testing.assert_array_equal(one["tce"], fits[key].posterior["tce"])


def test_without_names_all_variables_with_one_value_a_case(fits) -> None:
    held = fits["north", 0].posterior
    assert set(fits.draws()) == {name for name in held if held[name].dims == ("chain", "draw")}


def test_the_data_set_can_be_written_and_read(fits, tmp_path) -> None:
    fits.draws().to_netcdf(tmp_path / "draws.nc")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "draws.nc"), fits.draws())


def test_keys_of_other_lengths_are_one_coordinate() -> None:
    data = dict(zip(("all", ("north", 1)), made.data(2).values(), strict=True))
    found = bc.fit_many("ece", data, priors=made.PRIORS, **made.OPTIONS)
    assert found.draws("tce")["key"].values.tolist() == ["all", "north / 1"]


def test_keys_of_one_word_are_shown_each() -> None:
    one = made.data(1)["north", 0]
    data = dict.fromkeys((1, "1", ("a", "b"), "a / b"), one)
    found = bc.fit_many("ece", data, priors=made.PRIORS, **made.OPTIONS)
    names = [f"{name} / {one.classifiers[0]}" for name in ("1", "1", "a / b", "a / b")]
    assert [row[0] for row in bc.show(found).rows] == names
    assert found.draws("tce")["key"].values.tolist() == ["1", "'1'", "('a', 'b')", "'a / b'"]


def test_parts_that_would_be_one_word_stay_apart() -> None:
    data = dict.fromkeys(((1, "a"), ("1", "a"), ("b", "a")), made.data(1)["north", 0])
    found = bc.fit_many("ece", data, priors=made.PRIORS, **made.OPTIONS).draws("tce")
    assert found["key_1"].values.tolist() == ["1", "'1'", "'b'"]
    assert found["key_2"].values.tolist() == ["a", "a", "a"]


def test_classifiers_keep_their_dim() -> None:
    one = made.data(1)["north", 0]
    two = bc.Scores.stack(dict.fromkeys("ab", one.y_prob[0]), y_true=one.y_true)
    found = bc.fit_many("ece", {1: two, 2: two}, priors=made.PRIORS, **made.OPTIONS)
    assert found.draws("tce")["tce"].sel(classifier="a").sizes["fit"] == 2
    mixed = bc.fit_many("ece", {1: two, 2: one}, priors=made.PRIORS, **made.OPTIONS)
    with pytest.raises(bc.InputError, match=r"classifier \['a', 'b'\], 2 chains, 250 draws \(1\)"):
        mixed.draws()


def test_what_cannot_be_joined_is_refused(fits) -> None:
    with pytest.raises(bc.InputError, match="no variable 'label_rate'"):
        fits.draws("label_rate")
    with pytest.raises(bc.InputError, match="only the summary"):
        made.fit(1, keep="summary").draws()
    with pytest.warns(bc.ManyFitsWarning):
        none = bc.fit_many("ece", {1: None}, priors=made.PRIORS, **made.OPTIONS)
    with pytest.raises(bc.InputError, match="at least one result"):
        none.draws()


def test_a_store_is_not_named_as_another_format(tmp_path) -> None:
    with pytest.raises(bc.InputError, match=r"results\.zarr, the name.*Pass 'results'"):
        made.fit(1, store=tmp_path / "results.zarr")
    assert not list(tmp_path.iterdir())
