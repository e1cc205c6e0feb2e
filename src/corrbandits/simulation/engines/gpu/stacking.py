"""Several problems as one: each field of all of them in one array, which is sent to the device at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import Any, TypeVar

import numpy as np

_T = TypeVar("_T", bound=tuple[Any, ...])


def stacked(each: Iterable[_T], many: int, alike: Collection[str] = ()) -> _T:
    """Return so many named tuples of arrays and numbers as one: a row each, 0 beyond the end of shorter ones.

    The first has the longest arrays. What is alike in all is as it is there. Only one of them is needed at a time.

    >>> from corrbandits.simulation.engines.gpu.mixed_state import Prior
    >>> stacked([Prior(np.ones(3), 1.0), Prior(np.ones(2), 2.0)], 2)
    Prior(S=array([[1., 1., 1.],
           [1., 1., 0.]]), log_determinant=array([1., 2.]))
    """
    rest = iter(each)
    first: Any = next(rest)
    names = [name for name in first._fields if name not in alike]
    own: dict[str, Any] = {}
    for name in names:
        longest = np.asarray(getattr(first, name))
        own[name] = np.zeros((many, *longest.shape), longest.dtype)
    for row, one in enumerate(chain([first], rest)):
        for name in names:
            value = getattr(one, name)
            own[name][(row, *map(slice, np.shape(value)))] = value
    whole: _T = first._replace(**own)
    return whole
