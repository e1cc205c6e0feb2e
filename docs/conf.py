"""How the documentation is built."""

import corrbandits

project = "corrbandits"
author = "the corrbandits authors"
copyright = author
version = release = corrbandits.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": "Kernel,Belief,Policy,Environment"}

html_theme = "furo"
html_title = "corrbandits"
html_static_path = []
