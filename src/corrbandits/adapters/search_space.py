"""The values of some parameters as arms.

The arms are the points of a grid, read row by row: the parameters in the order in which they were declared, each with
its values in the order given, those of the last parameter changing fastest, as in `itertools.product`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, final

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers

Value = str | float | None
"""What Optuna stores of a parameter; a bool and an int are floats to a type checker."""


@final
class SearchSpace:
    """Parameters and their values.

    >>> space = SearchSpace({"dose": [0.1, 0.3], "drug": ["a", "b", "c"]})
    >>> space.arms, space.point(4), space.arm({"drug": "b", "dose": 0.1 + 0.2})
    (6, {'dose': 0.3, 'drug': 'b'}, 4)
    """

    def __init__(self, declared: Mapping[str, Any]) -> None:
        if not isinstance(declared, Mapping) or not declared:
            raise TypeError(
                "search_space must be a dictionary of each parameter's values, such as {'x': [1, 2, 3]}, got "
                f"{declared!r:.60}."
            )
        self.values = {checks.text("a parameter's name", name): _values(name, of) for name, of in declared.items()}
        self._places = {name: {_key(value): k for k, value in enumerate(of)} for name, of in self.values.items()}
        for name, of in self.values.items():
            if len(self._places[name]) < len(of):
                raise ValueError(f"the values of {name!r} must differ from each other, got {of!r:.80}.")
        self._shape = tuple(len(of) for of in self.values.values())
        self._logarithmic = {name for name, of in declared.items() if getattr(of, "log", False)}

    @property
    def arms(self) -> int:
        """The number of points."""
        return math.prod(self._shape)

    def point(self, arm: int) -> dict[str, Value]:
        """Return the parameters of an arm."""
        places = np.unravel_index(arm, self._shape)
        return {name: of[k] for (name, of), k in zip(self.values.items(), places, strict=True)}

    def arm(self, parameters: Mapping[str, Any]) -> int | None:
        """Return the arm with these parameters; None if one is missing, or has another value than were declared."""
        places = [place for name in self.values if (place := self._place(name, parameters)) is not None]
        return int(np.ravel_multi_index(places, self._shape)) if len(places) == len(self.values) else None

    def arms_with(self, parameters: Mapping[str, Any]) -> Integers | None:
        """Return the arms in which those of the parameters that have a declared value have it; None if that is all.

        >>> SearchSpace({"x": [1, 2], "y": [5, 6, 7]}).arms_with({"y": 6})
        array([1, 4])
        """
        places = [self._place(name, parameters) for name in self.values]
        if all(place is None for place in places):
            return None
        every = np.arange(self.arms).reshape(self._shape)
        return every[tuple(slice(None) if place is None else place for place in places)].ravel()

    def coordinates(self) -> Array:
        """Return the points as rows of numbers; refuse values that are none."""
        for name, of in self.values.items():
            if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in of):
                raise TypeError(
                    f"a kernel needs numbers for coordinates, but the values of {name!r} are {of!r:.60}. Give a prior "
                    "over the arms instead."
                )
        columns = [checks.finite(f"the values of {name!r}", of) for name, of in self.values.items()]
        return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(self.arms, len(columns))

    def places(self) -> Array:
        """Return the points as rows of coordinates in which every parameter reaches over 1, whatever its unit.

        Numbers lie evenly in their order, or by their logarithm where the distribution says so. Of other values each
        is as far as 1 from every other: one coordinate per value.

        >>> SearchSpace({"rate": [0.01, 1.0, 0.1], "drug": ["a", "b"]}).places().round(2)[:3]
        array([[0.  , 0.71, 0.  ],
               [0.  , 0.  , 0.71],
               [1.  , 0.71, 0.  ]])
        """
        blocks = [_spread(of, logarithmic=name in self._logarithmic) for name, of in self.values.items()]
        points = np.indices(self._shape).reshape(len(blocks), self.arms)
        return np.concatenate([block[at] for block, at in zip(blocks, points, strict=True)], axis=1)

    def refuse_another(self, name: str, distribution: BaseDistribution) -> None:
        """Refuse a suggestion among other values than were declared: all of a list's, none outside of a range."""
        declared = self.values[name]
        if isinstance(distribution, CategoricalDistribution):
            same = {_key(choice) for choice in distribution.choices} == set(self._places[name])
        else:
            same = all(_within(value, distribution) for value in declared)
        if not same:
            raise ValueError(
                f"parameter {name!r} was declared with the values {declared!r:.80}, but it is suggested among "
                f"{distribution!r:.120}. Declare to the sampler what the objective suggests; the values cannot change "
                "from trial to trial."
            )

    def _place(self, name: str, parameters: Mapping[str, Any]) -> int | None:
        return self._places[name].get(_key(parameters[name])) if name in parameters else None


def _values(name: str, given: Any) -> list[Value]:
    """Return the values of a list or of a distribution of Optuna's that has finitely many."""
    if isinstance(given, BaseDistribution):
        given = _enumerated(name, given)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"the values of {name!r} must be a list, such as [1, 2, 3], got {given!r:.60}.")
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    for value in values:
        if not (value is None or isinstance(value, (str, int, float))) or value != value:  # as NaN, never found again
            raise TypeError(f"a value of {name!r} must be text, a number, a bool or None, got {value!r:.60}.")
    if not values:
        raise ValueError(f"{name!r} needs at least one value, but its list is empty.")
    return values


def _enumerated(name: str, distribution: BaseDistribution) -> Iterable[Value]:
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices
    if isinstance(distribution, IntDistribution):
        return range(distribution.low, distribution.high + 1, distribution.step)
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        # in decimals, as Optuna counts the steps itself: 0.3, not 0.30000000000000004
        low, high, step = (Decimal(str(x)) for x in (distribution.low, distribution.high, distribution.step))
        return [float(low + k * step) for k in range(int((high - low) / step) + 1)]
    raise ValueError(f"{name!r} must have finitely many values, got {distribution}. Give it a step, or a list.")


def _spread(values: list[Value], *, logarithmic: bool) -> Array:
    """Return where the values of one parameter lie, a row each: from 0 to 1, or all 1 from each other."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if len(numbers) < len(values):
        return np.eye(len(values)) / math.sqrt(2)
    along = np.log(numbers) if logarithmic else np.argsort(np.argsort(numbers)).astype(np.float64)
    return np.asarray((along - along.min()) / (np.ptp(along) or 1.0))[:, None]


def _key(value: Any) -> Any:
    """Return what a value is known by: a fraction by 12 digits, since sums such as 0.1 + 0.2 round."""
    return float(f"{value:.12g}") if isinstance(value, float) and not value.is_integer() else value


def _within(value: Value, distribution: BaseDistribution) -> bool:
    if not isinstance(value, (int, float)):  # Optuna would take the text "1" for the number
        return False
    try:
        return distribution._contains(distribution.to_internal_repr(value))
    except ValueError:  # 0 where the scale is logarithmic
        return False
