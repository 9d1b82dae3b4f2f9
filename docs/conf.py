"""Sphinx configuration."""

import sys
from pathlib import Path

import numpydoc
from jinja2 import FileSystemLoader
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx

from bayescal._version import __version__

sys.path.insert(0, str(Path(__file__).parent))

# numpydoc makes one for each docstring and compiles its template anew, a tenth of the whole time.
_environment = SandboxedEnvironment(
    loader=FileSystemLoader(Path(numpydoc.__file__).parent / "templates")
)
docscrape_sphinx.SandboxedEnvironment = lambda loader: _environment

project = "bayescal"
author = "The bayescal developers"
copyright = "2026, The bayescal developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "mathtext",
    "returned",
    "numpydoc",
    "myst_nb",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

# Notebooks are committed with their outputs; the checks execute them apart from this build.
nb_execution_mode = "off"

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_math_renderer = "mathtext"
html_theme = "pydata_sphinx_theme"
html_title = "bayescal"
html_static_path = ["_static"]
html_css_files = ["bayescal.css"]
# Pages without others below them need no list of pages beside the text.
html_sidebars = {name: [] for name in ("index", "get_started", "faq", "benchmarks")}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
}
