"""The report in a real browser: headless Chromium, on a screen, on a phone, on paper.

Skipped where no browser is found; with BAYESCAL_REQUIRE_BROWSER=1 that fails instead.
Screenshots are left where BAYESCAL_SCREENSHOTS says, for looking at.
"""

import base64
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bayescal.report import report
from tests.report.pages import HOSTILE
from tests.synthetic import make_result
from tests.synthetic_credal import make_credal_result
from tests.synthetic_ssme import make_panel_result

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.pictures]

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
PAPER = 680
"""CSS pixels between the margins of A4."""
DESK = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}


def _missing() -> str:
    """Why there is no browser to test with; "" if there is one."""
    if _browser() is None:
        return "no chromium or google-chrome on the path"
    if shutil.which("chromedriver") is None:
        return "no chromedriver on the path"
    return ""


def _browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    reason = _missing()
    if reason:
        if os.environ.get("BAYESCAL_REQUIRE_BROWSER") == "1":
            pytest.fail(f"BAYESCAL_REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(reason)
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = _browser() or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    started = webdriver.Chrome(options=options, service=service)
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One report with every section, and names that would break a careless page."""
    results = [
        make_result(HOSTILE[:3], draws=50, prior=True),
        make_result(HOSTILE[3:5], groups=("women", "<i>men</i>"), draws=50, converged=False),
        make_panel_result(HOSTILE[5:7], groups=("women", HOSTILE[-1]), draws=50),
        make_credal_result((HOSTILE[0], HOSTILE[7]), (*HOSTILE[:2], HOSTILE[3])),
    ]
    path = tmp_path_factory.mktemp("report") / "calibration.html"
    return report(results, path, title=HOSTILE[0])


def opened(
    driver: Any, page: Path, screen: dict[str, Any], scheme: str = "light", media: str = ""
) -> Any:
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    scheme_of = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme_of]})
    driver.get(page.as_uri())
    driver.execute_async_script(
        "const done = arguments[0];"
        "Promise.all([...document.images].map(image => image.decode())).then(() => done(true));"
    )
    return driver


def kept(driver: Any, name: str, screen: dict[str, Any]) -> None:
    """Leave a picture of the whole page where the environment asks for it."""
    folder = os.environ.get("BAYESCAL_SCREENSHOTS")
    if not folder:
        return
    height = driver.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": screen["width"], "height": height, "scale": 1}
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
    )
    Path(folder, f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def test_console_has_nothing_to_say(driver: Any, page: Path) -> None:
    opened(driver, page, DESK)
    kept(driver, "desk", DESK)
    assert driver.get_log("browser") == []


def test_every_section_is_there_and_visible(driver: Any, page: Path) -> None:
    opened(driver, page, DESK)
    boxes = driver.execute_script(
        "return [...document.querySelectorAll('section')].map(section => {"
        "const r = section.getBoundingClientRect(); return [section.id, r.width, r.height]})"
    )
    assert len(boxes) == 13
    for name, *box in boxes:
        assert min(box) > 50, name


def test_hostile_names_are_text(driver: Any, page: Path) -> None:
    from selenium.common.exceptions import NoAlertPresentException

    opened(driver, page, DESK)
    with pytest.raises(NoAlertPresentException):
        _ = driver.switch_to.alert.text
    assert driver.execute_script("return document.scripts.length") == 0
    assert (
        driver.execute_script("return document.querySelectorAll('bdi :not(wbr), td i').length") == 0
    )
    shown = driver.execute_script(
        "return [...document.querySelectorAll('bdi')].map(e => e.title || e.textContent)"
    )
    assert {*HOSTILE, "<i>men</i>"} <= set(shown)
    assert driver.title == HOSTILE[0]


def test_every_figure_is_drawn(driver: Any, page: Path) -> None:
    opened(driver, page, DESK)
    sizes = driver.execute_script(
        "return [...document.images].map(e => [e.complete, e.naturalWidth, e.clientWidth])"
    )
    assert len(sizes) > 15
    assert all(complete and natural > 100 and shown > 100 for complete, natural, shown in sizes)


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_the_page_does_not_scroll_sideways(driver: Any, page: Path, width: int) -> None:
    screen = {**PHONE, "width": width}
    opened(driver, page, screen)
    if width == 390:
        kept(driver, "phone", screen)
    assert driver.execute_script("return window.innerWidth") == width
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_tables_scroll_within_their_frame_on_a_phone(driver: Any, page: Path) -> None:
    opened(driver, page, PHONE)
    inner, outer = driver.execute_script(
        "const e = document.querySelector('#table .scroll'); return [e.scrollWidth, e.clientWidth]"
    )
    assert outer <= 390 < inner


def test_names_of_thirteen_letters_stay_whole_on_a_phone(driver: Any, tmp_path: Path) -> None:
    short = report(make_result(("overconfident",), draws=50), tmp_path / "short.html")
    opened(driver, short, PHONE)
    lines = (
        "return [...document.querySelectorAll('tbody th bdi')].map(e => e.getClientRects().length)"
    )
    assert set(driver.execute_script(lines)) == {1}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(driver: Any, page: Path, scheme: str) -> None:
    """WCAG 2.1, 1.4.3: a contrast of 4.5 to 1 or more, for every piece of text."""
    opened(driver, page, DESK, scheme)
    low = driver.execute_script(CONTRAST)
    assert low == []


@pytest.mark.parametrize(
    ("scheme", "media", "ground"), [("light", "", 255), ("dark", "", 40), ("dark", "print", 255)]
)
def test_figures_stand_on_the_ground_of_the_page(
    driver: Any, page: Path, scheme: str, media: str, ground: int
) -> None:
    """The corner of every figure, as it is drawn: dark on dark screens, white on paper."""
    opened(driver, page, DESK, scheme, media)
    shades = driver.execute_script(CORNERS)
    assert len(shades) > 15
    assert all(shade == 255 if ground == 255 else shade <= ground for shade in shades)


def test_tables_and_figures_fit_the_width_of_paper(driver: Any, page: Path) -> None:
    opened(driver, page, {**DESK, "width": PAPER}, media="print")
    wide = driver.execute_script(
        "return [...document.querySelectorAll('table, img, pre')]"
        ".map(e => [e.tagName, e.closest('section').id, e.getBoundingClientRect().right])"
        f".filter(found => found[2] > {PAPER} + 1)"
    )
    assert wide == []


def test_prints_on_paper(driver: Any, page: Path) -> None:
    opened(driver, page, DESK)
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    if folder := os.environ.get("BAYESCAL_SCREENSHOTS"):
        Path(folder, "print.pdf").write_bytes(pdf)


CORNERS = """
return [...document.images].map(image => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  return Math.max(...pen.getImageData(2, canvas.height - 3, 1, 1).data.slice(0, 3));
});
"""
CONTRAST = """
const parse = colour => colour.match(/[\\d.]+/g).map(Number);
const part = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
const ground = e => {
  for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
const low = [];
for (const e of document.querySelectorAll('body *')) {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) continue;
  const style = getComputedStyle(e);
  const ink = parse(e instanceof SVGElement ? style.fill : style.color);
  const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) low.push([e.tagName, e.className, ratio]);
}
return low;
"""
