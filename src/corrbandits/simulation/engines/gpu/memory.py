"""How many runs the device holds at once, and what would fit where it holds none."""

from __future__ import annotations

from dataclasses import replace

from corrbandits.simulation.engines.gpu import device
from corrbandits.simulation.engines.gpu.refusing import rule_of
from corrbandits.simulation.engines.gpu.shape_base import Shape
from corrbandits.simulation.engines.gpu.shapes import shape_of
from corrbandits.simulation.engines.gpu.team_shapes import OnGrid
from corrbandits.simulation.engines.protocol import Runs

MOST_RECORDED = 1 << 28
"""A launch writes at most so many bytes of decisions, or reads so many of noise that is given."""


def most_at_once(runs: Runs) -> int:
    """Return how many runs the device holds at once; refuse where it holds none."""
    shape = shape_of(runs, rule_of(runs.policy, runs.belief))
    free, times = device.free_memory() - 4 * MOST_RECORDED, 0 if runs.times is None else runs.times.size
    each = bytes_of_run(shape, times)
    one = each + 8 * shape.common()
    if free < one:
        raise MemoryError(
            f"a run of {shape.arms:,} arms and {shape.horizon:,} decisions takes {one / 1e9:.2g} GB on the device, but "
            f"{max(free, 0) / 1e9:.2g} GB are free there: {_what_fits(shape, times, free)}. Close what else uses it, "
            "or take engine='compiled' or 'auto'."
        )
    return min(len(runs), 1 + (free - one) // each)


def bytes_of_run(shape: Shape, times: int) -> int:
    """Return how many bytes of the device a run takes: what is kept, its counts, and its regret at so many times."""
    return 8 * (shape.numbers() + shape.arms + times)


def _what_fits(shape: Shape, times: int, free: int) -> str:
    """Return how many arms would fit into so many bytes; of a grid, whose streaks are kept, decisions."""
    name = "horizon" if isinstance(shape, OnGrid) else "arms"
    low, high = 0, getattr(shape, name)
    while high - low > 1:
        middle = (low + high) // 2
        small = replace(shape, **{name: middle})
        low, high = (middle, high) if bytes_of_run(small, times) + 8 * small.common() <= free else (low, middle)
    return f"up to {low:,} {'decisions' if name == 'horizon' else name} fit"
