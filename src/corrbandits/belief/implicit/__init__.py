"""Arms that say something of each other, too many for a matrix."""

from corrbandits.belief.implicit.belief import Implicit

__all__ = ["Implicit"]
