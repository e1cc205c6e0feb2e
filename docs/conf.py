"""How the documentation is built. Formulas become MathML here, so that pages need no script from elsewhere."""

from docutils import nodes
from latex2mathml.converter import convert

import corrbandits

project = "corrbandits"
author = "the corrbandits authors"
copyright = author
version = release = corrbandits.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": "Kernel,Belief,Policy,Environment"}

html_theme = "furo"
html_title = "corrbandits"
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
html_math_renderer = "mathml"


def inline_formula(self, node):
    """Write a formula within a line."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_formula(self, node):
    """Write a formula on lines of its own."""
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app):
    """Tell Sphinx how to write formulas."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
