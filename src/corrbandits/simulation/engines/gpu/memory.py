"""How many runs the device holds at once, and what would fit where it holds none."""

from __future__ import annotations

from dataclasses import replace

from corrbandits.simulation.engines.gpu import device
from corrbandits.simulation.engines.gpu.refusing import DRAWS
from corrbandits.simulation.engines.gpu.shape_base import Shape
from corrbandits.simulation.engines.gpu.team_shapes import OnGrid

MOST_RECORDED = 1 << 28
"""A launch writes at most so many bytes of decisions, or reads so many of noise that is given."""

MOST_DRAWN = 1 << 31
"""So many bytes of normal numbers are drawn ahead at a time, at most, for rules that draw under the noise of the cores:
they lie in the memory of the machine before they lie in the device's."""

MOST_GIVEN = 1 << 32
"""So many bytes of problems that differ are sent at a time, at most: they too lie in the memory of the machine."""


def most_at_once(shape: Shape, runs: int, times: int, *, same_noise: bool) -> int:
    """Return how many of so many runs, recorded at so many times, the device holds at once; refuse where it is none."""
    free, each = device.free_memory() - 4 * MOST_RECORDED, bytes_of_run(shape, times, same_noise=same_noise)
    one, drawn = each + 8 * shape.common(), 8 * given_draws(shape, same_noise=same_noise)
    if free < one:
        fitting = _what_fits(shape, times, free, same_noise=same_noise)
        raise MemoryError(
            f"a run of {shape.arms:,} arms and {shape.horizon:,} decisions takes {one / 1e9:.2g} GB on the device, but "
            f"{max(free, 0) / 1e9:.2g} GB are free there: {fitting}. Close what else uses it, or take "
            f"engine='{'reference' if isinstance(shape, OnGrid) else 'compiled'}'."
        )
    if drawn > MOST_DRAWN:
        raise MemoryError(
            f"the normal numbers that a run of {shape.arms:,} arms and {shape.horizon:,} decisions draws are given "
            f"ahead: they take {drawn / 1e9:.2g} GB, above {MOST_DRAWN / 1e9:.2g} GB. Take engine='compiled' or 'gpu'."
        )
    given = max(1, MOST_GIVEN // (8 * shape.of_problem())) if shape.differ else runs
    return min(runs, 1 + (free - one) // each, MOST_DRAWN // drawn if drawn else runs, given)


def given_draws(shape: Shape, *, same_noise: bool) -> int:
    """Return how many normal numbers a run is given for draws, two for each arm and step: under the cores' noise."""
    return 2 * shape.arms * shape.horizon if same_noise and shape.rule == DRAWS else 0


def bytes_of_run(shape: Shape, times: int, *, same_noise: bool) -> int:
    """Return how many bytes of the device a run takes: what is kept, draws that are given, counts, regret at times.

    Where runs differ, its problem too.
    """
    own = shape.of_problem() if shape.differ else 0
    return 8 * (shape.numbers() + given_draws(shape, same_noise=same_noise) + shape.arms + times + own)


def _what_fits(shape: Shape, times: int, free: int, *, same_noise: bool) -> str:
    """Return how many arms would fit into so many bytes; of a grid, whose streaks are kept, decisions."""
    name = "horizon" if isinstance(shape, OnGrid) else "arms"
    low, high = 0, getattr(shape, name)
    while high - low > 1:
        middle = (low + high) // 2
        small = replace(shape, **{name: middle})
        fits = bytes_of_run(small, times, same_noise=same_noise) + 8 * small.common() <= free
        low, high = (middle, high) if fits else (low, middle)
    return f"up to {low:,} {'decisions' if name == 'horizon' else name} fit"
