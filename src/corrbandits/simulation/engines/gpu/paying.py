"""When a device is worth asking: where the work is large, and it plays it sooner than the cores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from corrbandits.belief import Correlated, Implicit, Independent, Vague
from corrbandits.policies import Thompson
from corrbandits.simulation.engines.gpu import device
from corrbandits.simulation.engines.gpu.refusing import refusal
from corrbandits.simulation.engines.protocol import Runs

ENOUGH_APART, ENOUGH_JOINTLY, ENOUGH_MIXED, ENOUGH_ON_GRID = 3e9, 1e11, 2e10, 5e7
"""From so much work on it pays: decisions times arms, or times their square where they are correlated, or times the
parts of a mixture; times arms again where an implicit belief asks for their transforms.

16 cores play as much in the four seconds that it takes to compile a kernel (`benchmarks.gpu`, on an H200).
"""

LEAST_JOINTLY, LEAST_MIXED = 2e8, 3e6
"""So much work must each of several games be that differ: less is soon played by the cores, while it takes one of them
as long to tell the device of it (`benchmarks.gpu_games`, on an H200)."""

FEWEST = 3
"""Games that differ are played at once if there is one for every so many multiprocessors: fewer, a block each, are
played as soon by 16 cores."""


def share_of_enough(runs: Runs) -> float:
    """Return how much work this is, in units of what pays.

    >>> from corrbandits import UCL, GaussianBandit
    >>> flat = Independent(noise_variance=1.0, arms=2)
    >>> share_of_enough(Runs(UCL(), flat, GaussianBandit([0.0, 1.0], 1.0), 3 * 10**6, 0, 0, 500))
    1.0
    """
    belief, work = runs.belief, _work(runs)
    if isinstance(belief, Vague):
        return work / ENOUGH_MIXED
    if isinstance(belief, Implicit):
        return work / ENOUGH_ON_GRID
    return work / (ENOUGH_JOINTLY if isinstance(belief, Correlated) else ENOUGH_APART)


def _work(runs: Runs) -> float:
    """Return decisions times arms, times arms again where they are correlated, or times the parts of a mixture."""
    belief, work = runs.belief, 1.0 * len(runs) * runs.horizon * runs.belief.arms
    if isinstance(belief, Vague):
        return work * len(belief.parts)
    return work * belief.arms if isinstance(belief, Correlated) else work


def waits_for_one(runs: Runs) -> bool:
    """Return whether, under the noise of the cores, all wait for one: who draws, a thread, or the block of one run.

    The noise is drawn on one core, and so are normal numbers for draws. On independent arms a run has one thread, which
    is soon through; on correlated ones that a block has memory for, it has that block. A mixture is so much work that
    one block plays it sooner than a core.
    """
    from corrbandits.simulation.engines.gpu.shapes import Jointly, shape_of

    return _held_up(runs) or (len(runs) == 1 and isinstance(shape_of(runs), Jointly))


def _held_up(runs: Runs) -> bool:
    """Return whether the device would wait for a core that draws, or for a thread that plays a run alone."""
    return isinstance(runs.belief, Independent) or isinstance(runs.policy, Thompson)


def fits(runs: Runs, *, same_noise: bool = True, differ: bool = False) -> bool:
    """Return whether the device holds a run, alone or as one of several that differ."""
    from corrbandits.simulation.engines.gpu.memory import most_at_once
    from corrbandits.simulation.engines.gpu.shapes import shape_of

    shape = replace(shape_of(runs), differ=differ)
    try:
        return most_at_once(shape, 1, 0 if runs.times is None else runs.times.size, same_noise=same_noise) > 0
    except MemoryError:
        return False


def sooner(games: Sequence[Runs], at_once: Sequence[float], in_all: Sequence[float]) -> list[bool]:
    """Return which of these games a device plays sooner than the cores, if it plays many that differ at once.

    Of games like each so many are played at once, and so many in all. Games that hold the device up are left to the
    cores, and each on a grid has the device alone.
    """
    shares = [share_of_enough(game) * many for game, many in zip(games, in_all, strict=True)]
    if sum(shares) < 1 or not device.present():
        return [False] * len(games)
    from corrbandits.simulation.engines.gpu.together import kind_of

    kinds = [kind_of(game) if _is_for_blocks(game) else None for game in games]
    work, beside = defaultdict[Hashable, float](float), defaultdict[Hashable, float](float)
    for kind, share, many in zip(kinds, shares, at_once, strict=True):
        work[kind] += share
        beside[kind] += many
    fewest = device.processors() / FEWEST
    enough = {kind for kind in work if kind and work[kind] >= 1 and beside[kind] >= fewest}
    return [kind in enough and fits(game, differ=True) for kind, game in zip(kinds, games, strict=True)]


def _is_for_blocks(runs: Runs) -> bool:
    """Return whether blocks of threads can play this game beside others, and are worth telling of it."""
    if len(runs) > 1 or isinstance(runs.belief, Implicit) or _held_up(runs):
        return False
    if _work(runs) < (LEAST_MIXED if isinstance(runs.belief, Vague) else LEAST_JOINTLY):
        return False
    return not (refusal(runs, same_noise=True) or beyond_a_block(runs))


def beyond_a_block(runs: Runs) -> str:
    """Return that a block must share more of a mixture than the device lets it, or ""."""
    if not isinstance(runs.belief, Vague):
        return ""
    from corrbandits.simulation.engines.gpu.mixed import shared_numbers

    arms, parts, most = runs.belief.arms, len(runs.belief.parts), device.shared_limit()
    needed = 8 * shared_numbers(arms, parts, vectors=False, differ=True)
    shared = f"a Vague belief of {arms:,} arms and {parts:,} parts needs {needed:,} bytes that a block shares"
    return "" if needed <= most else f"{shared}, but the device has {most:,}"
