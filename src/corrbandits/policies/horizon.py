"""Rules that know how many decisions there are in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array, Integers
from corrbandits._core.gaussian import upper_quantile
from corrbandits.belief import Belief
from corrbandits.belief.mixed import MixedBelief
from corrbandits.policies.base import IndexPolicy, LimitPolicy, first_of_equals, unit_of
from corrbandits.policies.gittins import index_in_deviations

FEWEST_AHEAD = 20
"""Where no end is known: at least so many decisions are taken to be left."""

DOUBT = 1 / 3
"""How much of `HorizonUCL`'s width goes to what the parts of a mixture do not agree on."""


def _width(m: Any) -> Any:
    return upper_quantile(-np.log1p(m))


def decisions_left(t: Any, horizon: int | None) -> Any:
    """Return how many decisions are left at time t, that one included; without a horizon as many as were made.

    >>> int(decisions_left(3, horizon=50)), int(decisions_left(80, horizon=50)), int(decisions_left(3, horizon=None))
    (48, 1, 20)
    """
    if horizon is None:
        return np.maximum(np.asarray(t), FEWEST_AHEAD)
    return np.maximum(horizon - np.asarray(t) + 1, 1)


def doubts(m: Any) -> Any:
    """Return how many deviations of the parts' indices are added to their mean, m decisions left.

    >>> doubts(np.array([1, 200, 1000])).round(2) + 0.0
    array([0.  , 0.86, 1.03])
    """
    return DOUBT * _width(m)


@dataclass(frozen=True)
class _Campaign(IndexPolicy):
    """Decisions are numbered from 1 to the horizon; without one, as many are taken to be left as were made.

    Permuting the rows permutes the choices.
    """

    horizon: int | None = None

    def __post_init__(self) -> None:
        if self.horizon is not None:
            checks.set_field(self, "horizon", checks.integer("horizon", self.horizon, least=1))

    @property
    def ordered(self) -> bool:
        """Whether the first of equal arms among those allowed is taken: it is."""
        return True

    def left(self, t: Any) -> Any:
        """Return m, how many decisions are left at time t, that one included; past the horizon 1.

        >>> int(Gittins(horizon=50).left(1)), int(Gittins(horizon=50).left(80)), int(Gittins().left(80))
        (50, 1, 80)
        """
        return decisions_left(t, self.horizon)

    def _choose(self, belief: Belief, t: int, rng: np.random.Generator | None, arms: Integers | None) -> int:
        return first_of_equals(self.index(belief, t), belief, arms)


@final
@dataclass(frozen=True)
class HorizonUCL(_Campaign, LimitPolicy):
    """The credible limit whose tail follows the m decisions left: Q_i(t) = mu_i + s_i Phi^-1(1 - 1 / (m + 1)).

    It explores first and exploits at the end: with one decision left it takes the largest mean. Past the horizon it
    goes on doing so. Without a horizon, for campaigns that have no end, as many decisions are taken to be left as were
    made, and at least 20.

    >>> from corrbandits.belief import Independent
    >>> prior = Independent(mean=[0.0, 1.0], variance=[9.0, 1.0], noise_variance=1.0)
    >>> [HorizonUCL(horizon=50).choose(prior, t) for t in (1, 50)]
    [0, 1]
    """

    def width(self, t: Any, arms: int) -> Any:
        """Return Phi^-1(1 - 1 / (m + 1))."""
        return _width(self.left(t))


@final
@dataclass(frozen=True)
class Gittins(_Campaign):
    """The finite-horizon Gittins index of each arm alone: Q_i(t) = mu_i + s_i g(m, sigma_i^2 / s_i^2).

    g is how many deviations above its mean a charge must lie for an arm to be worth nothing, when it may be taken m
    times and left at any time, its rewards being noisy. For independent arms this is the rule of Lattimore (2016); on
    correlated arms each arm's own posterior is put in. With one decision left it takes the largest mean. Without a
    horizon as many decisions are taken to be left as were made, and at least 20. With more than 1,000,000 left the
    index is that for 1,000,000, and somewhat too low.

    On a mixture (`Vague`, or `Drifting` whose scale is not known) every part has an index of its own, with the noise
    that it believes in. An arm's is their mean, and Phi^-1(1 - 1 / (m + 1)) / 3 of their deviations: what the parts
    do not agree on is worth a look. Where mean rewards change, m is no more than the time after which what was
    learnt tells little, in decisions: under each part its own.

    >>> from corrbandits.belief import Independent
    >>> prior = Independent(mean=[0.0, 1.0], variance=[9.0, 1.0], noise_variance=1.0)
    >>> Gittins(horizon=50).index(prior, t=1).round(2), Gittins(horizon=50).index(prior, t=50)
    (array([4.39, 2.32]), array([0., 1.]))
    """

    def index(self, belief: Belief, t: int) -> Array:
        """Return Q_i(t); +inf where nothing is known of an arm."""
        m = int(self.left(checks.integer("t", t, least=1)))
        if isinstance(belief, MixedBelief) and belief.mixed:
            g, doubt = _under_parts(belief, m)
            each = belief.part_locations + belief.part_deviations * g
            mean = belief.weights @ each
            apart, unit = each - mean, unit_of(each - mean)
            return np.asarray(mean + doubt * unit * np.sqrt(belief.weights @ np.square(apart / unit)))
        noise = getattr(belief, "noise_variance", None)
        if noise is None:
            raise TypeError(f"Gittins needs a belief that knows the noise of rewards, got a {type(belief).__name__}.")
        with np.errstate(divide="ignore", invalid="ignore"):
            n = np.where(belief.variance > 0, noise / belief.variance, np.inf)
        n[np.isnan(n)] = 0.0
        return belief.limit(index_in_deviations(m, n))

    def schedule(self, times: Integers, arms: int) -> Array:
        """Return how many decisions are left."""
        return np.asarray(self.left(times), dtype=np.float64)


def _under_parts(belief: MixedBelief, m: int) -> tuple[Array, Any]:
    """Return g(m, n) of each arm under each component, m no more than what is learnt lasts; and the doubts of all."""
    lasting = belief.part_lasting
    if np.isinf(lasting).all():
        return index_in_deviations(m, belief.part_noise), doubts(m)
    noise, ahead = belief.part_noise, np.clip(np.round(lasting), 1, m).astype(np.int64)
    g = np.empty(noise.shape)
    for one in np.unique(ahead):
        g[ahead == one] = index_in_deviations(int(one), noise[ahead == one])
    return g, belief.weights @ doubts(ahead)
