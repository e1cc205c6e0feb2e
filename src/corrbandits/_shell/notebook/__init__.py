"""What notebooks show of an object: small tables and pictures, as HTML and SVG without scripts."""

from corrbandits._shell.notebook.pictures import curves, field, strip
from corrbandits._shell.notebook.tables import block, table

__all__ = ["block", "curves", "field", "strip", "table"]
