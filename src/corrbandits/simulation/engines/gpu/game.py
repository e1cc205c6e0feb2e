"""Runs on the device: what is uploaded, what is kept there between launches, what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.policies import Policy
from corrbandits.policies.gittins.table import TABLE_ENDS, table
from corrbandits.policies.horizon import doubts
from corrbandits.simulation.engines.compiled.engine import schedule
from corrbandits.simulation.engines.gpu import device, state
from corrbandits.simulation.engines.gpu.memory import MOST_RECORDED, given_draws
from corrbandits.simulation.engines.gpu.problems import problems_of
from corrbandits.simulation.engines.gpu.refusing import INDICES
from corrbandits.simulation.engines.gpu.shape_base import Shape
from corrbandits.simulation.engines.gpu.shapes import shape_of
from corrbandits.simulation.engines.gpu.state import Record, Steps, bare
from corrbandits.simulation.engines.one_by_one import refuse_beyond
from corrbandits.simulation.engines.protocol import Recorded, Runs


def schedules(games: Sequence[Runs], rule: int, done: int, until: int) -> tuple[Array, Array]:
    """Return the rules' schedules at times `done` + 1 to `until`, a row for each game, and doubts.

    Of Gittins a schedule says where log m stands in its lattice; only with it there are doubts.
    """
    which: dict[tuple[Policy, int], int] = {}
    row = [which.setdefault((game.policy, game.belief.arms), len(which)) for game in games]
    values = np.stack([schedule(*one, games[0].horizon, done, until) for one in which])
    if rule != INDICES:
        return values[row], bare(len(games), 1)
    log_m = table().log_m
    places = np.interp(np.log(np.clip(values, 1, TABLE_ENDS)), log_m, np.arange(log_m.size))
    return places[row], doubts(values)[row]


def game_of(runs: Runs, *, same_noise: bool) -> Game:
    """Return runs of one problem on the device, before their first decision."""
    return Game([runs], shape_of(runs), same_noise=same_noise)


@final
class Game:
    """Runs on the device: some of one problem, or one of each of several problems, the most arms first."""

    def __init__(self, games: Sequence[Runs], shape: Shape, *, same_noise: bool) -> None:
        self._games, self._shape, self._many, times = games, shape, sum(map(len, games)), games[0].times
        self._problem = device.uploaded(problems_of(games, shape))
        self._given = tuple(map(device.uploaded, shape.given(games)))
        self._times = bare(of=np.int64) if times is None else times
        self._streams = [(game, *pair) for game in games for pair in game.generators()] if same_noise else []
        self._kept = shape.kept(self._many)
        self._regret = device.room(self._times.size, self._many)
        self._counts = device.zeros(shape.arms, self._many)
        per_step = 8 * self._many * (same_noise + 2 * shape.differ) + 12 * self._many * (times is None)
        self.most_steps = max(1, MOST_RECORDED // per_step) if per_step else games[0].horizon
        draws = given_draws(shape, same_noise=same_noise)
        self._draws = device.sent(self._given_draws(draws)) if draws else bare(0, 0)  # once, not at every launch

    def advance(self, done: int, until: int, into: Recorded) -> None:
        """Make the decisions after the first `done`, up to number `until`; write those that are recorded in full."""
        n, many = until - done, self._many
        full = n if self._games[0].times is None else 0
        steps = Steps(*self._schedules(done, until), self._given_noise(n), self._draws, self._times, done)
        record = Record(device.room(full, many, of=np.int32), device.room(full, many), self._regret, self._counts)
        self._shape.launch((self._problem, device.uploaded(steps), self._kept, record, *self._given), many)
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

    def _schedules(self, done: int, until: int) -> tuple[Array, Array]:
        """Return schedules and doubts at times `done` + 1 to `until`: those of all runs or, if they differ, of each."""
        values, doubts = schedules(self._games, self._shape.rule, done, until)
        return (values, doubts) if self._shape.differ else (values[0], doubts[0])

    def _given_noise(self, n: int) -> Array:
        """Return the noise of the next n steps, (runs, steps), if it is that of the other engines; else nothing."""
        if not self._streams:
            return np.asarray(bare(0, 0))
        return np.stack([game.environment.noise(rng, n) for game, rng, _ in self._streams])

    def _given_draws(self, numbers: int) -> Array:
        """Return all normal numbers that draws may take, as many for each run as that of the most arms takes."""
        given = np.empty((numbers, self._many))
        for run, (_, _, rng) in enumerate(self._streams):
            given[:, run] = rng.standard_normal(numbers)
        return given
