"""Which games that differ are played at once: those of one kernel, of similar numbers of arms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from corrbandits.simulation.engines.gpu.refusing import is_binary
from corrbandits.simulation.engines.gpu.shapes import shape_of
from corrbandits.simulation.engines.protocol import Recorded, Runs

PADDED = 2.0
"""All have room for the covariances of the most arms, at most so many times their own."""


def kind_of(runs: Runs) -> Hashable:
    """Return what games must have in common to be played at once.

    >>> from corrbandits import UCL, GaussianBandit, Greedy, Independent
    >>> flat, bandit = Independent(noise_variance=1.0, arms=2), GaussianBandit([0.0, 1.0], 1.0)
    >>> kind_of(Runs(UCL(), flat, bandit, 9, 0, 0, 1)) == kind_of(Runs(Greedy(), flat, bandit, 9, 0, 3, 4))
    True
    """
    shape, times = replace(shape_of(runs), differ=True), None if runs.times is None else runs.times.tobytes()
    kernel = type(shape), shape.rule, shape.block(), shape.sides(runs.belief)
    return *kernel, runs.horizon, times, runs.moves is None, is_binary(runs)


def lots(games: Sequence[Runs], into: Sequence[Recorded]) -> Iterator[list[tuple[Runs, Recorded]]]:
    """Yield what is played at once: single runs of one kind and where they are recorded, the most arms first."""
    kinds: dict[Hashable, list[tuple[Runs, Recorded]]] = defaultdict(list)
    for game, recorded in zip(games, into, strict=True):
        kind = kind_of(game)
        for row, run in enumerate(range(game.first, game.last)):
            own = {name: array[row : row + 1] for name, array in recorded.items()}
            kinds[kind].append((replace(game, first=run, last=run + 1), own))
    for some in kinds.values():
        some.sort(key=lambda one: -one[0].belief.arms)
        lot = some[:1]
        for one in some[1:]:
            if PADDED * one[0].belief.arms ** 2 < lot[0][0].belief.arms ** 2:
                yield lot
                lot = []
            lot.append(one)
        yield lot
