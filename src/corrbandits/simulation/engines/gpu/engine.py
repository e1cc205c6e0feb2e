"""The engines that play on an NVIDIA device: all runs of a batch at once, some steps at a time."""

from __future__ import annotations

import threading
import time
from abc import ABC
from dataclasses import replace
from typing import ClassVar, final

from corrbandits.belief import Correlated
from corrbandits.simulation.engines.gpu import device
from corrbandits.simulation.engines.gpu.refusing import refusal
from corrbandits.simulation.engines.protocol import Advanced, Engine, Recorded, Runs
from corrbandits.simulation.engines.walking import Walk

LAUNCH = 0.1
"""A launch takes about so many seconds: then progress is told, and the work may be stopped."""

FIRST_STEPS = 64
"""So many steps are made in the first launch, which shows how long one takes."""

JOINTLY, APART = 1 << 13, 1 << 18
"""How many runs are played at a time, on correlated arms and on others: some waves of blocks."""

ENOUGH_APART, ENOUGH_JOINTLY = 3e9, 1e11
"""From so much work on it pays: decisions times arms, or times their square where they are correlated.

16 cores play as much in the four seconds that it takes to compile a kernel (`benchmarks.gpu`, on an H200).
"""

_ONE_AT_A_TIME = threading.Lock()  # several batches at once would only share the device


class OnDevice(Engine, ABC):
    """Plays many runs at once on an NVIDIA device."""

    same_noise: ClassVar[bool]
    """Whether the noise is that of the other engines, or counted on the device."""

    def refuses(self, runs: Runs) -> str:
        """Return what it cannot play, or why there is no device."""
        return refusal(runs, same_noise=self.same_noise) or device.missing()

    def batch_size(self, runs: Runs) -> int:
        """Return how many runs are played at a time: the same on every device, for checkpoints."""
        return min(len(runs), JOINTLY if isinstance(runs.belief, Correlated) else APART)

    def play(self, runs: Runs, into: Recorded, advanced: Advanced) -> None:
        """Play the runs, as many at once as the device holds."""
        from corrbandits.simulation.engines.gpu.game import most_at_once

        with _ONE_AT_A_TIME:
            most = most_at_once(runs)
            for first in range(runs.first, runs.last, most):
                some = replace(runs, first=first, last=min(first + most, runs.last))
                rows = slice(first - runs.first, some.last - runs.first)
                self._play_some(some, {name: array[rows] for name, array in into.items()}, advanced)

    def _play_some(self, runs: Runs, into: Recorded, advanced: Advanced) -> None:
        """Play runs that the device holds at once, launch by launch."""
        from corrbandits.simulation.engines.gpu.game import Game

        game, done, steps = Game(runs, same_noise=self.same_noise), 0, FIRST_STEPS
        while done < runs.horizon:
            until = min(done + min(steps, game.most_steps), runs.horizon)
            begun = time.perf_counter()
            game.advance(done, until, into)
            advanced((until - done) * len(runs))
            share = LAUNCH / max(time.perf_counter() - begun, LAUNCH / 8)
            steps, done = max(1, int((until - done) * share)), until
        game.finish(into)
        if runs.moves is not None:
            for row, arms in enumerate(into["arms"]):
                walk = Walk(runs.moves, runs.environment.coordinates)
                into["moves"][row], into["move_cost"][row] = walk.along(arms)


@final
class Gpu(OnDevice):
    """Plays with noise that is counted on the device."""

    name = "gpu"
    same_noise = False

    def pays(self, runs: Runs) -> bool:
        """Return whether the work is so large that a device is worth asking for; the simulator never is."""
        work, arms = len(runs) * runs.horizon, runs.belief.arms
        large = work * arms**2 >= ENOUGH_JOINTLY if isinstance(runs.belief, Correlated) else work * arms >= ENOUGH_APART
        return large and not self.refuses(runs) and not device.simulated()


@final
class GpuSameNoise(OnDevice):
    """Plays with the noise of the other engines, for comparisons."""

    name = "gpu-same-noise"
    same_noise = True

    def pays(self, runs: Runs) -> bool:
        """Return False: it is for comparisons."""
        return False
