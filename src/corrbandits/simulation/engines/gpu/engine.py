"""The engines that play on an NVIDIA device: all runs of a batch at once, some steps at a time."""

from __future__ import annotations

import threading
import time
from abc import ABC
from dataclasses import replace
from typing import ClassVar, final

from corrbandits.belief import Correlated, Implicit, Independent, Vague
from corrbandits.policies import Thompson
from corrbandits.simulation.engines.gpu import device
from corrbandits.simulation.engines.gpu.refusing import refusal, rule_of
from corrbandits.simulation.engines.protocol import Advanced, Engine, Recorded, Runs
from corrbandits.simulation.engines.walking import Walk

LAUNCH = 0.1
"""A launch takes about so many seconds: then progress is told, and the work may be stopped."""

FIRST_STEPS = 64
"""So many steps are made in the first launch, which shows how long one takes."""

JOINTLY, APART, COUNTS = 1 << 13, 1 << 18, 1 << 27
"""How many runs are played at a time, on correlated arms and on others: some waves of blocks; and of how many arms, all
runs together, that are correlated, since what was counted comes back."""

ENOUGH_APART, ENOUGH_JOINTLY, ENOUGH_MIXED, ENOUGH_ON_GRID = 3e9, 1e11, 2e10, 5e7
"""From so much work on it pays: decisions times arms, or times their square where they are correlated, or times the
parts of a mixture; times arms again where an implicit belief asks for their transforms.

16 cores play as much in the four seconds that it takes to compile a kernel (`benchmarks.gpu`, on an H200).
"""

_ONE_AT_A_TIME = threading.Lock()  # several batches at once would only share the device


class OnDevice(Engine, ABC):
    """Plays many runs at once on an NVIDIA device."""

    same_noise: ClassVar[bool]
    """Whether the noise is that of the other engines, or counted on the device."""

    def refuses(self, runs: Runs) -> str:
        """Return what it cannot play, why there is no device, or what is beyond this one."""
        return refusal(runs, same_noise=self.same_noise) or device.missing() or _beyond_a_block(runs)

    def pays(self, runs: Runs) -> bool:
        """Return whether the work is so large that a device is worth asking for; the simulator never is.

        The noise of a single run is soon drawn, and is then that of the other engines: the arena and the stress test,
        which play one run of a problem at a time, compare all who play it under the same noise.
        """
        return self.same_noise == (len(runs) == 1) and self.is_faster(runs)

    def is_faster(self, runs: Runs) -> bool:
        """Return whether it plays so large work sooner than the cores, as far as it can play it."""
        if not _is_enough(runs) or device.simulated() or self.refuses(runs):
            return False
        return not (self.same_noise and _waits_for_one(runs)) and _fits(runs, same_noise=self.same_noise)

    def batch_size(self, runs: Runs) -> int:
        """Return how many runs are played at a time: the same on every device, for checkpoints."""
        if not isinstance(runs.belief, (Correlated, Implicit, Vague)):
            return min(len(runs), APART)
        return max(1, min(len(runs), JOINTLY, COUNTS // runs.belief.arms))

    def play(self, runs: Runs, into: Recorded, advanced: Advanced) -> None:
        """Play the runs, as many at once as the device holds."""
        from corrbandits.simulation.engines.gpu.memory import most_at_once

        with _ONE_AT_A_TIME:
            most = most_at_once(runs, same_noise=self.same_noise)
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


@final
class GpuSameNoise(OnDevice):
    """Plays with the noise of the other engines."""

    name = "gpu-same-noise"
    same_noise = True


def _beyond_a_block(runs: Runs) -> str:
    """Return that a block must share more of a mixture than the device lets it, or ""."""
    if not isinstance(runs.belief, Vague):
        return ""
    from corrbandits.simulation.engines.gpu.mixed import shared_numbers

    arms, parts, most = runs.belief.arms, len(runs.belief.parts), device.shared_limit()
    needed = 8 * shared_numbers(arms, parts, vectors=False)
    shared = f"a Vague belief of {arms:,} arms and {parts:,} parts needs {needed:,} bytes that a block shares"
    return "" if needed <= most else f"{shared}, but the device has {most:,}"


def _waits_for_one(runs: Runs) -> bool:
    """Return whether, under the noise of the cores, all wait for one: who draws, a thread, or the block of one run.

    The noise is drawn on one core, and so are normal numbers for draws. On independent arms a run has one thread, which
    is soon through; on correlated ones that a block has memory for, it has that block. A mixture is so much work that
    one block plays it sooner than a core.
    """
    from corrbandits.simulation.engines.gpu.shapes import Jointly, shape_of

    if isinstance(runs.belief, Independent) or isinstance(runs.policy, Thompson):
        return True
    return len(runs) == 1 and isinstance(shape_of(runs, rule_of(runs.policy, runs.belief)), Jointly)


def _fits(runs: Runs, *, same_noise: bool) -> bool:
    """Return whether the device holds a run."""
    from corrbandits.simulation.engines.gpu.memory import most_at_once

    try:
        return most_at_once(runs, same_noise=same_noise) > 0
    except MemoryError:
        return False


def _is_enough(runs: Runs) -> bool:
    """Return whether the work is large."""
    belief, work = runs.belief, len(runs) * runs.horizon * runs.belief.arms
    if isinstance(belief, Vague):
        return work * len(belief.parts) >= ENOUGH_MIXED
    if isinstance(belief, Implicit):
        return work >= ENOUGH_ON_GRID
    return work * belief.arms >= ENOUGH_JOINTLY if isinstance(belief, Correlated) else work >= ENOUGH_APART
