"""Pages of the report as the tests read them: parsed strictly, by the standard library."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

import xarray as xr

from bayescal.report.page import SECTIONS
from bayescal.report.render import View

VOID = {"meta", "link", "img", "br", "hr", "input", "source", "wbr"}
HOSTILE = (
    "<script>alert(1)</script>",
    "$x_1$",
    "a&b",
    'quote" onload="alert(2)',
    "--><script>alert(3)</script><!--",
    "bell\x07",
    "emoji 😀",
    "שלום",
    "long_" * 60,
)


@dataclass
class Element:
    tag: str
    attrs: dict[str, str]
    text: str = ""
    path: tuple[str, ...] = field(default=())


class Page(HTMLParser):
    """Elements in order, each with all text below it; a tag out of place raises."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.declaration = ""
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {[element.tag for element in self._open]}"

    def handle_decl(self, decl: str) -> None:
        self.declaration = decl

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        path = tuple(element.tag for element in self._open)
        element = Element(tag, {name: value or "" for name, value in attrs}, path=path)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]

    def section(self, name: str) -> Element:
        return next(element for element in self.all("section") if element.attrs["id"] == name)

    @property
    def ids(self) -> list[str]:
        return [element.attrs["id"] for element in self.elements if "id" in element.attrs]


def sections(trees: Sequence[xr.DataTree], *ids: str, prob: float = 0.9) -> Page:
    """Some sections of a page: drawing the figures of the others takes most of the time."""
    views = [View(tree, prob, number) for number, tree in enumerate(trees, start=1)]
    bodies = {one.id: one.render(views) for one in SECTIONS if one.id in ids}
    return Page("".join(f'<section id="{id}">{body}</section>' for id, body in bodies.items()))


def words(text: str) -> str:
    """The text with its white space made even."""
    return " ".join(text.split())
