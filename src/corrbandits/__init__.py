"""Sequential decisions among arms whose rewards are related.

The reference implementation of the upper credible limit (UCL) algorithms of Srivastava, Reverdy and Leonard,
"Correlated Multiarmed Bandit Problem: Bayesian Algorithms and Regret Analysis". Names load when they are first
used; `__init__.pyi` is the one list of them, read here and by type checkers.
"""

import importlib
import pkgutil
import re
from typing import Any

__version__ = "0.2.0"

_STUB = pkgutil.get_data(__name__, "__init__.pyi") or b""  # by the package's loader: it may lie in a zip file
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", _STUB.decode(), re.MULTILINE)}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    package = importlib.import_module(home)
    if home != __name__ and hasattr(package, name):
        return getattr(package, name)
    return importlib.import_module(f"{home}.{name}")


def __dir__() -> list[str]:
    return __all__
