"""What the device is told of the problems that are played there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.belief import Correlated, GaussianBelief, Vague
from corrbandits.policies import Policy
from corrbandits.policies.gittins.table import table
from corrbandits.simulation.engines.compiled.state import FLOOR, ranked
from corrbandits.simulation.engines.gpu import state
from corrbandits.simulation.engines.gpu.counted import key_of
from corrbandits.simulation.engines.gpu.refusing import DRAWS, INDICES, PRINTED, is_binary
from corrbandits.simulation.engines.gpu.shape_base import Shape
from corrbandits.simulation.engines.gpu.stacking import stacked
from corrbandits.simulation.engines.gpu.state import ALIKE, Problem, bare
from corrbandits.simulation.engines.protocol import Runs


def problems_of(games: Sequence[Runs], shape: Shape) -> Problem:
    """Return what is played: the problem of all runs or, where they differ, that of each, the most arms first."""
    each = (problem_of(game, shape) for game in games)
    return stacked(each, len(games), ALIKE) if shape.differ else next(each)


def problem_of(runs: Runs, shape: Shape) -> Problem:
    """Return what these runs play."""
    rule, belief, environment = shape.rule, runs.belief, runs.environment
    assert isinstance(belief, (GaussianBelief, Vague))
    known, key = table(), key_of(runs.seed)
    sides = shape.sides(belief)
    return Problem(
        n=belief.arms,
        means=environment.means,
        deviations=np.sqrt(environment.noise_variance),
        gaps=environment.gaps,
        **(_nothing_of_belief() if isinstance(belief, Vague) else _of_belief(runs.policy, belief, rule)),
        S=shape.covariance_of(belief),
        rank=ranked(belief).rank,
        binary=int(is_binary(runs)),
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


def prior_of(belief: GaussianBelief, *, printed: bool) -> Array:
    """Return the vectors of `state.own` at the start of a run, one per row.

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
