"""What tests share: priors and histories, databases, extended precision."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The repository."""


def script(place):
    """A file of Python in the repository that is part of no package, as a module."""
    path = ROOT / place
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)  # dataclasses look it up there
    spec.loader.exec_module(module)
    return module
