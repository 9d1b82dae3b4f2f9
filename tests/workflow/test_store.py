"""A store holds fits of one quantity by key, a checkpoint cases by what they are of."""

import json
import os
import shutil
import zipfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import made
import numpy as np
import pytest

import bayescal as bc
from bayescal.core.quantity import CaseArrays
from bayescal.workflow.archive import file_stem, fingerprint
from bayescal.workflow.sampling import Settings, fit_case
from bayescal.workflow.store import Checkpoint, finished, remove


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    made.fit(2, store=path)
    return path


def fit(data: object, store: Path, **changes: object) -> bc.ManyFits:
    return bc.fit_many(
        "ece", data, **{"priors": made.PRIORS, **made.OPTIONS, "store": store, **changes}
    )


def file_of(store: Path, month: int) -> Path:
    return store / "fits" / f"{file_stem(('north', month))}.npz"


def test_a_key_that_fails_now_has_no_older_result(store: Path) -> None:
    key = ("north", 0)
    before = bc.load_many(store)[key]
    with pytest.warns(bc.ManyFitsWarning, match="1 of 1 fits failed"):
        found = fit({key: lambda: 1 / 0}, store)
    assert list(found.failures) == [key]
    after = bc.load_many(store)
    assert list(after) == [("north", 1)]
    assert after.failures == found.failures
    with pytest.raises(KeyError, match="failed: division by zero"):
        after[key]
    assert after.summary().index.is_unique
    # Its data are back: nothing is computed again, and nothing has failed.
    again = made.fit(2, store=store)
    assert not again.computed
    assert bc.load_many(store)[key].posterior.identical(before.posterior)
    assert not bc.load_many(store).failures


OTHER = {
    "priors": ({"priors": bc.ece.Priors(bc.ece.IndependentBins(bc.Beta(2, 2)))}, "other priors"),
    "prob": ({"prob": 0.5}, "prob 0.5 instead of 0.9"),
    "options": ({"n_bins": 4}, "other options"),
}


@pytest.mark.parametrize("name", OTHER)
def test_fits_that_were_made_in_other_ways_are_named(store: Path, name: str) -> None:
    changes, why = OTHER[name]
    fit({("west", 0): made.data()["north", 0]}, store, **changes)
    said = f"1 of 3 fits were made in another way than that of north / 0.*west / 0: {why}"
    with pytest.warns(bc.ManyFitsWarning, match=said):
        assert len(bc.load_many(store)) == 3


def test_fits_of_one_way_are_loaded_without_a_word(store: Path, recwarn) -> None:
    fit({("west", 0): made.data()["north", 0]}, store, seed=21)
    assert len(bc.load_many(store)) == 3
    assert not recwarn.list


def test_a_store_has_one_quantity(store: Path) -> None:
    data = {("west", 0): made.data()["north", 0]}
    with pytest.raises(bc.InputError, match=r"those of ece, not agnostic\. Pass another"):
        bc.fit_many("agnostic", data, store=store, method="direct", seed=1)
    # One into which a fit of another quantity was copied.
    other = store.with_name("other")
    bc.fit_many("agnostic", data, store=other, method="direct", seed=20)
    shutil.copytree(other / "fits", store / "fits", dirs_exist_ok=True)
    with pytest.raises(bc.InputError, match=r"one quantity; .*has those of agnostic and ece"):
        bc.load_many(store)


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"seed": 20}', b'{"seed": -1}'])
def test_a_store_that_lost_its_description_keeps_quantity_and_seed(store, content) -> None:
    about = store / "store.json"

    def lose() -> None:
        about.unlink() if content is None else about.write_bytes(content)

    lose()
    with pytest.raises(bc.InputError, match=r"those of ece, not agnostic\. Pass another"):
        bc.fit_many("agnostic", made.data(2), store=store, method="direct", seed=20)
    assert not made.fit(2, store=store, seed=None).computed
    keys = [["north", 0], ["north", 1]]
    assert json.loads(about.read_bytes()) == {"seed": 20, "quantity": "ece", "keys": keys}
    # A fit that is damaged says nothing.
    file_of(store, 1).write_bytes(b"")
    lose()
    with pytest.warns(bc.ManyFitsWarning, match="1 of the store's fits .*north / 1: its file was"):
        assert made.fit(2, store=store, seed=None).computed == [("north", 1)]


def test_windows_are_loaded_in_the_order_in_which_they_were_given(tmp_path: Path) -> None:
    *months, later = (made.data(4)["north", month] for month in range(4))
    data = dict(zip(["Jan", "Feb", "Mar"], months, strict=True))
    fit(data, tmp_path)
    fit({"Feb": data["Feb"]}, tmp_path)
    fit({"Feb": data["Feb"], "Apr": later}, tmp_path)
    assert bc.change(bc.load_many(tmp_path)).baseline == "Jan"
    assert list(bc.load_many(tmp_path)) == ["Jan", "Feb", "Mar", "Apr"]
    fit({"Apr": later, **data}, tmp_path)
    assert list(bc.load_many(tmp_path)) == ["Apr", "Jan", "Feb", "Mar"]
    # An earlier version did not keep it.
    (tmp_path / "store.json").write_text('{"seed": 20, "quantity": "ece"}')
    assert list(bc.load_many(tmp_path)) == ["Apr", "Feb", "Jan", "Mar"]


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found, kept = made.fit(1, store="store"), Checkpoint("kept", bc.ece, DEFAULT, settings())
    opened = bc.load_many("store")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert found["north", 0].posterior.identical(opened["north", 0].posterior)
    (case,) = cases()
    kept.keep(case, CaseArrays(coords=case.coords, posterior={}))
    assert kept.find(case) is not None


def test_a_copied_file_is_no_fit_of_the_other_key(store: Path) -> None:
    shutil.copy(file_of(store, 0), file_of(store, 1))
    with pytest.raises(bc.InputError, match=r"it is a copy of the fit of north / 0\. Call"):
        bc.load_many(store)
    with pytest.warns(bc.ManyFitsWarning, match=r"north / 1: its file was damaged \(it holds"):
        found = made.fit(2, store=store)
    assert found.computed == [("north", 1)]
    made.same(bc.load_many(store), made.fit(2))


def test_a_file_under_a_name_of_its_own_is_refused(store: Path) -> None:
    shutil.copy(file_of(store, 0), store / "fits" / "backup.npz")
    with pytest.raises(bc.InputError, match=r"backup\.npz must hold a result.*or remove the file"):
        bc.load_many(store)


def test_swapped_files_of_equal_data_are_found(tmp_path: Path) -> None:
    store, one = tmp_path / "store", made.data()["north", 0]
    data = {("north", 0): one, ("north", 1): one}
    before = fit(data, store)
    draws = [before[key].posterior for key in data]
    assert not draws[0].identical(draws[1])
    first, second, aside = file_of(store, 0), file_of(store, 1), tmp_path / "aside"
    opened = bc.load_many(store)
    for path, target in ((first, aside), (second, first), (aside, second)):
        path.rename(target)
    with pytest.raises(bc.InputError, match="it holds the fit of north / 1"):
        opened["north", 0]
    with pytest.warns(bc.ManyFitsWarning, match="2 of the store's fits were made again"):
        found = fit(data, store)
    assert all(found[key].posterior.identical(own) for key, own in zip(data, draws, strict=True))


@pytest.mark.parametrize("name", ["a\0b", "n" * 300])
def test_a_name_that_no_directory_can_have(name: str, tmp_path: Path) -> None:
    for call in (bc.load_many, lambda path: made.fit(1, store=path)):
        with pytest.raises(bc.InputError, match="store must be a path that the system can hold"):
            call(tmp_path / name)


@pytest.mark.parametrize("name", ["lock", "store.json", "fits", "failures"])
def test_a_store_that_cannot_be_written_is_one_error(name: str, tmp_path: Path) -> None:
    """By something else in the place of a file: permissions stop no superuser."""
    store = tmp_path / "store"
    made.fit(1, store=store)
    place = store / name
    if place.is_dir():
        shutil.rmtree(place)
        place.write_text("")
    else:
        place.unlink()
        place.mkdir()
    with pytest.raises((bc.OutputError, bc.InputError)) as info:
        made.fit(2, store=store)
    assert str(store) in str(info.value)
    assert "\n" not in str(info.value)
    # As on a disk that is read-only.
    assert ("bayescal.load_many reads a store" in str(info.value)) == (name == "lock")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere"
)
def test_a_store_without_permission_is_one_error(store: Path) -> None:
    (store / "lock").chmod(0o400)
    with pytest.raises(bc.OutputError, match="lock cannot be written: Permission denied"):
        made.fit(2, store=store)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"key": 1.5}', b"[" * 100_000])
def test_damaged_descriptions_are_named(store: Path, content: bytes) -> None:
    failure = store / "failures" / f"{file_stem('a')}.json"
    failure.write_bytes(content)
    with pytest.raises(bc.InputError, match=rf"{failure.name} must hold why a fit failed"):
        bc.load_many(store)
    failure.unlink()
    (store / "store.json").write_bytes(content)
    assert not made.fit(2, store=store).computed
    path = file_of(store, 0)
    _describe(path, content)
    with pytest.raises(bc.InputError, match=f"{path.name} must hold a result; it is damaged"):
        bc.load_many(store)
    with pytest.warns(bc.ManyFitsWarning, match="north / 0: its file was damaged"):
        made.fit(2, store=store)


@pytest.mark.parametrize("name", ["key", "recipe", "summary", "converged", "attrs", "groups"])
@pytest.mark.parametrize("value", [1.5, "lost"])
def test_a_description_that_lacks_something_is_named(store: Path, name: str, value: object) -> None:
    path = file_of(store, 0)
    with zipfile.ZipFile(path) as archive:
        head = json.loads(archive.read("about.json"))
    changed = {**head, name: value} if value != "lost" else {k: head[k] for k in head if k != name}
    _describe(path, json.dumps(changed).encode())
    with pytest.raises(bc.InputError, match=f"{path.name} must hold a result; it is damaged"):
        bc.load_many(store)


def _describe(path: Path, content: bytes) -> None:
    """Give a whole archive another description."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, old in held.items():
            archive.writestr(name, content if name == "about.json" else old)


class SilentError(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_any_exception_is_a_failure_that_can_be_written_and_read(tmp_path: Path) -> None:
    def raising(error: Exception) -> object:
        def data() -> None:
            raise error

        return data

    words = ValueError("half \ud800, bell \x07, turned \u202e")
    data = {
        "silent": raising(SilentError()),
        "words": raising(words),
        "\ud800": raising(SilentError()),
    }
    with pytest.warns(bc.ManyFitsWarning, match=r"3 of 3 fits failed.*\\ud800"):
        found = fit(data, tmp_path / "store")
    assert found.failures["silent"].error == "SilentError"
    assert "cannot be read: it raises RuntimeError" in found.failures["silent"].message
    assert found.failures["words"].message == r"half \ud800, bell \x07, turned \u202e"
    assert bc.load_many(tmp_path / "store").failures == found.failures
    found.summary().reset_index(drop=True).to_csv(tmp_path / "table.csv")


def test_only_unfinished_files_of_the_store_are_removed(store: Path) -> None:
    stem = file_stem("a")
    own = [f"fits/.{stem}.npz.12-3.part", f"failures/.{stem}.json.12.part", ".store.json.1-0.part"]
    other = ["fits/.notes.part", ".x.part", "mine/.y.part", f"mine/.{stem}.npz.12-3.part"]
    (store / "mine").mkdir()
    for name in (*own, *other):
        (store / name).write_text("")
    made.fit(2, store=store)
    assert not any((store / name).exists() for name in own)
    assert all((store / name).exists() for name in other)


def counts(group=("x", "x", "y", "y"), a=(0.1, 0.2, 0.1, 0.2), **options):
    """The same counts of each classifier, whatever the groups, and the order of `a`."""
    panel = {"a": a, "b": (0.3, 0.4, 0.3, 0.4)}
    scores = bc.Scores.stack(panel, y_true=(0, 0, 1, 1), group=group)
    return bc.Counts.from_scores(scores, **options)


DIFFERENT = [
    None,
    0,
    0.0,
    False,
    "0",
    b"0",
    [],
    [0],
    (0,),
    ["a", "bc"],
    ["ab", "c"],
    {"a": 0},
    {"a": [0]},
    np.array([0]),
    np.array([0.0]),
    np.array([[0]]),
    np.array([0], dtype=np.int32),
    np.array([0, 0]),
    np.array(["a"]),
    np.array(["a", None], dtype=object),
    bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9]),
    bc.Scores(y_true=[1, 0], y_prob=[0.1, 0.9]),
    bc.Scores(y_true=[1, 0], y_prob=[0.9, 0.1]),
    bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9], classifier="b"),
    bc.Scores(y_true=[0, 1], y_prob=[0.1, 0.9], group=[0, 1]),
    bc.PUScores(positive=[0.1], unlabeled=[0.9]),
    bc.PUScores(positive=[0.9], unlabeled=[0.1]),
    counts(),
    counts(group=("y", "x", "x", "y")),
    counts(group=("u", "u", "v", "v")),
    counts(group=None),
    counts(group=None, pairs=True),
    counts(group=None, pairs=True, a=(0.2, 0.1, 0.1, 0.2)),
]


def test_every_difference_shows() -> None:
    prints = [fingerprint(value) for value in DIFFERENT]
    for (one, mine), (other, theirs) in combinations(zip(DIFFERENT, prints, strict=True), 2):
        assert mine != theirs, (one, other)


def test_the_order_in_which_counts_were_added_up_does_not() -> None:
    one, two = (counts(group=(name,) * 4) for name in "xy")
    assert fingerprint(one + two) == fingerprint(two + one)


def test_memory_layout_does_not() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert fingerprint(values) == fingerprint(np.asfortranarray(values))
    assert fingerprint(values[:, ::2]) == fingerprint(values[:, ::2].copy())


def test_what_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(bc.InputError, match="data must be made of arrays, numbers and words"):
        fingerprint({"a": lambda: 0})


DEFAULT = bc.ece.Priors()


def settings(**changes):
    given = {"draws": 50, "tune": 1, "chains": 2, "target_accept": 0.8, "seed": 1}
    return Settings(**{**given, "method": "direct", "prob": 0.9, **changes})


def cases(seed=1):
    scores = bc.datasets.ece.truth("over").scores(300, seed=seed)
    return bc.ece.plan(scores, DEFAULT).cases


def test_a_finished_case_comes_back_as_it_was(tmp_path):
    (case,) = cases()
    result = fit_case("ece", case, settings())
    kept = Checkpoint(tmp_path / "new", bc.ece, DEFAULT, settings())
    assert kept.find(case) is None
    kept.keep(case, result)
    again = kept.find(case)
    assert again.coords == result.coords
    assert again.bounds_attrs == result.bounds_attrs
    for group in ("posterior", "prior", "log_likelihood", "point_estimate", "diagnostics"):
        before, after = getattr(result, group), getattr(again, group)
        assert list(after) == list(before)
        for name in before:
            np.testing.assert_array_equal(after[name], before[name])


def test_other_data_settings_priors_and_names_are_other_cases(tmp_path):
    (case,), (other,) = cases(), cases(seed=2)
    kept = Checkpoint(tmp_path, bc.ece, DEFAULT, settings())
    kept.keep(case, fit_case("ece", case, settings()))
    assert kept.find(case) is not None
    renamed = replace(case, problem=replace(case.problem, coords={"classifier": "other"}))
    assert kept.find(renamed) is None
    assert kept.find(other) is None
    assert Checkpoint(tmp_path, bc.ece, DEFAULT, settings(seed=2)).find(case) is None
    sceptical = bc.ece.Priors(calibrated=0.1)
    assert Checkpoint(tmp_path, bc.ece, sceptical, settings()).find(case) is None


def test_a_damaged_file_is_computed_again(tmp_path):
    (case,) = cases()
    kept = Checkpoint(tmp_path, bc.ece, DEFAULT, settings())
    kept.keep(case, fit_case("ece", case, settings()))
    (path,) = tmp_path.glob("cases/*.npz")
    path.write_bytes(path.read_bytes()[:1000])
    assert kept.find(case) is None


def test_a_fit_takes_up_where_another_stopped(tmp_path):
    scores = bc.datasets.ece.truth("over").scores(300, seed=1)
    options = {"seed": 3, "method": "direct", "draws": 200, "checkpoint": tmp_path}
    first = bc.fit(bc.ece, scores, **options)
    (path,) = tmp_path.glob("cases/*.npz")
    written = path.stat().st_mtime_ns
    again = bc.fit(bc.ece, scores, **options)
    assert path.stat().st_mtime_ns == written
    assert first["posterior"].dataset.identical(again["posterior"].dataset)
    assert first["bounds"].dataset.identical(again["bounds"].dataset)


def test_the_same_call_without_a_seed_finds_its_cases(tmp_path, monkeypatch):
    data = made.data(1)["north", 0]
    own = {"method": "direct", "draws": 250, "chains": 2, "checkpoint": tmp_path / "kept"}
    grid = {"one": made.PRIORS, "other": replace(made.PRIORS, calibrated=0.2)}
    first = bc.fit("ece", data, priors=made.PRIORS, **own)
    both = bc.prior_sensitivity("ece", data, grid, **own)
    monkeypatch.setattr("bayescal.workflow.fit.fit_case", lambda *_: 1 / 0)
    again = bc.fit("ece", data, priors=made.PRIORS, **own)
    assert again.posterior.identical(first.posterior)
    assert again.attrs["seed"] == first.attrs["seed"] == both.attrs["seed"]
    assert bc.prior_sensitivity("ece", data, grid, **own).posterior.identical(both.posterior)
    # Another directory has a seed of its own, and one that is given stays.
    for changes in ({"checkpoint": tmp_path / "new"}, {"seed": 20}):
        with pytest.raises(ZeroDivisionError):
            bc.fit("ece", data, priors=made.PRIORS, **{**own, **changes})


def test_a_directory_that_cannot_be_made_is_named_before_a_fit(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(bc.OutputError, match="cannot be written"):
        Checkpoint(tmp_path / "file" / "below", bc.ece, DEFAULT, settings())


def test_words_are_kept_without_pickling(tmp_path):
    (case,) = cases()
    words = np.array(["cat", "größer"], dtype=object)
    result = CaseArrays(
        coords=case.coords, posterior={}, constant_data={"names": words}, warnings=["one", "two"]
    )
    kept = Checkpoint(tmp_path, bc.ece, DEFAULT, settings())
    kept.keep(case, result)
    (path,) = tmp_path.glob("cases/*.npz")
    with np.load(path, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files if "/" in name)
    again = kept.find(case)
    assert again.constant_data["names"].tolist() == ["cat", "größer"]
    assert list(again.warnings) == ["one", "two"]


def test_drafts_of_a_complete_case_go_and_those_of_others_stay(tmp_path):
    (case,) = cases()
    kept = Checkpoint(tmp_path, bc.ece, DEFAULT, settings())
    found = CaseArrays(coords=case.coords, posterior={})
    kept.keep(case, found)
    (path,) = tmp_path.glob("cases/*.npz")
    draft, other = (path.with_name(f".{name}.12-3.part") for name in (path.name, "0" * 32))
    for act in (lambda: kept.find(case), lambda: kept.keep(case, found)):
        draft.write_bytes(b"half of a case")
        other.write_bytes(b"of another case")
        act()
        assert sorted(path.parent.iterdir()) == [other, path]


def test_cases_of_an_earlier_layout_are_named_and_fitted_again(tmp_path):
    (tmp_path / "ece-0123456789abcdef.npz").write_bytes(b"PK")
    with pytest.warns(bc.ManyFitsWarning, match="kept them, 1 in all, which"):
        found = made.checkpointed(tmp_path)
    assert found.attrs["status"] == "ok"
    assert len(list(tmp_path.glob("cases/*.npz"))) == 1


def test_a_store_and_a_checkpoint_may_share_a_directory(store):
    made.checkpointed(store)
    assert finished(store) == 3
    assert len(bc.load_many(store)) == 2
    (store / "mine").write_text("")
    remove(store)
    assert [path.name for path in store.iterdir()] == ["mine"]
    (store / "mine").unlink()
    remove(store)
    assert not store.exists()
    made.checkpointed(store)
    made.fit(2, store=store)
    assert finished(store) == 3
