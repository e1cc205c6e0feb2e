"""Who chose what: people, the rounds they played, and the rewards that they were shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen


@final
@dataclass(frozen=True, eq=False)
class Round:
    """One round of choices: arms and rewards in the order of time.

    `given` trials at the start were shown and not chosen: their rewards are learnt from, but nobody is asked why.
    `horizon` is how many choices the person knew there to be; by default those that there are.

    >>> Round(arms=[4, 5, 5], rewards=[50.0, 61.0, 60.0], given=1).choices
    2
    """

    arms: Any
    rewards: Any
    given: int = 0
    horizon: int = 0

    def __post_init__(self) -> None:
        arms = checks.arm_array(self.arms, checks.MOST)
        rewards = np.atleast_1d(checks.finite("rewards", self.rewards))
        if rewards.shape != arms.shape or not arms.size:
            raise ValueError(
                "a round has as many rewards as arms, and at least one of each, got "
                f"{arms.size} arms and rewards of shape {rewards.shape}."
            )
        given = checks.integer("given", self.given, least=0, most=arms.size)
        choices = arms.size - given
        horizon = checks.integer("horizon", self.horizon or choices, least=choices)
        for name, value in (("arms", frozen(arms)), ("rewards", frozen(rewards)), ("horizon", horizon)):
            checks.set_field(self, name, value)

    @property
    def choices(self) -> int:
        """How many choices were made."""
        return len(self.arms) - self.given


@final
@dataclass(frozen=True, eq=False)
class Person:
    """One person: the rounds that they played on arms with these coordinates.

    Without coordinates, `arms` says how many arms there are, and no arm is near another.

    >>> somebody = Person([Round([0, 2, 2], [1.0, 3.0, 2.0], given=1)], coordinates=[0.0, 1.0, 2.0], name="Anna")
    >>> somebody.arms, somebody.choices
    (3, 2)
    """

    rounds: Sequence[Round]
    coordinates: Any = None
    arms: int = 0
    name: Any = ""

    def __post_init__(self) -> None:
        rounds = tuple(self.rounds)
        if not all(isinstance(each, Round) for each in rounds):
            raise TypeError(f"the rounds of a person are made by Round(arms, rewards), got {rounds!r:.60}.")
        where = None if self.coordinates is None else frozen(checks.points("coordinates", self.coordinates))
        number = _number_of_arms(self.arms, where)
        for place, each in enumerate(rounds):
            if each.arms.max() >= number:
                raise ValueError(
                    f"arms must be indices from 0 to {number - 1}, but round {place} of person {self.name!r} has "
                    f"{each.arms.max()}. Give as many coordinates as there are arms."
                )
        for name, value in (("rounds", rounds), ("coordinates", where), ("arms", number)):
            checks.set_field(self, name, value)

    @property
    def choices(self) -> int:
        """How many choices were made in all rounds."""
        return sum(each.choices for each in self.rounds)

    @cached_property
    def distances(self) -> Array:
        """The distance of each arm from each; 0 throughout if the arms have no coordinates."""
        return frozen(np.zeros((self.arms, self.arms)) if self.coordinates is None else euclidean(self.coordinates))

    def only(self, rounds: Sequence[int] | Integers) -> Person:
        """Return the same person with some of the rounds.

        >>> anna = Person([Round([0, 1], [1.0, 2.0]), Round([1, 1], [2.0, 2.5])], arms=2)
        >>> len(anna.only([1]).rounds)
        1
        """
        return replace(self, rounds=[self.rounds[k] for k in rounds])

    def left_out(self) -> Iterator[tuple[Person, Person]]:
        """Return, for each round, the person without it and the person with it alone."""
        every = range(len(self.rounds))
        return ((self.only([k for k in every if k != out]), self.only([out])) for out in every)


def several(people: Sequence[Person] | Person) -> Sequence[Person]:
    """Return people as they are given; refuse one person alone.

    >>> several(Person([Round([0], [1.0])], arms=2))
    Traceback (most recent call last):
    TypeError: people must be a list of persons, got one person. Put it in brackets: [person].
    """
    if isinstance(people, Person):
        raise TypeError("people must be a list of persons, got one person. Put it in brackets: [person].")
    return people


def euclidean(where: Array | None) -> Array:
    """Return the distance of each point from each; of no points, none."""
    if where is None:
        return np.zeros((0, 0))
    return np.asarray(np.sqrt(np.square(where[:, None, :] - where[None, :, :]).sum(axis=-1)))


def _number_of_arms(arms: int, where: Array | None) -> int:
    if where is None:
        if not arms:
            raise TypeError("a person needs coordinates=..., one row per arm, or arms=..., how many there are.")
        return checks.integer("arms", arms, least=1)
    if arms not in (0, len(where)):
        raise ValueError(f"arms must be as many as the coordinates, {len(where)}, got {arms}. Leave it out.")
    return len(where)
