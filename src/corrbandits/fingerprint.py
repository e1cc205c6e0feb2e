"""What a value is, as a short text: the same value has the same fingerprint in every process, any other another.

An object is what it would be pickled as, less its cached properties; one that keeps other things it has computed
leaves them out of its pickles. Nothing is pickled here, and nothing unpickled.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a policy, a belief, an environment, or whatever they hold.

    >>> from corrbandits import UCL
    >>> fingerprint(UCL(a=1.0)) == fingerprint(UCL(a=1.0)), fingerprint(UCL(a=1.0)) == fingerprint(UCL(a=1.5))
    (True, False)
    """
    try:
        return "sha256:" + _digest(value).hex()
    except (TypeError, RecursionError) as error:
        raise TypeError(
            f"a checkpoint must be able to tell {type(value).__name__} from others like it, but it cannot: {error}. "
            "Keep numbers, texts and arrays in it, or do without a checkpoint."
        ) from error


def _digest(value: Any) -> bytes:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return _hashed("array", value.dtype.str.encode(), repr(value.shape).encode(), np.ascontiguousarray(value).data)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return _hashed(type(value).__name__, repr(value).encode(errors="surrogatepass"))
    if type(value) in (tuple, list):
        return _hashed(type(value).__name__, *map(_digest, value))
    if isinstance(value, (dict, types.MappingProxyType)):  # what was put in first does not matter
        return _hashed("dict", *sorted(_digest(key) + _digest(entry) for key, entry in value.items()))
    if type(value) in (set, frozenset):
        return _hashed("set", *sorted(map(_digest, value)))
    if isinstance(value, types.CodeType):
        return _hashed("code", value.co_code, _digest(value.co_consts), _digest(value.co_names))
    if isinstance(value, types.FunctionType):
        bound = [cell.cell_contents for cell in value.__closure__ or ()]
        return _hashed("function", *map(_digest, (value.__code__, value.__defaults__, value.__kwdefaults__, bound)))
    if isinstance(value, (type, types.BuiltinFunctionType)):
        return _hashed("name", f"{value.__module__}.{value.__qualname__}".encode())
    return _hashed("object", *map(_digest, _reduced(value)))


def _reduced(value: Any) -> Iterable[Any]:
    """Return what an object would be pickled as."""
    reduced = value.__reduce_ex__(4)
    if isinstance(reduced, str):
        return [reduced]
    make, arguments, state, *items = (*reduced, None, None, None)[:5]
    if isinstance(state, Mapping):
        state = {name: entry for name, entry in state.items() if name not in _cached(type(value))}
    return [make, arguments, state, *(None if some is None else list(some) for some in items)]


def _cached(kind: type) -> set[str]:
    """Return the names of cached properties, whose values are kept among the attributes."""
    return {name for base in kind.__mro__ for name, what in vars(base).items() if isinstance(what, cached_property)}


def _hashed(kind: str, *parts: Any) -> bytes:
    """Return the digest of some bytes; each is preceded by its length, so that none runs into the next."""
    hashed = hashlib.sha256(kind.encode())
    for part in parts:
        hashed.update(f" {memoryview(part).nbytes} ".encode())
        hashed.update(part)
    return hashed.digest()
