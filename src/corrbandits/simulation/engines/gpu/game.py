"""The runs of a batch on the device: what is uploaded, what is kept there between launches, what comes back."""

from __future__ import annotations

from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, GaussianBelief, Vague
from corrbandits.environments import BernoulliBandit
from corrbandits.policies import Policy
from corrbandits.policies.gittins.table import TABLE_ENDS, table
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled.engine import schedule
from corrbandits.simulation.engines.compiled.state import FLOOR, ranked
from corrbandits.simulation.engines.gpu import device, state
from corrbandits.simulation.engines.gpu.counted import key_of
from corrbandits.simulation.engines.gpu.memory import MOST_RECORDED, given_draws
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES, PRINTED, rule_of
from corrbandits.simulation.engines.gpu.shape_base import Shape
from corrbandits.simulation.engines.gpu.shapes import shape_of
from corrbandits.simulation.engines.gpu.state import Problem, Record, Steps, bare
from corrbandits.simulation.engines.one_by_one import refuse_beyond
from corrbandits.simulation.engines.protocol import Recorded, Runs


def prior_of(belief: GaussianBelief, *, printed: bool) -> Array:
    """Return the vectors of `state.own` at the start of every run, one per row.

    >>> from corrbandits import Independent
    >>> prior_of(Independent(mean=[1.0, 2.0], variance=4.0, noise_variance=1.0), printed=False)[state.W]
    array([2., 2.])
    """
    rows = np.zeros((state.KEPT_OWN, belief.arms))
    rows[state.MU0] = rows[state.MU] = belief.mean
    rows[state.D0] = rows[state.D] = belief.covariance.diagonal() if isinstance(belief, Correlated) else belief.variance
    rows[state.W] = belief.deviation
    if printed:
        rows[state.W] *= belief.spread()
    rows[state.W0] = rows[state.W]
    return rows


def problem_of(runs: Runs, shape: Shape) -> Problem:
    """Return what is the same in all runs."""
    rule, belief, environment = shape.rule, runs.belief, runs.environment
    assert isinstance(belief, (GaussianBelief, Vague))
    known, key = table(), key_of(runs.seed)
    sides = shape.sides(belief)
    return Problem(
        means=environment.means,
        deviations=np.sqrt(environment.noise_variance),
        gaps=environment.gaps,
        binary=int(isinstance(environment, BernoulliBandit)),
        **(_nothing_of_belief() if isinstance(belief, Vague) else _of_belief(runs.policy, belief, rule)),
        S=shape.covariance_of(belief),
        rank=ranked(belief).rank,
        log_n=known.log_n if rule == INDICES else bare(1),
        g=known.g if rule == INDICES else bare(1, 1),
        key0=key[0],
        key1=key[1],
        first=runs.first,
        height=sides[0],
        width=sides[1],
    )


def _of_belief(policy: Policy, belief: GaussianBelief, rule: int) -> dict[str, Array]:
    """Return what a problem says of a Gaussian belief."""
    return {
        "noise": belief.noise_variance,
        "thresholds": np.full(belief.arms, policy.threshold(belief)),
        "prior": prior_of(belief, printed=rule == PRINTED),
        "floor": FLOOR * belief.variance,
        "root": belief.prior_root().T if isinstance(belief, Correlated) and rule == DRAWS else bare(1, 1),
        "seen": belief.counts.astype(np.float64),
    }


def _nothing_of_belief() -> dict[str, Array]:
    """Return what stands there if the kernel is given a belief told nothing beside the problem."""
    vectors = dict.fromkeys(("noise", "thresholds", "floor", "seen"), bare(1))
    return vectors | {"prior": bare(1, 1), "root": bare(1, 1)}


def values_of(runs: Runs, rule: int, done: int, until: int) -> tuple[Array, Array]:
    """Return the rule's schedule at times `done` + 1 to `until`, and doubts.

    Of Gittins it says where log m stands in its lattice; only with it there are doubts.
    """
    values = schedule(runs.policy, runs.belief.arms, runs.horizon, done, until)
    if rule != INDICES:
        return values, bare(1)
    log_m = table().log_m
    return np.interp(np.log(np.clip(values, 1, TABLE_ENDS)), log_m, np.arange(log_m.size)), doubts(values)


@final
class Game:
    """Runs on the device."""

    def __init__(self, runs: Runs, *, same_noise: bool) -> None:
        n, many = runs.belief.arms, len(runs)
        self._runs, self._rule = runs, rule_of(runs.policy, runs.belief)
        self._shape = shape_of(runs, self._rule)
        self._problem = device.uploaded(problem_of(runs, self._shape))
        self._times = bare(of=np.int64) if runs.times is None else runs.times
        self._generators = [*runs.generators()] if same_noise else []
        self._kept = self._shape.kept(many)
        self._regret = device.room(self._times.size, many)
        self._counts = device.zeros(n, many)
        per_step = 8 * many * same_noise + 12 * many * (runs.times is None)
        self.most_steps = max(1, MOST_RECORDED // per_step) if per_step else runs.horizon
        draws = given_draws(self._shape, same_noise=same_noise)
        self._draws = device.sent(self._given_draws(draws)) if draws else bare(0, 0)  # once, not at every launch

    def advance(self, done: int, until: int, into: Recorded) -> None:
        """Make the decisions after the first `done`, up to number `until`; write those that are recorded in full."""
        n, many = until - done, len(self._runs)
        full = n if self._runs.times is None else 0
        values, doubt = values_of(self._runs, self._rule, done, until)
        steps = Steps(values, doubt, self._given_noise(n), self._draws, self._times, done)
        record = Record(device.room(full, many, of=np.int32), device.room(full, many), self._regret, self._counts)
        self._shape.launch((self._problem, device.uploaded(steps), self._kept, record), many)
        if full:
            into["arms"][:, done:until] = device.fetched(record.arms).T
            into["rewards"][:, done:until] = device.fetched(record.rewards).T

    def finish(self, into: Recorded) -> None:
        """Write what is known at the end; refuse what exceeded the doubles on the way."""
        into["counts"][:] = device.fetched(self._counts).T
        into["initialisation"][:] = device.fetched(self._kept.at)[:, state.INITIALISATION]
        if "regret" in into:
            into["regret"][:] = device.fetched(self._regret).T
        refuse_beyond(device.fetched(self._kept.of_run)[:, state.TOTAL])

    def _given_noise(self, n: int) -> Array:
        """Return the noise of the next n steps, (steps, runs), if it is that of the other engines; else nothing."""
        if not self._generators:
            return np.asarray(bare(0, 0))
        return np.stack([self._runs.environment.noise(rng, n) for rng, _ in self._generators], axis=1)

    def _given_draws(self, numbers: int) -> Array:
        """Return all normal numbers that draws may take, so many for each run."""
        given = np.empty((numbers, len(self._runs)))
        for run, (_, rng) in enumerate(self._generators):
            given[:, run] = rng.standard_normal(numbers)
        return given
