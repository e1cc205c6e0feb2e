"""A game: one problem, played once by a rule on a belief, or by anybody who can choose an arm and be told a reward.

The noise of decision t is the same number for all who play a problem, whichever arms they take: it is drawn from the
problem's own stream, as `simulate` draws it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits.arena.problems import Problem
from corrbandits.belief import Belief, History
from corrbandits.environments import ChangingBandit, Environment, reward_at
from corrbandits.policies import Policy
from corrbandits.simulation.engines import Advanced, Recorded, Runs, engine_for, generators, play_on_device


class Player(Protocol):
    """Who plays step by step: chooses an arm, by its number, and is told the reward."""

    def choose(self) -> int:
        """Return the next arm."""

    def tell(self, arm: int, reward: float) -> None:
        """Hear what that arm has given."""


class Outcome(NamedTuple):
    """How a game ended: the last columns of a row of `results`."""

    regret: float
    simple_regret: float
    seconds: float


def play(given: Problem, policy: Policy, belief: Belief, horizon: int, advanced: Advanced = lambda _: None) -> Outcome:
    """Return how a policy on a belief plays a problem; the arm it names at the end has the largest posterior mean.

    `advanced` hears of its steps, and may raise to stop it.

    >>> from corrbandits import Uniform
    >>> from corrbandits.arena.problems import problem
    >>> given = problem("chain", seed=7, number=0)
    >>> play(given, Uniform(), given.told_everything(), horizon=20).regret > 0
    True
    """
    begun = time.thread_time()
    runs = game_of(given, policy, belief, horizon)
    recorded = runs.room()
    engine_for(runs).play(runs, recorded, advanced)
    return _ended(given, runs, recorded, (time.thread_time() - begun) / horizon)


def game_of(given: Problem, policy: Policy, belief: Belief, horizon: int) -> Runs:
    """Return a game: the one run of a problem by a policy on a belief, on the noise that all meet."""
    return Runs(policy, belief, given.environment(horizon), horizon, given.stream, 0, 1)


def play_at_once(
    problems: Sequence[Problem], beliefs: Sequence[Belief], policy: Policy, horizon: int, by: Any, advanced: Advanced
) -> list[Outcome]:
    """Return how a policy plays problems, on a belief of each, all of them on a device at once: as `play` does.

    `by` is a function like `map`, by which it is found what was learnt. All games share the time that they took.
    """
    begun = time.perf_counter()
    games = [game_of(given, policy, belief, horizon) for given, belief in zip(problems, beliefs, strict=True)]
    recorded = [game.room() for game in games]
    play_on_device(games, recorded, advanced)
    seconds = (time.perf_counter() - begun) / len(games) / horizon
    return [*by(_ended, problems, games, recorded, [seconds] * len(games))]


def play_step_by_step(given: Problem, player: Player, horizon: int) -> Outcome:
    """Return how a player from outside plays a problem, on the noise that all others meet.

    The arm named at the end is what its `best()` returns, if it has one, or else that of the largest average reward.
    Its time is that of all threads of this process.

    >>> from corrbandits.arena.problems import problem
    >>> class Stubborn:
    ...     def choose(self):
    ...         return 0
    ...     def tell(self, arm, reward):
    ...         pass
    >>> given = problem("chain", seed=7, number=0)
    >>> outcome = play_step_by_step(given, Stubborn(), horizon=20)
    >>> round(outcome.regret / outcome.simple_regret)
    20
    """
    environment, noise = given.environment(horizon), noise_of(given, horizon)
    arms, sums, counts = np.empty(horizon, dtype=np.int64), np.zeros(len(given.means)), np.zeros(len(given.means))
    begun = time.process_time()
    for t in range(horizon):
        arm = arms[t] = checks.arm(player.choose(), len(given.means))
        reward = reward_at(environment, int(arm), float(noise[t]), t + 1)
        player.tell(int(arm), reward)
        sums[arm] += reward
        counts[arm] += 1
    seconds = (time.process_time() - begun) / horizon
    best = getattr(player, "best", None)
    averages = np.divide(sums, counts, out=np.full(counts.size, -np.inf), where=counts > 0)
    return _outcome(given, environment, arms, int(averages.argmax()) if best is None else int(best()), seconds)


def noise_of(given: Problem, horizon: int) -> Array:
    """Return the noise that all who play a problem meet, decision by decision."""
    rng, _ = generators(given.stream, run=0)
    return given.environment().noise(rng, horizon)


def _ended(given: Problem, runs: Runs, recorded: Recorded, seconds: float) -> Outcome:
    """Return how a game ended that took so many seconds a decision."""
    arms, rewards = recorded["arms"][0], recorded["rewards"][0]
    named = int(_learnt(runs.belief, arms, rewards).mean.argmax())
    return _outcome(given, runs.environment, arms, named, seconds)


def _learnt(belief: Belief, arms: Integers, rewards: Array) -> Belief:
    """Return what is believed after a game, at its last decision."""
    if not belief.changes:
        return belief.observe(arms, rewards)
    steps = list(zip(range(1, arms.size + 1), arms.tolist(), rewards.tolist(), strict=True))
    return belief.replay(History.of(steps, belief.arms))


def _outcome(given: Problem, environment: Environment, arms: Integers, named: int, seconds: float) -> Outcome:
    last = environment.gaps_at(arms.size) / given.scale
    lost = environment.losses(arms) / given.scale if isinstance(environment, ChangingBandit) else last[arms]
    return Outcome(float(lost.sum()), float(last[named]), seconds)
