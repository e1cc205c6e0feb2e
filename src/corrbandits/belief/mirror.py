"""For those who minimise: the belief on rewards turned round, of which a policy takes the largest."""

from __future__ import annotations

from typing import Any, TypeVar

from corrbandits._core.checks import Array, Integers
from corrbandits.belief.base import Belief
from corrbandits.belief.beta import Beta

B = TypeVar("B", bound=Belief)


def mirrored(prior: B) -> B:
    """Return the prior of the rewards turned round: -r, or 1 - r where they are 0 or 1.

    >>> from corrbandits.belief import Independent
    >>> mirrored(Independent(mean=[1.0, -2.0], variance=3.0, noise_variance=1.0)).mean
    array([-1.,  2.])
    """
    given = prior.prior_arguments()
    turned: dict[str, Any] = dict(given)
    if "mean" in given:
        turned["mean"] = -given["mean"]
    if "beliefs" in given:
        turned["beliefs"] = [mirrored(belief) for belief in given["beliefs"]]
    if isinstance(prior, Beta):
        turned = {"successes": given["failures"], "failures": given["successes"]}
    return type(prior)(**turned)


def mirrored_sums(prior: Belief, counts: Integers, sums: Array) -> Array:
    """Return what the rewards turned round sum to."""
    return counts - sums if isinstance(prior, Beta) else -sums


def mirrored_value(belief: Belief, value: float) -> float:
    """Return a reward, a mean or a limit turned round."""
    return 1.0 - value if isinstance(belief, Beta) else 0.0 - value
