"""The arithmetic of choices in loops without Python.

    name        shape     meaning
    K           (N, N)    prior correlation of the arms
    ratio       ()        noise variance over prior variance
    A, B        (T, N)    what is believed before each trial: mean A + prior mean * B
    D           (T, N)    posterior variance over prior variance
    V, q        (T, N)    row t of L^-1 K(seen, all), L L' = K(seen, seen) + ratio I; q its diagonal
    a, b        (T,)      L^-1 rewards and -L^-1 1
    X           (n, p, N) what each coefficient multiplies, for each choice and arm; the last row is the offset
    x           (p,)      coefficients of the choice

Trials of all rounds follow one another; `starts` says where each round begins. `posterior` gives A, B and D, `adjoint`
takes derivatives with respect to them back to K and the ratio, `printed` gives the factor of the printed index and its
derivatives, `logit` the likelihood of choices and where it is largest. Nothing here raises or calls Python. The modules
load, and numba with them, when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corrbandits.choices.compiled import design, logit, posterior

__all__ = ["design", "logit", "posterior"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
