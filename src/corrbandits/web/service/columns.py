"""What is believed of all arms at one moment, as columns; and how likely each arm is to be the best.

draws    (m, n)   mean rewards drawn from the belief, of the m arms that may be best
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.draws import covariance_root
from corrbandits._core.single_thread import one_thread
from corrbandits.belief import Belief, Correlated, GaussianBelief, Vague
from corrbandits.policies import KnowledgeGradient
from corrbandits.study.choosing import deciding_belief, moment
from corrbandits.study.ledger import Ledger
from corrbandits.study.report.inference import leader_of
from corrbandits.study.report.standing import limits as limits_of

DRAWS = 1024
MOST_EXACT = 300
"""Of more arms than this, not all are drawn."""

MOST_DRAWN = 150
"""So many arms, those likeliest to be above the leader, are drawn where there are more."""

MOST_LIMITED = 20_000
"""With more arms the limits and the next arm of a `Vague` belief are left to `ask`."""

Data = dict[str, Any]


@final
@dataclass(frozen=True)
class Standing:
    """The arm of best mean, the chance of each arm to be best, and what it would cost to settle for the leader."""

    leader: int
    mean: float
    deviation: float
    chance: Array
    loss: float
    loss_error: float


def standing(deciding: Belief, seed: int) -> Standing | None:
    """Return how arms stand, by a belief turned round if the goal is the least; None while none can be compared."""
    if not np.isfinite(deciding.variance).all() or (isinstance(deciding, Vague) and deciding.opening):
        return None
    leader = leader_of(deciding)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    with one_thread():
        arms, draws = _drawn(deciding, leader, rng)
    chance = np.zeros(deciding.arms)
    np.add.at(chance, arms[draws.argmax(axis=0)], 1 / draws.shape[1])
    loss = draws.max(axis=0) - draws[int(np.searchsorted(arms, leader))]
    error = float(loss.std() / math.sqrt(loss.size))
    mean = float(deciding.mean[leader])
    return Standing(leader, mean, float(deciding.deviation[leader]), chance, float(loss.mean()), error)


def _drawn(belief: Belief, leader: int, rng: np.random.Generator) -> tuple[Integers, Array]:
    """Return the arms that are drawn, in order, and the draws."""
    if belief.arms <= MOST_EXACT or not isinstance(belief, (GaussianBelief, Vague)):
        return np.arange(belief.arms), belief.draws(rng, DRAWS)
    z = (belief.mean - belief.mean[leader]) / np.maximum(belief.deviation, 1e-300)
    z[leader] = np.inf
    arms = np.sort(np.argpartition(-z, MOST_DRAWN - 1)[:MOST_DRAWN])
    if isinstance(belief, Vague):
        return arms, belief.draws(rng, DRAWS, arms)
    root = covariance_root(belief.covariance_of(arms))
    return arms, belief.mean[arms][:, None] + root @ rng.standard_normal((arms.size, DRAWS))


def columns(ledger: Ledger, deciding: Belief | None = None, start: int | None = None) -> Data:
    """Return what is believed after the events of a ledger: a column each for mean, deviation, limit, count, chance.

    The next arm is the one to go to from arm `start`, or from the one last asked for.
    """
    deciding = deciding_belief(ledger).after(ledger.clock()) if deciding is None else deciding
    goal, known = ledger.settings.goal, np.isfinite(deciding.variance)
    large = isinstance(deciding, Vague) and deciding.arms > MOST_LIMITED
    mean = deciding.mean if goal == "max" else deciding.mirror - deciding.mean
    limits = None if large else limits_of(ledger, deciding)
    found = standing(deciding, ledger.settings.seed)
    return {
        "sequence": ledger.sequence,
        "t": ledger.time,
        "opening": isinstance(deciding, Vague) and deciding.opening,
        "mean": _column(mean, known),
        "deviation": _column(deciding.deviation, known),
        "limit": None if limits is None else _column(limits, known),
        "counts": ledger.tally.counts.tolist(),
        "chance": None if found is None else found.chance.tolist(),
        "leader": None if found is None else found.leader,
        "next": None if large else _next(ledger, deciding, start),
        "open": sorted(ledger.open.values()),
    }


def worth(deciding: Belief) -> float | None:
    """Return how much one more reward should add to the mean of the best arm; None where that is not computed."""
    if deciding.arms > MOST_EXACT or not np.isfinite(deciding.variance).all():
        return None
    if isinstance(deciding, Vague):
        deciding = _normal(deciding)
    if not isinstance(deciding, GaussianBelief):
        return None
    gains = KnowledgeGradient(horizon=2).index(deciding, t=1) - deciding.mean
    return float(gains.max())


def _normal(belief: Vague) -> Correlated:
    """Return a normal belief of the same means and covariances, and of the noise that is likeliest."""
    covariance = np.array([belief.covariance_with(arm) for arm in range(belief.arms)])
    noise = belief.learnt().noise_sd.median ** 2 * belief.relative_variance
    return Correlated(mean=belief.mean, covariance=(covariance + covariance.T) / 2, noise_variance=noise)


def rounded(data: Data, digits: int | None) -> Data:
    """Return columns with their numbers to so many digits; all of them without."""
    if digits is None:
        return data
    return {
        name: [_short(x, digits) for x in value]
        if name in ("mean", "deviation", "limit", "chance") and value
        else value
        for name, value in data.items()
    }


def page(data: Data, offset: int, limit: int) -> Data:
    """Return columns of some arms only."""
    named = ("mean", "deviation", "limit", "counts", "chance")
    cut = {name: data[name] if data[name] is None else data[name][offset : offset + limit] for name in named}
    return data | cut | {"offset": offset, "arms": len(data["counts"])}


def _short(x: float | None, digits: int) -> float | None:
    return None if x is None else float(f"{x:.{digits}g}")


def _column(values: Array, known: Any) -> list[float | None]:
    return [x if k and math.isfinite(x) else None for x, k in zip(values.tolist(), known.tolist(), strict=True)]


def _next(ledger: Ledger, deciding: Belief, start: int | None) -> int | None:
    """Return the arm that would be asked for now; None if there is none left."""
    try:
        at = moment(ledger, deciding, start=start)
        return None if at.candidates is not None and not at.candidates.size else at.choose()
    except ValueError:
        return None
