"""Whether what is said of chances and costs is true: statements of a belief told nothing, beside the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from corrbandits.arena.problems import Problem, problem
from corrbandits.belief import Belief
from corrbandits.policies import Policy
from corrbandits.simulation.engines.compiled import Compiled
from corrbandits.simulation.engines.protocol import Runs

DRAWS = 2_048


class Statement(NamedTuple):
    """What was said of a problem after t rewards, and what was true; costs in deviations of the arms' means."""

    family: str
    number: int
    t: int
    probability: float
    """Said of the arm named best: that no arm is better."""

    best: bool
    """Whether none was."""

    cost: float
    """What stopping would cost, as said."""

    true_cost: float
    covered: float
    """The share of arms whose mean reward lay in its 90 % interval."""

    best_covered: bool
    """Whether that of the arm named best did."""


def statements(
    families: Iterable[str], numbers: Iterable[int], seed: int, policy: Policy, times: tuple[int, ...]
) -> Iterator[Statement]:
    """Yield what a belief told nothing says on problems that a policy plays, at some times.

    >>> from corrbandits import Gittins
    >>> said = list(statements(["chain"], range(2), seed=1_000, policy=Gittins(20), times=(10, 20)))
    >>> [one.t for one in said]
    [10, 20, 10, 20]
    """
    for family in families:
        for number in numbers:
            given = problem(family, seed, number)
            arms, rewards = _played(given, policy, max(times), seed, number)
            for t in times:
                belief = given.told_nothing().observe(arms[:t], rewards[:t])
                yield _statement(given, number, t, belief, np.random.default_rng((seed, number, t)))


def _played(given: Problem, policy: Policy, horizon: int, seed: int, number: int) -> tuple[list[int], list[float]]:
    runs = Runs(policy, given.told_nothing(), given.environment(), horizon, seed, number, number + 1)
    into = runs.room()
    Compiled().play(runs, into, lambda _: None)
    return into["arms"][0].tolist(), into["rewards"][0].tolist()


def _statement(given: Problem, number: int, t: int, belief: Belief, rng: np.random.Generator) -> Statement:
    scale = float(np.sqrt(given.covariance.diagonal().mean()))
    leader, draws = int(belief.mean.argmax()), belief.draws(rng, DRAWS)
    loss = draws.max(axis=0) - draws[leader]
    low, high = -belief.mirrored().credible_limit(np.log(0.05)), belief.credible_limit(np.log(0.05))
    inside = (given.means >= low) & (given.means <= high)
    true_cost = float(given.means.max() - given.means[leader])
    return Statement(
        family=given.family,
        number=number,
        t=t,
        probability=float(np.count_nonzero(loss <= 0) / DRAWS),
        best=true_cost <= 0,
        cost=float(loss.mean()) / scale,
        true_cost=true_cost / scale,
        covered=float(inside.mean()),
        best_covered=bool(inside[leader]),
    )
