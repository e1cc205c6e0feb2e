"""Where users already are: `BanditEnv`, a Gymnasium environment, and `CorrelatedUCLSampler`, an Optuna sampler.

Each name loads its own library when it is asked for, so one works where the other's library is not installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corrbandits.adapters.bandit_env import BanditEnv
    from corrbandits.adapters.sampler import CorrelatedUCLSampler

_HOMES = {"BanditEnv": ("bandit_env", "gymnasium"), "CorrelatedUCLSampler": ("sampler", "optuna")}

__all__ = ["BanditEnv", "CorrelatedUCLSampler"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'corrbandits.adapters' has no attribute {name!r}")
    module, library = _HOMES[name]
    try:
        importlib.import_module(library)
    except ImportError as error:
        raise ImportError(
            f"{name} needs {library}, which cannot be loaded here ({error}). "
            f"Install it, in a clone of the repository: pip install '.[{library}]'"
        ) from error
    return getattr(importlib.import_module(f"corrbandits.adapters.{module}"), name)


def __dir__() -> list[str]:
    return __all__
