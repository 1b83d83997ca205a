"""Configuration of Sphinx for the documentation site.

`make docs` runs scripts/build_docs.py, which collects the pages and then runs Sphinx with this
file. Nothing is downloaded: equations become MathML, and the theme has its own fonts and scripts.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

import textkin

project = "textkin"
author = "The textkin developers"
project_copyright = author
version = release = textkin.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_templates", "files"]
templates_path = ["_templates"]
default_role = "code"
suppress_warnings = ["myst.header"]  # each page of results starts with its own table
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_use_plots = False

html_theme = "pydata_sphinx_theme"
html_title = "textkin"
html_static_path = ["_static"]
html_css_files = ["textkin.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "logo": {"text": "textkin"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "back_to_top_button": False,
}
html_sidebars = {"index": []}


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    r"""Return an equation as MathML; docutils has no ``\Big``, and brackets stretch without it."""
    return tex2mathml(re.sub(r"\\[bB]igg?(?![A-Za-z])", "", node.astext()), as_block=as_block)


def _write_inline(self: Any, node: nodes.math) -> None:  # noqa: ANN401
    """Write an equation inside a line as MathML."""
    self.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _write_block(self: Any, node: nodes.math_block) -> None:  # noqa: ANN401
    """Write a displayed equation as MathML."""
    self.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _is_foreign(
    app: Sphinx,
    what: str,
    name: str,
    item: object,
    skip: bool,
    options: object,
) -> bool:
    """Return True for methods that scikit-learn generates, such as `set_fit_request`."""
    return skip or (name.startswith("set_") and name.endswith("_request"))


def setup(app: Sphinx) -> None:
    """Register the writer of equations and the choice of members."""
    app.connect("autodoc-skip-member", _is_foreign)
    app.add_html_math_renderer("mathml", (_write_inline, None), (_write_block, None))
