"""The compiled engine: what it can play, and a run of it.

It is for the library's own policies on Gaussian beliefs, with rewards 0 and 1 or those that are a mean and noise. It
draws the same random numbers as the reference engine, so that both make the same decisions where none hangs on
rounding.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers, frozen
from corrbandits.belief import Correlated, Discounted, Drifting, GaussianBelief, Vague, Windowed
from corrbandits.environments import BernoulliBandit, ChangingBandit, Environment
from corrbandits.policies import Policy, Wrapper
from corrbandits.simulation.engines.compiled.refusing import is_computed_anew, number_of_scales, refusal
from corrbandits.simulation.engines.one_by_one import OneByOne, Run, refuse_beyond
from corrbandits.simulation.engines.protocol import Runs

NUMBERS = 20_000_000
"""A block of steps goes through about as many numbers."""

PAGE = 1 << 14
"""A schedule is computed for this many times at once."""


@final
class Compiled(OneByOne):
    """Plays the package's rules on `Independent`, `Correlated`, `Vague` and changing beliefs."""

    name = "compiled"

    def refuses(self, runs: Runs) -> str:
        """Return which of policy, belief and environment has no compiled form, or what would lose digits."""
        return refusal(runs)

    def begin(self, runs: Runs, rng: np.random.Generator) -> Run:
        """Return a run on private copies of the belief's arrays."""
        return CompiledRun(runs, rng)


@final
class CompiledRun(Run):
    """A run whose steps are made by a compiled loop."""

    def __init__(self, runs: Runs, rng: np.random.Generator) -> None:
        from corrbandits.simulation.engines.compiled import loops, state
        from corrbandits.simulation.engines.compiled.around_state import effective

        policy, belief, environment = effective(runs.policy), runs.belief, runs.environment
        self._runs, self._done, self._last, self.initialisation = runs, 0, -1, 0
        self._sums, self._progress = belief.sums.copy(), state.record(state.PROGRESS, initialising=1)
        self._always = (
            np.sqrt(environment.noise_variance),
            isinstance(environment, BernoulliBandit),
            getattr(belief, "noise_variance", environment.noise_variance),
            np.full(belief.arms, policy.threshold(belief)),
            self._sums,
            self._progress,
        )
        self._state: Any
        if isinstance(belief, Vague):
            from corrbandits.simulation.engines.compiled import around_mixed, mixed_loops

            self._state, self._loop = (
                around_mixed.begin_around_mixed(policy, belief, rng)
                if isinstance(policy, Wrapper)
                else mixed_loops.begin_mixed(policy, belief)
            )
            self.block = NUMBERS // (belief.arms**2 * len(belief.parts)) + 1
            return
        if isinstance(belief, (Drifting, Windowed, Discounted)):
            from corrbandits.simulation.engines.compiled import around_changing, changing_loops

            around = isinstance(policy, Wrapper)
            begin_changing = around_changing.begin_around_changing if around else changing_loops.begin_changing
            self._state, self._loop = begin_changing(policy, belief, runs.horizon, rng)
            each = belief.arms ** (3 if is_computed_anew(belief) else 2) * number_of_scales(belief)
            self.block = NUMBERS // each + 1
            return
        begin = loops.LOOPS[type(policy)]
        assert isinstance(belief, GaussianBelief)
        assert not isinstance(begin, str)
        self._state = state.state_of(belief)
        self._loop = begin(policy, belief, self._state, rng)
        self.block = NUMBERS // (belief.arms**2 if isinstance(belief, Correlated) else belief.arms) + 1

    def advance(self, noise: Array, arms: Integers, rewards: Array) -> None:
        """Make as many decisions as there is noise, without Python in between."""
        from corrbandits.simulation.engines.compiled.state import Steps

        runs, until = self._runs, self._done + noise.size
        values = schedule(runs.policy, runs.belief.arms, runs.horizon, self._done, until)
        means, stride = means_of(runs.environment, self._done, until)
        self._loop(Steps(means, stride, *self._always, noise, arms, rewards, self._done, self._last), values)
        self._done, self._last = until, int(arms[-1])
        self.initialisation = int(self._progress["initialisation"])
        if not np.isfinite(rewards).all():
            checks.number("a reward", float(rewards[~np.isfinite(rewards)][0]))

    def finish(self) -> None:
        """Refuse means or sums of rewards beyond the doubles, as a belief does."""
        refuse_beyond(self._state.mu, self._sums)


def means_of(environment: Environment, done: int, until: int) -> tuple[Array, int]:
    """Return the mean rewards at times `done` + 1 to `until`, one after the other, and how far these are apart."""
    if isinstance(environment, ChangingBandit):
        return environment.path[done:until].reshape(-1), environment.arms
    return environment.means, 0


def schedule(policy: Policy, arms: int, horizon: int, done: int, until: int) -> Array:
    """Return a policy's schedule at times `done` + 1 to `until`; all runs share it."""
    pages = [
        _page(policy, arms, page * PAGE, min((page + 1) * PAGE, horizon))
        for page in range(done // PAGE, -(-until // PAGE))
    ]
    values = pages[0] if len(pages) == 1 else np.concatenate(pages)
    first = done // PAGE * PAGE
    return values[done - first : until - first]


@lru_cache(maxsize=256)  # 32 MB: enough for four million times, and no more for any horizon
def _page(policy: Policy, arms: int, first: int, last: int) -> Array:
    return frozen(np.array(policy.schedule(np.arange(first + 1, last + 1), arms), dtype=np.float64))
