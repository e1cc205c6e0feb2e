"""One person of a population: where they most likely are, and how sure that is.

name    shape     meaning
z       (p,)      the person's free parameters, on their lines
m, V    (p,), (p, p)    mean and covariance of z over all people, V = C C'
u       (p,)      z = m + C u: over all people u is standard normal
H       (p, p)    minus the second derivatives of the log likelihood by z, at the most likely z
S       (p, p)    what is left uncertain: (H + V^-1)^-1 = C (I + C' H C)^-1 C'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from corrbandits._core.checks import Array
from corrbandits.choices.curvature import curvature
from corrbandits.choices.likelihood import Problem
from corrbandits.choices.parameters import PARAMETERS

MOST_STEPS = 200
CLIMBS = 2
"""From how many places a person is looked for: the highest ones."""

SETTLED = 1e-4
"""A step this many posterior deviations long is the last."""

FARTHEST = 2.0
"""The longest step, in deviations of the population."""


FARTHEST_ASIDE = 1.0
"""How far the mean may lie from the most likely place, in posterior deviations."""


@final
@dataclass(frozen=True, eq=False)
class Law:
    """How free parameters are spread over people: normal on their lines."""

    names: tuple[str, ...]
    m: Array
    V: Array

    @cached_property
    def C(self) -> Array:  # noqa: N802  as in the table
        """The Cholesky factor of V."""
        return np.asarray(np.linalg.cholesky(self.V))

    def values(self, u: Array) -> dict[str, float]:
        """Return the parameters at u."""
        places = (self.m + self.C @ u).tolist()
        return {name: PARAMETERS[name].value(z) for name, z in zip(self.names, places, strict=True)}

    def u(self, z: Array) -> Array:
        """Return u at z."""
        return np.asarray(np.linalg.solve(self.C, z - self.m))


@final
@dataclass(frozen=True, eq=False)
class Mode:
    """The most likely place of a person, given the population."""

    z: Array
    center: Array
    """The mean of z, which lies beside the most likely z where the likelihood is skewed."""

    S: Array
    values: dict[str, float]
    log_likelihood: float
    log_evidence: float
    """Of all the person's choices, by Laplace's approximation: log of the integral over z."""

    score: Array
    """The derivatives of the log likelihood by what people share, expected over what is left uncertain."""

    told: Array
    """What the choices tell of that, the person's own parameters being found anew."""

    H: Array
    is_peaked: bool
    """Whether I + C'HC is positive definite."""

    is_found: bool


def most_likely(problem: Problem, law: Law, fixed: Mapping[str, float], starts: Sequence[Array], H: Array) -> Mode:
    """Return the most likely place of a person, the highest that is reached from the best of some places.

    `fixed` are the parameters that are not the person's own, `H` is a guess of the curvature there.
    """

    def down(u: Array) -> tuple[float, Array]:
        value, by = problem.gradient({**fixed, **law.values(u)})
        slope = np.array([by[name] for name in law.names])
        return float(u @ u) / 2 - value, np.asarray(u - law.C.T @ slope)

    guess = _inverse(law.C.T @ H @ law.C)[0]
    looks = sorted((law.u(z) for z in starts), key=lambda place: down(place)[0])
    climbs = [descended(down, place, guess) for place in looks[:CLIMBS]]
    u, is_found = min(climbs, key=lambda climb: down(climb[0])[0])
    return _mode(problem, law, fixed, u, is_found)


def _mode(problem: Problem, law: Law, fixed: Mapping[str, float], u: Array, is_found: bool) -> Mode:
    shared, p = problem.model.shared, len(law.names)
    values = {**fixed, **law.values(u)}
    value, _ = problem.gradient(values)
    whole = curvature(problem, values, [*law.names, *shared])
    H, across = whole[:p, :p], whole[:p, p:]
    inside, log_det, is_peaked = _inverse(law.C.T @ H @ law.C)
    S = law.C @ inside @ law.C.T
    told = whole[p:, p:] - across.T @ S @ across
    evidence = value - float(u @ u) / 2 - log_det / 2
    slope, score = _expected_slopes(problem, law, fixed, u, inside)
    z, center = law.m + law.C @ u, law.m + law.C @ (u + _aside(inside, slope))
    return Mode(z, center, S, values, value, evidence, score, told, H, is_peaked, is_found)


def _aside(inside: Array, slope: Array) -> Array:
    """Return how far the mean lies from the most likely u: `inside` times the slope, and not too far.

    >>> _aside(np.eye(2), np.array([0.0, 0.5])), _aside(np.eye(2), np.array([0.0, 1e200]))
    (array([0. , 0.5]), array([0., 1.]))
    """
    size = float(np.abs(slope).max(initial=1.0))
    way = inside @ (slope / size)  # the slope may be so steep that its square is no number
    length = size * float(np.sqrt(slope / size @ way))
    return np.asarray(way * size * min(1.0, FARTHEST_ASIDE / max(length, FARTHEST_ASIDE)))


def _expected_slopes(
    problem: Problem, law: Law, fixed: Mapping[str, float], u: Array, inside: Array
) -> tuple[Array, Array]:
    """Return the derivatives of the log posterior by u and by what people share, expected over u.

    They are averages over 2p points that have the mean and covariance of u. At the most likely u the first would be 0
    if the posterior were symmetric; to second order, its mean is (I + C'HC)^-1 times this away.
    """
    reach = np.sqrt(u.size) * np.linalg.cholesky(inside).T
    found = [problem.gradient({**fixed, **law.values(point)})[1] for point in (*(u + reach), *(u - reach))]
    names = (*law.names, *problem.model.shared)
    by = np.mean([[each[name] for name in names] for each in found], axis=0)
    return np.asarray(law.C.T @ by[: u.size] - u), np.asarray(by[u.size :])


def _inverse(A: Array) -> tuple[Array, float, bool]:
    """Return (I + A)^-1, log det (I + A), and whether I + A is positive definite.

    If it is not, the place is no top. Directions in which the likelihood bends upwards are then taken to tell nothing:
    A has no negative part, and u is as uncertain there as over all people.
    """
    each, ways = np.linalg.eigh((A + A.T) / 2)
    is_peaked = bool(each.min(initial=0.0) > -1 + 1e-6)
    each = 1 + (each if is_peaked else np.maximum(each, 0.0))
    return np.asarray(ways / each @ ways.T), float(np.log(each).sum()), is_peaked


def descended(down: Callable[[Array], tuple[float, Array]], u: Array, B: Array) -> tuple[Array, bool]:
    """Return where a function is smallest, by quasi-Newton steps with the inverse curvature B to begin with.

    Returns also whether it was found. Steps are no longer than `FARTHEST`, and halved until the function falls.

    >>> descended(lambda u: (float((u - 3) @ (u - 3)), 2 * (u - 3)), np.zeros(2), np.eye(2))
    (array([3., 3.]), True)
    """
    value, slope = down(u)
    for _ in range(MOST_STEPS):
        step = -B @ slope
        to_gain = -float(slope @ step)
        if to_gain < SETTLED**2:
            return u, True
        step *= min(1.0, FARTHEST / float(np.linalg.norm(step)))
        ahead = _lower(down, u, value, slope, step)
        if ahead is None:
            return u, to_gain < SETTLED  # what is left is rounding
        u, value, bent = ahead[0], ahead[1], ahead[2] - slope
        B, slope = _updated(B, ahead[3], bent), ahead[2]
    return u, False


def _lower(down: Any, u: Array, value: float, slope: Array, step: Array) -> tuple[Array, float, Array, Array] | None:
    """Return a lower place along a step, the value and slope there, and the step; None if there is none."""
    for _ in range(30):
        new, by = down(u + step)
        if new <= value + 1e-4 * float(slope @ step):
            return u + step, new, by, step
        step = step / 2
    return None


def _updated(B: Array, step: Array, bent: Array) -> Array:
    """Return the inverse curvature after a step along which the slope has changed (BFGS)."""
    along = float(step @ bent)
    if along <= 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(bent)):
        return B
    left = np.eye(len(B)) - np.outer(step, bent) / along
    return np.asarray(left @ B @ left.T + np.outer(step, step) / along)
