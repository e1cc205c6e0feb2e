"""What enters from outside is checked here: each error says what was expected, what was given and what to do."""

from __future__ import annotations

import math
import operator
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]

MOST = int(np.iinfo(np.int64).max)
MOST_COUNT = 2**53
"""Whole numbers up to here are doubles without rounding."""


def numbers(name: str, value: Any) -> Array:
    """Return the value as a fresh float array; text, objects and complex numbers are refused."""
    try:
        array = np.asarray(value)
        whole = array.dtype.kind == "O" and all(isinstance(x, (int, float)) for x in array.flat)  # beyond 64 bits
        if array.dtype.kind not in "uif" and not whole:
            raise TypeError(array.dtype)
        result = array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, got {_show(value)}.") from None
    except OverflowError:
        raise ValueError(f"{name} must fit into a double, got {_show(value)}.") from None
    if hasattr(value, "filled") and np.ma.is_masked(value):  # numpy.ma is loaded only when there is a masked array
        raise ValueError(f"{name} must be there for every entry, but some are masked. Leave these arms out.")
    return result


def finite(name: str, value: Any) -> Array:
    """Return the value as a float array without NaN or infinity."""
    array = numbers(name, value)
    bad = ~np.isfinite(array)
    if bad.any():
        where = f" at {_first(bad)}" if array.ndim else ""
        raise ValueError(f"{name} must be finite, got {array[bad].flat[0]}{where}. Remove it or mend its source.")
    return array


def number(name: str, value: Any, *, above: float = -np.inf, up_to: float = np.inf, least: float = -np.inf) -> float:
    """Return a finite scalar x with above < x <= up_to and x >= least."""
    if not isinstance(value, float):
        value = numbers(name, value)
        if value.ndim:
            raise TypeError(f"{name} must be one number, got an array of shape {value.shape}.")
    x = float(value)
    inside = above < x <= up_to and x >= least
    if not (inside and math.isfinite(x)):
        low = f"above {above:g}" if above > -np.inf else f"at least {least:g}" if least > -np.inf else ""
        high = f"at most {up_to:g}" if up_to < np.inf else ""
        finite = "finite" if inside or not (low or high) else ""
        wanted = " and ".join(part for part in (low, high, finite) if part)
        raise ValueError(f"{name} must be {wanted}, got {x:g}.")
    return x


def positive(name: str, value: Any) -> float:
    """Return a number above 0, which may be infinite."""
    return math.inf if isinstance(value, float) and value == math.inf else number(name, value, above=0)


def integer(name: str, value: Any, *, least: int, most: int = MOST) -> int:
    """Return a whole number of 64 bits, from `least` to `most`; a bool or a float is refused."""
    if type(value) is int and least <= value <= most:
        return value
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {_show(value)}.") from None
    if n < least:
        raise ValueError(f"{name} must be at least {least}, got {n}.")
    if n > most:
        raise ValueError(f"{name} must be at most {most if most == MOST else f'{most:,}'}, got {_show(n)}.")
    return n


def flag(name: str, value: Any) -> bool:
    """Return True or False; refuse anything else."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r:.60}.")
    return value


def text(name: str, value: Any) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, got {_show(value)}.")
    return value


def arm(value: Any, arms: int) -> int:
    """Return an arm's index, 0 to arms - 1."""
    k = integer("an arm", value, least=0)
    if k >= arms:
        raise ValueError(f"an arm must be an index from 0 to {arms - 1}, got {k}.")
    return k


def arm_array(value: Any, arms: int) -> Integers:
    """Return indices of arms, each 0 to arms - 1."""
    array = _whole(value)
    if array is None:
        raise TypeError(f"arms must be whole numbers, got {_show(value)}.")
    if array.ndim != 1:
        raise ValueError(f"arms must be a list of indices, got an array of shape {array.shape}.")
    for k in array[(array < 0) | (array >= arms)][:1]:
        raise ValueError(f"arms must be indices from 0 to {arms - 1}, got {k}.")
    return array.astype(np.int64)


def counts(value: Any, arms: int) -> Integers:
    """Return how many rewards each arm gave."""
    array = _whole(value)
    if array is None or array.shape != (arms,) or (array < 0).any() or (array > MOST_COUNT).any():
        raise ValueError(f"counts must be {arms} whole numbers from 0 to 2^53, one per arm, got {_show(value)}.")
    return array.astype(np.int64)


def per_arm(name: str, value: Any, arms: int, *, infinite: bool = False) -> Array:
    """Return one number per arm, from one for all or one each."""
    array = numbers(name, value) if infinite else finite(name, value)
    if array.shape not in ((), (arms,)):
        raise ValueError(f"{name} must be one number or {arms}, one per arm, but its shape is {array.shape}.")
    return np.array(np.broadcast_to(array, (arms,)))


def noise(value: Any, arms: int) -> Array:
    """Return the noise variance of each arm: finite and above 0."""
    array = per_arm("noise_variance", value, arms)
    if not (array > 0).all():
        raise ValueError(
            f"noise_variance must be above 0, got {array.min():g}. "
            "An arm measured without noise is known after one pull: give it a very small variance instead."
        )
    return array


def points(name: str, value: Any) -> Array:
    """Return points as the rows of a matrix; a vector is points on a line."""
    array = finite(name, value)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or not array.size:
        raise ValueError(f"{name} must be a matrix with one row per point, but its shape is {array.shape}.")
    return array


def generator(who: str, rng: Any) -> np.random.Generator:
    """Return a random generator; a seed is refused, for it would give the same draw each time."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"{who} draws at random: pass rng=numpy.random.default_rng(seed), got {_show(rng)}.")
    return rng


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, made read-only: beliefs and environments share theirs."""
    array.setflags(write=False)
    return array


def fields_of(thing: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, such as a kernel or a policy, by name."""
    return {field.name: getattr(thing, field.name) for field in fields(thing)}


def set_field(owner: object, name: str, value: Any) -> None:
    """Put a checked value into a field of a frozen dataclass, while it is being made."""
    object.__setattr__(owner, name, value)


def _whole(value: Any) -> npt.NDArray[Any] | None:
    """Return an array of whole numbers, or None if the value is none; an empty list has no type and is one."""
    if np.ma.isMaskedArray(value):  # its mask would be lost
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged list
        return None
    return array if array.dtype.kind in "ui" or not array.size else None


def _first(mask: npt.NDArray[np.bool_]) -> str:
    position = tuple(int(i) for i in np.argwhere(mask)[0])
    return f"index {position[0] if len(position) == 1 else position}"


def _show(value: Any) -> str:
    shown = repr(value)
    return f"{shown if len(shown) <= 60 else shown[:57] + '...'} ({type(value).__name__})"
