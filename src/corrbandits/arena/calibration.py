"""Whether what is said of chances and costs is true: statements of a belief told nothing, beside the truth.

A problem of the arena is played by a rule on the belief told nothing. At some times, and when the cost of stopping is
first said to be small enough, what is said of the arms is written down beside what is true of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits.arena.problems import Problem
from corrbandits.belief import Vague
from corrbandits.policies import Policy
from corrbandits.simulation.engines import Runs, engine_for

DRAWS = 1_024

TIMES = (10, 40, 200)
"""So many rewards have come when statements are written down."""

LOSS = 0.3
"""Stopping is called good enough if it costs at most this, in deviations of the arms' means, as `best --stop-loss`."""

LOOKS = (10, 13, 17, 22, 29, 38, 40, 50, 66, 87, 115, 152, 200)
"""When somebody looks whether it is."""


class Statement(NamedTuple):
    """What was said of a problem, and what was true; costs and densities in deviations of the arms' means."""

    family: str
    number: int
    when: str
    """The number of rewards, or "enough": when stopping was first said to be good enough."""

    t: int
    """How many rewards had come."""

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

    score: float
    """The log density of an arm's true mean reward, on average over the arms."""

    informed_score: float
    """The same of the belief told everything, after the same rewards."""


def statements(
    given: Problem, number: int, policy: Policy, times: Sequence[int] = TIMES, looks: Sequence[int] = LOOKS
) -> Iterator[Statement]:
    """Yield what a belief told nothing says of a problem that a policy plays, at some times and when it is enough.

    >>> from corrbandits import Gittins
    >>> from corrbandits.arena.problems import problem
    >>> said = list(statements(problem("chain", seed=1_000, number=0), 0, Gittins(20), times=(10, 20), looks=()))
    >>> [(one.when, one.t) for one in said]
    [('10', 10), ('20', 20)]
    """
    arms, rewards = played(given, policy, max(*times, *looks))
    waiting, untold = True, given.told_nothing()
    for t in sorted({*times, *looks}):
        if t not in times and not waiting:
            continue
        belief = untold.observe(arms[:t], rewards[:t])
        if not isinstance(belief, Vague) or belief.opening:
            continue
        rng = np.random.default_rng(np.random.SeedSequence(given.stream, spawn_key=(t,)))
        drawn = belief.draws(rng, DRAWS)
        loss = (drawn.max(axis=0) - drawn[belief.mean.argmax()]) / given.scale
        enough = waiting and t in looks and loss.mean() + 2 * loss.std() / math.sqrt(DRAWS) <= LOSS
        whens = [str(t)] * (t in times) + ["enough"] * bool(enough)
        waiting &= not enough
        if whens:
            informed = given.told_everything().observe(arms[:t], rewards[:t])
            z = (given.means - informed.mean) / np.sqrt(informed.variance)
            score = np.log(given.scale) - 0.5 * (np.log(2 * math.pi * informed.variance) + z * z)
            said = _statement(given, number, t, belief, loss, float(score.mean()))
            yield from (said._replace(when=when) for when in whens)


def played(given: Problem, policy: Policy, horizon: int) -> tuple[Integers, Array]:
    """Return which arms a policy takes, told nothing, and their rewards."""
    runs = Runs(policy, given.told_nothing(), given.environment(), horizon, given.stream, 0, 1)
    into = runs.room()
    engine_for(runs).play(runs, into, lambda _: None)
    return np.asarray(into["arms"][0], dtype=np.int64), into["rewards"][0]


def _statement(given: Problem, number: int, t: int, belief: Vague, loss: Array, informed: float) -> Statement:
    leader = int(belief.mean.argmax())
    low, high = belief.credible_limit(math.log(0.95)), belief.credible_limit(math.log(0.05))
    inside = (given.means >= low) & (given.means <= high)
    true_cost = float(given.means.max() - given.means[leader])
    return Statement(
        family=given.family,
        number=number,
        when=str(t),
        t=t,
        probability=float(np.count_nonzero(loss <= 0) / DRAWS),
        best=true_cost <= 0,
        cost=float(loss.mean()),
        true_cost=true_cost / given.scale,
        covered=float(inside.mean()),
        best_covered=bool(inside[leader]),
        score=math.log(given.scale) + float(log_densities(belief, given.means, t - 1).mean()),
        informed_score=informed,
    )


def log_densities(belief: Vague, means: Array, freedom: int) -> Array:
    """Return the log density of each arm's mean reward: told nothing, a mixture of Student t with n - 1 degrees."""
    scale = belief.part_scales
    z = (means - belief.part_locations) / scale
    constant = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    logs = constant - np.log(scale) - 0.5 * (freedom + 1) * np.log1p(z * z / freedom) + np.log(belief.weights)[:, None]
    most = logs.max(axis=0)
    return np.asarray(most + np.log(np.exp(logs - most).sum(axis=0)))
