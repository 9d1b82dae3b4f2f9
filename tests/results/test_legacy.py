"""Files of version 0.1.0 are read as results of this version; made by golden/make_v1.py."""

import gzip
from pathlib import Path

import pytest
import xarray as xr

import bayescal as bc
from bayescal.results import access
from bayescal.results.io import upgrade
from bayescal.results.summary import table as table_of
from tests.several import DIRECT as KEYS
from tests.several import result_of
from tests.synthetic import make_result

GOLDEN = Path(__file__).parents[1] / "golden"
KINDS = {"ece": "errors", "grid": "errors", "credal": "rows", "ssme": "metrics"}


@pytest.fixture(scope="module", params=KINDS)
def old(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, xr.DataTree]:
    path = tmp_path_factory.mktemp("old") / f"{request.param}.nc"
    path.write_bytes(gzip.decompress((GOLDEN / f"v1_{request.param}.nc.gz").read_bytes()))
    return request.param, path, bc.load(path)


@pytest.mark.slow
def test_old_files_load_with_their_numbers(old: tuple[str, Path, xr.DataTree]) -> None:
    name, path, tree = old
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        was = opened.load()
    assert was.attrs["schema_version"] == 1
    assert tree.attrs["schema_version"] == 2
    assert tree.attrs["bayescal_version"] == was.attrs["bayescal_version"]
    assert tree.attrs["result_kind"] == KINDS[name]
    errors = [
        var for var in ("ece", "tce", "mce") if name in ("ece", "grid") and var in was["posterior"]
    ]
    now, before = tree["posterior"].to_dataset(), was["posterior"].to_dataset()
    xr.testing.assert_identical(now.drop_vars(errors), before.drop_vars(errors))
    for var in errors:
        xr.testing.assert_identical(tree["given_miscalibration"][var], before[var])
        zero = now[var] == 0
        share = was["model_average"]["p_calibrated"].fillna(0.0)
        size = before.sizes["chain"] * before.sizes["draw"]
        assert (abs(zero.mean(("chain", "draw")) - share) <= 1 / size).all()
        assert (zero | (now[var] == before[var])).all()
    assert {"pairing", "yardsticks"}.isdisjoint(tree.children)
    assert table_of(tree, 0.9).rows
    assert len(bc.summary(tree)) > 0


@pytest.mark.slow
def test_what_was_renamed(old: tuple[str, Path, xr.DataTree], tmp_path: Path) -> None:
    name, _, tree = old
    if name == "ece":
        assert bc.difference(tree, "a", "b").correlation == pytest.approx(
            float(tree["error_correlation"]["correlation"][0, 1])
        )
        assert tree.attrs["method"] == "direct"
        assert "curve" not in bc.summary(tree)
        assert bc.interval(tree, "ece").attrs["ci_kind"] == "conservative"
    if name == "grid":
        assert tree.attrs["robust"] in ("true", "false")
        assert "survives" not in tree.attrs
        assert [one.var for one in bc.conclusions(tree)] == ["tce"]
    if name == "ssme":
        assert tree.attrs["method"] == "nuts"
        assert access.point_label(tree) == "SSME-KDE"
        assert set(tree["reference_estimates"]["auc"]["method"].values) == {"ensemble", "labeled"}
        assert "jump_flag" not in tree["diagnostics"]
    xr.testing.assert_identical(bc.load(bc.save(tree, tmp_path / "again.nc")), tree)


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_files_of_0_2_get_the_variables_that_this_version_stores(key: str) -> None:
    now = result_of(key)
    was = now.copy()
    was.attrs = {name: value for name, value in now.attrs.items() if name != "variables"}
    found, known = access.answers(upgrade(was)), access.answers(now)
    for name in ("name", "title", "role", "point"):
        assert [getattr(one, name) for one in found] == [getattr(one, name) for one in known]


def test_results_of_this_version_are_left_as_they_are() -> None:
    tree = make_result(("a",), draws=20)
    assert upgrade(tree) is tree
    assert access.is_converged(tree)
