"""Which model most people follow: random-effects comparison of models over people.

    name     shape    meaning
    L        (P, M)   log evidence of each person's choices under each model
    r        (M,)     share of all people who follow each model; its prior is Dirichlet(1, ..., 1)
    alpha    (M,)     of the Dirichlet that approximates what is known of r
    g        (P, M)   probability that a person follows a model

Stephan, Penny, Daunizeau, Moran and Friston (2009), Bayesian model selection for group studies; Rigoux, Stephan,
Friston and Daunizeau (2014), the same revisited.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from corrbandits._core import checks
from corrbandits._core.checks import Array

MOST_ROUNDS = 10_000
NODES = 301
"""Of the quadrature for exceedance probabilities."""


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """How many people follow each of several models, and how sure it is which is followed most; `compare` makes it.

    >>> print(compare([[0.0, -9.0]] * 4 + [[-3.0, 0.0]]))
    5 people; that all models are followed by as many has probability 0.460
    model     share  exceedance  protected
        0     0.735       0.912      0.723
        1     0.265       0.088      0.277
    """

    shares: Array
    """The expected share of people who follow each model."""

    exceedance: Array
    """The probability that more people follow a model than any other."""

    protected: Array
    """The same, if the shares may also all be equal, as likely before as that they are not."""

    chance: float
    """The probability that they are (the Bayesian omnibus risk)."""

    people: Array
    """The probability that each person follows each model, (people, models)."""

    def __str__(self) -> str:
        rows = zip(self.shares, self.exceedance, self.protected, strict=True)
        lines = [f"{k:>5}  {share:>8.3f}  {above:>10.3f}  {sure:>9.3f}" for k, (share, above, sure) in enumerate(rows)]
        head = f"{len(self.people)} people; that all models are followed by as many has probability {self.chance:.3f}"
        return "\n".join([head, "model     share  exceedance  protected", *lines])


def compare(log_evidence: Any) -> Comparison:
    """Return how many people follow each model, from a log evidence per person (rows) and model (columns).

    As evidence serves the log likelihood of rounds left out, or minus half of BIC; not a likelihood at its top, which
    grows with every parameter.

    >>> found = compare([[-10.0, -14.0], [-9.0, -12.0], [-11.0, -10.0], [-8.0, -13.0]])
    >>> found.shares.round(2), found.protected.round(2)
    (array([0.77, 0.23]), array([0.73, 0.27]))
    """
    L = checks.finite("log_evidence", log_evidence)
    if L.ndim != 2 or not L.size:
        raise ValueError(f"log_evidence must have a row per person and a column per model, got shape {L.shape}.")
    alpha, g = _shares(L)
    exceedance = _exceedance(alpha)
    chance = 1 / (1 + np.exp(np.clip(_bound(L, alpha, g) - _equal(L), -700, 700)))
    protected = (1 - chance) * exceedance + chance / L.shape[1]
    return Comparison(alpha / alpha.sum(), exceedance, protected, float(chance), g)


def _shares(L: Array) -> tuple[Array, Array]:
    """Return alpha and g where the variational bound is largest (Stephan et al. 2009, eq. 14)."""
    from scipy.special import digamma

    alpha = np.ones(L.shape[1])
    for _ in range(MOST_ROUNDS):
        g = _normalised(L + digamma(alpha) - digamma(alpha.sum()))
        new = 1 + g.sum(axis=0)
        if np.abs(new - alpha).max() < 1e-10:
            return new, g
        alpha = new
    return alpha, g


def _bound(L: Array, alpha: Array, g: Array) -> float:
    """Return the bound on the evidence that the shares differ (Rigoux et al. 2014, appendix)."""
    from scipy.special import digamma, gammaln

    models = L.shape[1]
    expected = digamma(alpha) - digamma(alpha.sum())
    entropy_of_shares = gammaln(alpha).sum() - gammaln(alpha.sum()) - ((alpha - 1) * expected).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(g > 0, g * np.log(g), 0.0).sum()
    return float((g * (L + expected)).sum() + gammaln(models) + entropy_of_shares + entropy)


def _equal(L: Array) -> float:
    """Return the log evidence that each model is followed by the same share of people."""
    top = L.max(axis=1)
    return float((top + np.log(np.exp(L - top[:, None]).mean(axis=1))).sum())


def _normalised(L: Array) -> Array:
    weight = np.exp(L - L.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _exceedance(alpha: Array) -> Array:
    """Return the probability that each share is the largest, by quadrature: shares are Gammas over their sum.

    P(k largest) = E[prod_j F_j(x_k)], x_k a Gamma variable of shape alpha_k: its quantile at Phi(s), s normal, by the
    trapezoid rule, whose error falls faster than any power of the step.
    """
    from scipy.special import gammainc, gammainccinv, gammaincinv, ndtr

    s = np.linspace(-9.0, 9.0, NODES)
    weights = np.exp(-s * s / 2)
    found = np.empty(alpha.size)
    for k, own in enumerate(alpha.tolist()):
        x = np.where(s < 0, gammaincinv(own, ndtr(s)), gammainccinv(own, ndtr(-s)))
        others = np.delete(alpha, k)
        found[k] = weights @ np.prod(gammainc(others[:, None], x), axis=0)
    return np.asarray(found / found.sum())
