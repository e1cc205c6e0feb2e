"""What a value is, as a short text: the same value has the same fingerprint in every process, any other another.

An object is what it would be pickled as, less its cached properties; one that keeps other things it has computed
leaves them out of its pickles. A function or class of one's own is its code, and the values of the globals that the
code names, as they are now; what belongs to Python or to an installed package is its name. Nothing is pickled here,
and nothing unpickled.
"""

from __future__ import annotations

import dis
import hashlib
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np

INSTALLED = {"site-packages", "dist-packages"}
"""The directories that packages are installed into."""

LIBRARIES = {"corrbandits", "numpy", "scipy", "sklearn"} | set(sys.stdlib_module_names)
"""What is a library wherever it lies."""

OF_A_DATACLASS = {"__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"}
"""Methods that a dataclass is given, with `__setattr__` and `__delattr__`; they follow from its fields."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a policy, a belief, an environment, or whatever they hold.

    >>> from corrbandits import UCL
    >>> fingerprint(UCL(a=1.0)) == fingerprint(UCL(a=1.0)), fingerprint(UCL(a=1.0)) == fingerprint(UCL(a=1.5))
    (True, False)
    """
    try:
        return "sha256:" + _Digests().of(value).hex()
    except (TypeError, RecursionError) as error:
        raise TypeError(
            f"a checkpoint must be able to tell {type(value).__name__} from others like it, but it cannot: {error}. "
            "Keep numbers, texts and arrays in it, or do without a checkpoint."
        ) from error


class _UnlikeAValue(TypeError):  # noqa: N818  the message says what is wrong
    """Says which name stands for something that has no content to compare."""


@final
class _Digests:
    """Digests of values; each function and each class of one's own is taken apart once."""

    def __init__(self) -> None:
        self._known: dict[Any, bytes] = {}  # functions and classes; of those being taken apart, the name

    def of(self, value: Any) -> bytes:
        """Return the digest of a value."""
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            content = np.ascontiguousarray(value).data
            return _hashed("array", value.dtype.str.encode(), repr(value.shape).encode(), content)
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
            return _hashed(type(value).__name__, repr(value).encode(errors="surrogatepass"))
        if type(value) in (tuple, list):
            return _hashed(type(value).__name__, *map(self.of, value))
        if isinstance(value, (dict, types.MappingProxyType)):  # what was put in first does not matter
            return _hashed("dict", *sorted(self.of(key) + self.of(entry) for key, entry in value.items()))
        if type(value) in (set, frozenset):
            return _hashed("set", *sorted(map(self.of, value)))
        if isinstance(value, types.CodeType):
            return _hashed("code", value.co_code, self.of(value.co_consts), self.of(value.co_names))
        if isinstance(value, types.FunctionType):
            return self._once(value, self._function)
        if isinstance(value, type) and not _is_of_a_library(value.__module__):
            return self._once(value, self._class)
        if isinstance(value, (type, types.BuiltinFunctionType)):
            return _hashed("name", _name(value))
        if isinstance(value, (types.ModuleType, np.ufunc)):
            return _hashed("name", value.__name__.encode())
        if (inner := _wrapped(value)) is not None:
            return _hashed("wrapped", _name(type(value)), self.of(inner))
        return _hashed("object", *map(self.of, _reduced(value)))

    def _once(self, value: Any, digest: Any) -> bytes:
        """Return the digest of what may refer to itself."""
        if value not in self._known:
            self._known[value] = _hashed("name", _name(value))
            self._known[value] = digest(value)
        return self._known[value]

    def _function(self, function: types.FunctionType) -> bytes:
        bound = [_content(cell) for cell in function.__closure__ or ()]
        parts = function.__code__, function.__defaults__, function.__kwdefaults__, bound
        named = {} if _is_of_a_library(function.__module__) else _globals(function)
        return _hashed("function", *map(self.of, parts), *self._entries(function, named))

    def _class(self, kind: type) -> bytes:
        bases = [base for base in kind.__mro__ if base is not kind]
        return _hashed("class", _name(kind), *map(self.of, bases), *self._entries(kind, _attributes(kind)))

    def _entries(self, owner: Any, entries: Mapping[str, Any]) -> Iterator[bytes]:
        for name, value in sorted(entries.items()):
            try:
                yield name.encode(errors="surrogatepass") + b"=" + self.of(value)
            except _UnlikeAValue:
                raise
            except TypeError as error:
                raise _UnlikeAValue(f"{name}, which {owner.__qualname__} uses, is a {type(value).__name__}") from error


def _globals(function: types.FunctionType) -> dict[str, Any]:
    """Return the globals that a function's code names, and what it may take by name from modules of one's own."""
    there: dict[str, Any] = {}
    for code in _codes(function.__code__):
        loaded = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        found = {name: function.__globals__[name] for name in loaded & function.__globals__.keys()}
        there |= found | _taken_from(found, code.co_names, set())
    return there


def _taken_from(found: Mapping[str, Any], names: Iterable[str], done: set[types.ModuleType]) -> dict[str, Any]:
    """Return what has one of these names in those of the values found that are modules of one's own."""
    there: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, types.ModuleType) and value not in done and not _is_of_a_library(value.__name__):
            done.add(value)
            inside = {f"{name}.{other}": vars(value)[other] for other in names if other in vars(value)}
            there |= inside | _taken_from(inside, names, done)
    return there


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is in it yet
        return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a function's code and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _attributes(kind: type) -> dict[str, Any]:
    """Return what a class itself says: methods, properties and data, but not what Python adds."""
    made = OF_A_DATACLASS | {"__setattr__", "__delattr__"} if "__dataclass_fields__" in vars(kind) else set()
    descriptors = types.MemberDescriptorType, types.GetSetDescriptorType
    found = {}
    for name, value in vars(kind).items():
        is_special = name.startswith("__") and name.endswith("__")
        if name in made or name == "_abc_impl" or isinstance(value, descriptors):
            continue
        if not is_special or isinstance(value, (types.FunctionType, classmethod, staticmethod, property)):
            found[name] = value
    return found


def _wrapped(value: Any) -> Any:
    """Return the functions within what is made of functions: methods, properties, what caches or compiles them."""
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, cached_property):
        return value.func
    if isinstance(value, (classmethod, staticmethod)):
        return value.__func__
    if isinstance(value, type(lru_cache(len))):
        return value.__wrapped__
    return value.py_func if type(value).__module__.startswith("numba.") and hasattr(value, "py_func") else None


def _is_of_a_library(module: str | None) -> bool:
    """Return whether a module belongs to Python, to this package or to one that is installed."""
    root = (module or "").partition(".")[0]
    if root in LIBRARIES:
        return True
    place = getattr(sys.modules.get(root), "__file__", None) or ""
    return not INSTALLED.isdisjoint(place.replace("\\", "/").split("/"))


def _name(value: Any) -> bytes:
    return f"{value.__module__}.{value.__qualname__}".encode(errors="surrogatepass")


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
