"""Rows of summaries, put in the order of time."""

from bayescal.results.summary import series_of


def row(classifier: str, mean: float, status: str = "ok") -> dict:
    return {
        "classifier": classifier,
        "n": 10.0,
        "tce_mean": mean,
        "tce_lower": 0.0,
        "tce_upper": 2 * mean,
        "p_calibrated": 0.5,
        "status": status,
    }


def test_series_are_classifiers_in_groups_and_windows_in_order() -> None:
    rows = [
        ("north", "10", row("a", 0.1)),
        ("north", "9", row("a", 0.2, "NOT CONVERGED")),
        ("south", "9", row("b", 0.3)),
    ]
    found = series_of(rows, ["9", "10"])
    assert [one.name for one in found] == ["north / a", "south / b"]
    assert [window.name for window in found[0].windows] == ["9", "10"]
    assert [window.converged for window in found[0].windows] == [False, True]
    assert found[0].windows[1][1:5] == (10.0, 0.1, 0.0, 0.2)


def test_names_have_only_what_differs() -> None:
    assert [one.name for one in series_of([("", "9", row("a", 0.1))], ["9"])] == ["a"]
    assert [one.name for one in series_of([("north", "9", row("a", 0.1))], ["9"])] == ["north"]
