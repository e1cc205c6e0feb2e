"""Sequential decisions among arms whose rewards are related.

The reference implementation of the upper credible limit (UCL) algorithms of Srivastava, Reverdy and Leonard,
"Correlated Multiarmed Bandit Problem: Bayesian Algorithms and Regret Analysis". Names load when they are first
used; `__init__.pyi` is the one list of them, read here and by type checkers.
"""

import ast
import importlib
from pathlib import Path
from typing import Any

__version__ = "0.2.0"


def _homes() -> dict[str, str]:
    """Return the package that each public name is imported from, as the stub beside this file says."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or __name__ for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    value = getattr(home, name, None) if home.__name__ != __name__ else None
    return value if value is not None else importlib.import_module(f"{_HOMES[name]}.{name}")


def __dir__() -> list[str]:
    return __all__
