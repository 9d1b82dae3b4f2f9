import re

import pytest

import bayescal as bc
from bayescal.results.text import fixed


@pytest.fixture(scope="module")
def result():
    scores = bc.datasets.temperature.truth("binary").scores(150, seed=1)
    return bc.fit(bc.temperature, scores, method="direct", seed=20)


def test_a_report_has_a_line_for_each_class(result, tmp_path):
    bc.report(result, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    section = page[page.index('id="classes"') :]
    for name in ("0", "1"):
        mean = float(result["posterior"]["alpha"].sel(label_class=name).mean())
        assert re.search(rf"{fixed(mean)} \(", section)


def test_a_result_that_names_no_classes_has_no_such_section(result, tmp_path):
    other = result.copy()
    del other.attrs["class_variables"]
    bc.report(other, tmp_path / "r.html")
    assert 'id="classes"' not in (tmp_path / "r.html").read_text(encoding="utf-8")
