"""Figures as images, valid, the same each time and harmless; names as users gave them."""

import base64
import warnings
from collections.abc import Callable
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from bayescal.plots import plot_comparison, plot_posterior, plot_reliability
from bayescal.plots.style import Drawing
from bayescal.report.render import HEAVIEST_SVG, LONGEST, Image, image, named, plain, to_svg
from tests.report.pages import HOSTILE, Page
from tests.synthetic import make_result

pytestmark = pytest.mark.pictures


def content(address: str) -> tuple[str, bytes]:
    kind, data = address.split(";base64,")
    return kind, base64.b64decode(data)


def drawn(draw: Callable[[], Figure]) -> Image:
    return image(Drawing(draw, "n", "c"))


def titled(text: str) -> Figure:
    figure = Figure(figsize=(3, 2))
    figure.subplots().set_title(text, parse_math=False)
    return figure


def test_a_figure_becomes_svg_of_its_size() -> None:
    found = drawn(lambda: titled("a"))
    kind, svg = content(found.address)
    assert kind == "data:image/svg+xml"
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert (found.width, found.height) == (288, 192)


def test_a_heavy_figure_becomes_png() -> None:
    def scattered() -> Figure:
        figure = Figure(figsize=(2, 2))
        figure.subplots().plot(*np.random.default_rng(0).random((2, 20_000)), marker=".")
        return figure

    assert len(to_svg(scattered())) > HEAVIEST_SVG
    kind, png = content(drawn(scattered).address)
    assert kind == "data:image/png"
    assert png.startswith(b"\x89PNG")


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_gives_valid_svg_that_shows_it(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _kind, svg = content(drawn(lambda: titled(text)).address)
    root = ElementTree.fromstring(svg)
    shown = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]
    assert text.replace("\x07", "") in shown
    assert not [e for e in root.iter() if e.tag.endswith("script")]


@pytest.mark.slow
def test_plots_show_hostile_names_as_text() -> None:
    tree = make_result(HOSTILE[:3], draws=50)
    for plot in (plot_comparison, plot_posterior):
        _, svg = content(drawn(lambda plot=plot: plot(tree)).address)
        shown = {"".join(e.itertext()) for e in ElementTree.fromstring(svg).iter()}
        assert set(HOSTILE[:3]) <= shown


@pytest.mark.slow
def test_the_same_figure_gives_the_same_bytes() -> None:
    tree = make_result(("a",), draws=50)
    first = drawn(lambda: plot_reliability(tree)).address
    drawn(lambda: titled("between"))
    assert drawn(lambda: plot_reliability(tree)).address == first


def test_neither_settings_nor_warnings_filters_are_changed() -> None:
    settings, filters = dict(mpl.rcParams), list(warnings.filters)
    drawn(lambda: titled("😀"))
    assert dict(mpl.rcParams) == settings
    assert warnings.filters == filters


def test_a_figure_names_no_date_and_no_tool() -> None:
    svg = to_svg(titled("a"))
    assert "Matplotlib" not in svg
    assert "metadata" not in svg
    assert "<!--" not in svg


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_element_that_keeps_its_direction(name: str) -> None:
    bdi, *joints = Page(str(plain(name))).elements
    assert bdi.tag == "bdi"
    assert {one.tag for one in joints} <= {"wbr"}
    assert bdi.attrs.get("title", bdi.text) == name
    assert len(bdi.text) <= LONGEST


def test_a_classifier_and_its_group_keep_their_order_whatever_their_directions() -> None:
    assert str(plain("אבג / دهو")) == "<bdi>אבג</bdi> / <bdi>دهو</bdi>"
    cut = Page(str(plain("אבג / north", short="אבג / n...h"))).elements
    assert [(one.attrs["title"], one.text) for one in cut] == [
        ("אבג / north", "אבג"),
        ("אבג / north", "n...h"),
    ]


def test_a_name_in_a_sentence_is_bold() -> None:
    assert str(named("a & b")) == "<strong><bdi>a &amp; b</bdi></strong>"
