"""The engines that play on an NVIDIA device: all runs of a batch at once, some steps at a time."""

from __future__ import annotations

import threading
import time
from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from corrbandits.belief import Correlated, Implicit, Vague
from corrbandits.simulation.engines.gpu import device
from corrbandits.simulation.engines.gpu.paying import beyond_a_block, fits, share_of_enough, waits_for_one
from corrbandits.simulation.engines.gpu.refusing import refusal
from corrbandits.simulation.engines.protocol import Advanced, Engine, Recorded, Runs
from corrbandits.simulation.engines.walking import Walk

if TYPE_CHECKING:
    from corrbandits.simulation.engines.gpu.shape_base import Shape

LAUNCH = 0.1
"""A launch takes about so many seconds: then progress is told, and the work may be stopped."""

FIRST_STEPS = 64
"""So many steps are made in the first launch, which shows how long one takes."""

JOINTLY, APART, COUNTS = 1 << 13, 1 << 18, 1 << 27
"""How many runs are played at a time, on correlated arms and on others: some waves of blocks; and of how many arms, all
runs together, that are correlated, since what was counted comes back."""

_ONE_AT_A_TIME = threading.Lock()  # several batches at once would only share the device


class OnDevice(Engine, ABC):
    """Plays many runs at once on an NVIDIA device."""

    same_noise: ClassVar[bool]
    """Whether the noise is that of the other engines, or counted on the device."""

    def refuses(self, runs: Runs) -> str:
        """Return what it cannot play, why there is no device, or what is beyond this one."""
        return refusal(runs, same_noise=self.same_noise) or device.missing() or beyond_a_block(runs)

    def pays(self, runs: Runs) -> bool:
        """Return whether the work is so large that a device is worth asking for; the simulator never is.

        The noise of a single run is soon drawn, and is then that of the other engines: the arena and the stress test,
        which play one run of a problem at a time, compare all who play it under the same noise.
        """
        return self.same_noise == (len(runs) == 1) and self.is_faster(runs)

    def is_faster(self, runs: Runs) -> bool:
        """Return whether it plays so large work sooner than the cores, as far as it can play it."""
        if share_of_enough(runs) < 1 or not device.present() or self.refuses(runs):
            return False
        return not (self.same_noise and waits_for_one(runs)) and fits(runs, same_noise=self.same_noise)

    def batch_size(self, runs: Runs) -> int:
        """Return how many runs are played at a time: the same on every device, for checkpoints."""
        if not isinstance(runs.belief, (Correlated, Implicit, Vague)):
            return min(len(runs), APART)
        return max(1, min(len(runs), JOINTLY, COUNTS // runs.belief.arms))

    def play(self, runs: Runs, into: Recorded, advanced: Advanced) -> None:
        """Play the runs, as many at once as the device holds."""
        from corrbandits.simulation.engines.gpu.shapes import shape_of

        with _ONE_AT_A_TIME:
            shape = shape_of(runs)
            for rows in self._held(shape, runs, len(runs)):
                some = replace(runs, first=runs.first + rows.start, last=runs.first + rows.stop)
                self._play_some([some], shape, {name: array[rows] for name, array in into.items()}, advanced)
        _count_moves(runs, into)

    def _held(self, shape: Shape, like: Runs, runs: int) -> Iterator[slice]:
        """Yield, for so many runs like these, which of them the device holds at once."""
        from corrbandits.simulation.engines.gpu.memory import most_at_once

        times = 0 if like.times is None else like.times.size
        most = most_at_once(shape, runs, times, same_noise=self.same_noise)
        yield from (slice(first, min(first + most, runs)) for first in range(0, runs, most))

    def _play_some(self, games: Sequence[Runs], shape: Shape, into: Recorded, advanced: Advanced) -> None:
        """Play runs that the device holds at once, launch by launch."""
        from corrbandits.simulation.engines.gpu.game import Game

        game, horizon, done, steps = Game(games, shape, same_noise=self.same_noise), shape.horizon, 0, FIRST_STEPS
        while done < horizon:
            until = min(done + min(steps, game.most_steps), horizon)
            begun = time.perf_counter()
            game.advance(done, until, into)
            advanced((until - done) * len(into["counts"]))
            share = LAUNCH / max(time.perf_counter() - begun, LAUNCH / 8)
            steps, done = max(1, int((until - done) * share)), until
        game.finish(into)


@final
class Gpu(OnDevice):
    """Plays with noise that is counted on the device."""

    name = "gpu"
    same_noise = False


@final
class GpuSameNoise(OnDevice):
    """Plays with the noise of the other engines."""

    name = "gpu-same-noise"
    same_noise = True

    def play_each(self, games: Sequence[Runs], into: Sequence[Recorded], advanced: Advanced) -> None:
        """Play games that differ, at once those that one kernel plays, as many as the device holds."""
        from corrbandits.simulation.engines.gpu.shapes import shape_of
        from corrbandits.simulation.engines.gpu.together import lots

        for lot in lots(games, into):
            first, _ = lot[0]
            with _ONE_AT_A_TIME:
                for rows in self._held(replace(shape_of(first), differ=True), first, len(lot)):
                    self._play_lot(lot[rows], advanced)

    def _play_lot(self, lot: list[tuple[Runs, Recorded]], advanced: Advanced) -> None:
        """Play single runs that the device holds at once, the most arms first, and deal out what is recorded."""
        from corrbandits.simulation.engines.gpu.shapes import shape_of

        first, like = lot[0]
        whole = {name: np.repeat(array, len(lot), axis=0) for name, array in like.items()}
        self._play_some([game for game, _ in lot], replace(shape_of(first), differ=True), whole, advanced)
        for row, (game, own) in enumerate(lot):
            for name, array in own.items():
                array[0] = whole[name][row][tuple(map(slice, array.shape[1:]))]
            _count_moves(game, own)


def _count_moves(runs: Runs, into: Recorded) -> None:
    """Write the moves of runs that are recorded in full, and what they cost, if it is asked for."""
    if runs.moves is not None:
        for row, arms in enumerate(into["arms"]):
            walk = Walk(runs.moves, runs.environment.coordinates)
            into["moves"][row], into["move_cost"][row] = walk.along(arms)
