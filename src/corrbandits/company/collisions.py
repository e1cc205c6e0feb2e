"""What players are paid and what they see when several take one arm at the same time.

    name        shape     meaning
    arms        (M,)      the arm that each player takes
    drawn       (M,)      the reward that each would have alone
    together    (M,)      how many are on a player's arm, itself too
    paid        (M,)      what each gets
    seen        (M,)      what each takes for a reward of its arm; NaN if nothing

The rules, by name:

    none    each is paid, whoever else is there: the unconstrained model of Landgren, Srivastava and Leonard (2021)
    lost    who is not alone gets nothing: the model of Rosenski, Shamir and Szlak (2016) and of Bistritz and Leshem
            (2018), one of those of Liu and Zhao (2010), the constrained one of Landgren, Srivastava and Leonard
    one     one of them, at random, is paid, the others get nothing: a model of Anandkumar and others (2011)
    split   each gets an equal share, a k-th of a reward of its own if they are k: a case of the model of Liu and Zhao
            (2010) in which those who meet share the reward

Who senses collisions knows how many are on its arm: it takes nothing for a reward where it got none, and of a share it
knows the whole. Who does not takes what it is paid for a reward of the arm.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.environments import Environment

COLLISIONS = ("none", "lost", "one", "split")
"""What may happen where several players take one arm, by name."""


def together(arms: Integers, number: int) -> Integers:
    """Return for each player at each step, (M, n), how many take the same arm as it; `number` is that of arms.

    >>> together(np.array([[0, 1], [2, 0], [2, 1], [2, 0]]), number=3).tolist()
    [[1, 2], [3, 2], [3, 2], [3, 2]]
    """
    places = number * np.arange(arms.shape[1]) + arms
    counts = np.bincount(places.ravel(), minlength=number * arms.shape[1])
    return np.asarray(counts[places])


def outcome(
    rule: str, sensed: bool, arms: list[int], drawn: list[float], referee: np.random.Generator
) -> tuple[list[float], list[float]]:
    """Return what each player is paid at one step, and what it takes for a reward of its arm, NaN if nothing.

    The referee draws one number for each arm on which players meet, in the order of arms, where one of them is paid.

    >>> outcome("lost", True, [0, 2, 2], [1.0, 5.0, 6.0], np.random.default_rng(0))
    ([1.0, 0.0, 0.0], [1.0, nan, nan])
    >>> outcome("split", False, [0, 2, 2], [1.0, 5.0, 6.0], np.random.default_rng(0))
    ([1.0, 2.5, 3.0], [1.0, 2.5, 3.0])
    """
    paid, seen = list(drawn), list(drawn)
    met = [] if rule == "none" else sorted({arm for arm in arms if arms.count(arm) > 1})
    for arm in met:
        there = [player for player, taken in enumerate(arms) if taken == arm]
        winner = there[int(referee.random() * len(there))] if rule == "one" else -1
        for player in there:
            if rule == "split":
                paid[player] = drawn[player] / len(there)
            elif player != winner:
                paid[player] = 0.0
            unpaid = rule != "split" and player != winner
            seen[player] = (math.nan if unpaid else drawn[player]) if sensed else paid[player]
    return paid, seen


def losses(environment: Environment, rule: str, arms: Integers, done: int) -> tuple[Array, Array]:
    """Return what the group, (n,), and each player, (M, n), lose in expectation at steps `done` + 1 and on.

    The group could have the best assignment of players to arms: all on the best arm if there are no collisions,
    otherwise one on each of the M best. A player's part is an M-th of that less what it is paid; so one on a good arm
    loses less than nothing.

    >>> from corrbandits import GaussianBandit
    >>> group, each = losses(GaussianBandit([1.0, 3.0, 5.0], 1.0), "lost", np.array([[2, 1, 2], [0, 2, 2]]), done=0)
    >>> group, each.tolist()
    (array([2., 0., 8.]), [[-1.0, 1.0, 4.0], [3.0, -1.0, 4.0]])
    """
    players, steps = arms.shape
    if rule == "none":
        each = _at(environment.gaps_at, environment, arms, done)
        return each.sum(axis=0), each
    times = range(done + 1, done + steps + 1) if environment.changes else [1]
    best = np.array([np.sort(environment.means_at(t))[-players:] for t in times]).T
    pay, number = _at(environment.means_at, environment, arms, done), together(arms, environment.arms)
    pay = np.where(number > 1, 0.0, pay) if rule == "lost" else pay / number
    return (best - np.sort(pay, axis=0)).sum(axis=0), best.mean(axis=0) - pay


def _at(of: Callable[[int], Array], environment: Environment, arms: Integers, done: int) -> Array:
    """Return what an environment says of each arm taken, (M, n), at its time."""
    if not environment.changes:
        return np.take(of(1), arms)
    return np.array([of(t)[taken] for t, taken in enumerate(arms.T, start=done + 1)]).T
