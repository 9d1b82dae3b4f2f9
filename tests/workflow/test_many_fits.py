"""Draws of many fits as one data set."""

import made
import numpy as np
import pytest
import xarray as xr

import bayescal as bc


@pytest.fixture(scope="module")
def fits() -> bc.ManyFits:
    return made.fit(3)


def test_every_fit_has_its_own_draws_under_its_key(fits) -> None:
    found = fits.draws("tce", "ece")
    assert dict(found.sizes) == {"fit": 3, "chain": 2, "draw": 250}
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
