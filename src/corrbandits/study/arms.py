"""The arms of a study: what they are called, where they lie, what else is known of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.characters import unprintable
from corrbandits._core.checks import Array, Integers
from corrbandits._shell.csv import AXES
from corrbandits._shell.texts import by_name, composed, near
from corrbandits.policies import by_place

LONGEST_NAME = 200
MOST_ARMS = 1_000_000
"""A study has no more arms than this, whatever a file or a database claims."""


@final
@dataclass(frozen=True)
class Arms:
    """The arms: their number, their names, where they lie, and a column for each attribute.

    Arms without names are called by their numbers.

    >>> arms = Arms.of({"name": ["brook", "hill"], "x": [0.0, 3.0], "y": [1.0, 1.0], "soil": ["loam", "sand"]}, 2)
    >>> arms.index("hill"), arms.coordinates[1].tolist(), arms.attributes["soil"][1]
    (1, [3.0, 1.0], 'sand')
    """

    count: int
    names: tuple[str, ...] | None = None
    axes: tuple[str, ...] = ()
    coordinates: Array | None = None
    attributes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @staticmethod
    def of(given: Any, count: int | None = None) -> Arms:
        """Return arms from their names, from columns by name (a mapping or a data frame), or so many from nothing."""
        if given is None and count is not None:
            return Arms(_number(count, count))
        if hasattr(given, "columns") or isinstance(given, Mapping):
            columns = {key: list(given[key]) for key in given}
            longest = max((len(values) for values in columns.values()), default=0)
            return _from_columns(columns, _number(count, longest))
        if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
            raise TypeError(f"arms must be names, or columns by name such as name, x and y, got {given!r:.60}.")
        number = _number(count, len(given))
        return Arms(number, _names(list(given), number))

    def name(self, arm: int) -> str:
        """Return what an arm is called."""
        return str(arm) if self.names is None else self.names[arm]

    def index(self, arm: Any) -> int:
        """Return the index of an arm that is given by its index or, as text, by its name."""
        if not isinstance(arm, str):
            return checks.arm(arm, self.count)
        found = self._indices.get(arm, self._indices.get(composed(arm)))
        if found is None:
            few = ", ".join(self.name(k) for k in range(min(self.count, 5)))
            meant = "".join(f" Did you mean {one!r}?" for one in near(arm, self._indices))
            raise ValueError(
                f"an arm must be one of the study's {self.count:,}, got {arm!r:.60}. They are called {few}"
                f"{', ...' if self.count > 5 else ''}.{meant}"
            )
        return found

    @cached_property
    def _indices(self) -> dict[str, int]:
        return by_name([self.name(k) for k in range(self.count)])

    @cached_property
    def order(self) -> Integers:
        """The arms by their coordinates, then by name: whatever the order of rows, it is the same.

        >>> Arms.of({"name": ["hill", "brook", "ford"], "x": [3.0, 3.0, 1.0], "y": [1.0, 1.0, 5.0]}).order
        array([2, 1, 0])
        """
        every = range(self.count) if self.names is None else sorted(range(self.count), key=self.names.__getitem__)
        return by_place(self.coordinates, np.fromiter(every, dtype=np.int64, count=self.count))

    def plus(self, more: Arms) -> Arms:
        """Return these arms and more; refuse a name that there is; an attribute that some lack is None for these."""
        if (self.names is None, self.axes) != (more.names is None, more.axes):
            raise ValueError(
                f"new arms must have the columns of the old ones, {self._columns()}, but they have {more._columns()}."
            )
        for name in more.names or ():
            if name in self._indices:
                raise ValueError(f"new arms need names of their own, but there is a {name!r} already.")
        places = None if self.coordinates is None or more.coordinates is None else [self.coordinates, more.coordinates]
        lacking = (None,) * self.count, (None,) * more.count
        return Arms(
            _number(None, self.count + more.count),
            None if self.names is None or more.names is None else self.names + more.names,
            self.axes,
            None if places is None else np.concatenate(places),
            {
                key: (*self.attributes.get(key, lacking[0]), *more.attributes.get(key, lacking[1]))
                for key in {**self.attributes, **more.attributes}
            },
        )

    def data(self) -> dict[str, Any]:
        """Return the arms as data."""
        data: dict[str, Any] = {"count": self.count}
        if self.names is not None:
            data["names"] = self.names
        if self.coordinates is not None:
            data |= {"axes": self.axes, "coordinates": self.coordinates.tolist()}
        return data | ({"attributes": dict(self.attributes)} if self.attributes else {})

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> Arms:
        """Return the arms that data describe."""
        if not isinstance(data, Mapping) or not isinstance(data.get("attributes", {}), Mapping):
            raise ValueError(  # noqa: TRY004 - the value is wrong, not its type
                f"arms must be described by their count, names and coordinates, got {data!r:.60}."
            )
        count = _number(None, data.get("count"))
        names = _names(list(data["names"]), count) if "names" in data else None
        axes, places = tuple(data.get("axes", ())), None
        if "coordinates" in data:
            places = checks.points("coordinates", data["coordinates"])
            if axes not in AXES or places.shape != (count, len(axes)):
                raise ValueError(f"coordinates of {count} arms on axes {AXES} were expected, got others.")
        attributes = {key: _attribute(key, list(values), count) for key, values in data.get("attributes", {}).items()}
        return Arms(count, names, axes, places, attributes)

    def _columns(self) -> str:
        return ", ".join([*([] if self.names is None else ["name"]), *self.axes]) or "none"


def checked_name(what: str, value: Any) -> str:
    """Return a name: printable text, because it is shown in terminals, tables and files."""
    name = checks.text(what, value)
    unfit = next((character for character in name if unprintable(character)), None)
    if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME or unfit is not None:
        raise ValueError(
            f"{what} must be 1 to {LONGEST_NAME} printable characters without a blank at either end, got {name!r:.60}."
        )
    return name


def _number(count: int | None, given: Any) -> int:
    return checks.integer("the number of arms", given if count is None else count, least=1, most=MOST_ARMS)


def _from_columns(columns: dict[Any, list[Any]], count: int) -> Arms:
    for name, values in columns.items():
        if len(values) != count:
            raise ValueError(f"arms must have {count} entries in each column, but {name!r:.40} has {len(values)}.")
    names = _names(columns.pop("name"), count) if "name" in columns else None
    axes = next((axes for axes in AXES if set(axes) <= set(columns)), ())
    places = checks.finite("coordinates", [columns.pop(axis) for axis in axes]).T.copy() if axes else None
    attributes = {checked_name("a column", key): _attribute(key, values, count) for key, values in columns.items()}
    return Arms(count, names, axes, places, attributes)


def _names(given: list[Any], count: int) -> tuple[str, ...]:
    names = tuple(checked_name("the name of an arm", name) for name in given)
    if len(names) != count:
        raise ValueError(f"there must be {count} names, one per arm, got {len(names)}.")
    if len(set(names)) < count:
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"arms must have different names, but two are called {twice!r}. Rename one.")
    return names


def _attribute(name: Any, values: list[Any], count: int) -> tuple[Any, ...]:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in plain:
        if not isinstance(value, (str, int, float, bool, type(None))) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ValueError(
                f"an attribute is text, a finite number, true, false or None, got {value!r:.60} in {name!r:.40}."
            )
    if len(plain) != count:
        raise ValueError(f"an attribute needs {count} values, one per arm, but {name!r:.40} has {len(plain)}.")
    return tuple(plain)
