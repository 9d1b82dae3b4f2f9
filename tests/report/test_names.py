"""Names as users gave them."""

import pytest

from bayescal.report.render import LONGEST, named, plain
from tests.report.pages import HOSTILE, Page


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_element_that_keeps_its_direction(name: str) -> None:
    (bdi,) = Page(str(plain(name))).elements
    assert bdi.tag == "bdi"
    assert bdi.attrs.get("title", bdi.text) == name
    assert len(bdi.text) <= LONGEST


def test_a_name_in_a_sentence_is_bold() -> None:
    assert str(named("a & b")) == "<strong><bdi>a &amp; b</bdi></strong>"
