"""What shows itself, in a real browser: light and dark notebooks, wide and narrow."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest

import bayescal as bc
from tests.report.pages import HOSTILE
from tests.report.test_browser import CONTRAST, DESK, driver
from tests.report.test_show import SCORE, SHOWING
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_result
from tests.synthetic_ssme import make_panel_result

__all__ = ["driver"]
pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Rules of JupyterLab for what a cell shows, and its colours; VS Code sets colours alone.
LAB = """
.jp-RenderedHTMLCommon { color: %(ink)s; overflow-wrap: break-word }
.jp-RenderedHTMLCommon table { border-collapse: collapse; table-layout: fixed; font-size: 12px;
  margin-left: auto; margin-right: auto; color: red }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr {
  text-align: right; vertical-align: middle; padding: .5em; white-space: normal; border: none }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: #777 }
:root { --jp-content-font-color0: %(ink)s; --jp-layout-color0: %(paper)s }
"""
CODE = ":root { --vscode-editor-foreground: %(ink)s; --vscode-editor-background: %(paper)s }"
LIGHT, DARK = {"ink": "rgba(0,0,0,1)", "paper": "white"}, {"ink": "#ccc", "paper": "#1f1f1f"}
# A page by the system's scheme, and notebooks whose theme is not that of the system.
PLACES = {
    "light": ("light", ""),
    "dark": ("dark", ""),
    "lab dark": ("light", LAB % DARK),
    "lab light": ("dark", LAB % LIGHT),
    "code dark": ("light", CODE % DARK),
    "code light": ("dark", CODE % LIGHT),
}
# color-mix comes out of getComputedStyle as shares of 1.
PAINTED = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const parse = colour => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  const c = [...canvas.getImageData(0, 0, 1, 1).data]; c[3] /= 255; return c;
};
"""
OVERLAPS = """
const found = [];
for (const row of document.querySelectorAll('.bayescal-shown tr')) {
  const boxes = [...row.children].map(e => e.getBoundingClientRect()).filter(r => r.width > 0);
  for (const a of boxes) for (const b of boxes) if (a !== b
    && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
    found.push(row.textContent);
}
const wide = [...document.querySelectorAll('.bs-frame')].filter(e => e.scrollWidth > e.clientWidth);
return [found, wide.map(e => e.textContent), document.documentElement.scrollWidth];
"""


@pytest.fixture(scope="module")
def shown() -> str:
    """What several objects show, as one notebook has it."""
    made = [
        make_result(HOSTILE, draws=50),
        make_result(("vit",), draws=50, converged=False),
        make_panel_result(("forest", "boosting"), ("x", "y")),
        make_credal_result(("forest",)),
        bc.Scores([0, 1] * 100, SCORE, classifier="vit"),
        SHOWING["Difference"](),
        SHOWING["Best"](),
        SHOWING["DecisionCurve"](),
        SHOWING["Change"](),
        SHOWING["LabelPlan with a limit"](),
    ]
    parts = (
        f'<div class="jp-RenderedHTMLCommon">{bc.show(one)._repr_html_()}</div>' for one in made
    )
    return "\n".join(parts)


# Colours do not depend on the width, nor the layout on colours, but on the rules of JupyterLab.
@pytest.mark.parametrize(
    ("place", "width"),
    [(place, 640) for place in PLACES]
    + [(place, width) for place in ("light", "lab light") for width in (320, 400, 720, 1280)],
)
def test_reads_in_every_notebook(
    driver: Any,
    shown: str,
    tmp_path: Path,
    place: str,
    width: int,
) -> None:
    scheme, style = PLACES[place]
    path = tmp_path / "shown.html"
    path.write_text(
        "<!doctype html><html><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<meta name='color-scheme' content='light dark'><style>{style}</style></head>"
        f"<body>{shown}</body></html>",
        encoding="utf-8",
    )
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    screen = {**DESK, "width": width, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    driver.get(path.as_uri())
    if folder := os.environ.get("BAYESCAL_SCREENSHOTS"):
        height = driver.execute_script("return document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        Path(folder, f"{place} {width}.png").write_bytes(base64.b64decode(shot["data"]))
    overlapping, cut, page_width = driver.execute_script(OVERLAPS)
    assert overlapping == []
    assert cut == []
    assert page_width <= width
    _, rest = CONTRAST.split("const part", 1)
    assert driver.execute_script(f"{PAINTED} const part {rest}") == []
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
