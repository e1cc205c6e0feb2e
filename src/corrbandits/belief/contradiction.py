"""Whether rewards contradict what was stated beforehand: the mean, the deviation, the length, the noise.

    name      shape    meaning
    E         ()       how much more likely the rewards are under other values than under the stated one
    f         ()       another value over the stated one
    c         ()       deviation of the mean about the stated one, over that of the arms' means
    A         (k,)     the arms that have rewards
    beta      (G,)     the common mean that fits best, in each of G parts; `Evidence` has the rest

E is the density of the rewards under other values, `FACTORS` times the stated one and equally likely, over the density
under the stated one. All else that is stated stays as stated, and what is not stated is averaged over. If all that is
stated is true, E is a martingale of expectation 1, whichever arms are tried: by Ville's inequality the chance that it
ever reaches 100 is at most 1 in 100, however often one looks. Mean and scale that are integrated out under the
reference prior do not change that: E does not depend on the unit of rewards, nor on where their zero lies.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from corrbandits._core.checks import Array, Integers
from corrbandits._core.single_thread import one_thread
from corrbandits._core.tally import Tally
from corrbandits.belief.base import Belief
from corrbandits.belief.correlated import Correlated
from corrbandits.belief.gaussian import GaussianBelief
from corrbandits.belief.implicit import Implicit
from corrbandits.belief.independent import Independent
from corrbandits.belief.vague import Vague
from corrbandits.belief.vague.components import squares_of
from corrbandits.belief.vague.evidence import Evidence, conditioned
from corrbandits.belief.vague.known import Said
from corrbandits.belief.vague.parts import Parts
from corrbandits.belief.vague.seasons import Season, Seasons
from corrbandits.belief.vague.standard import Standard
from corrbandits.kernels import Kernel, made_of_ours

CONTRADICTED = 100.0
"""From this E on the rewards contradict what is stated."""

_LARGER = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
FACTORS = (*(1 / f for f in reversed(_LARGER)), *_LARGER)
SHIFTS = (1.0, 3.0, 10.0, 30.0)
"""Other means are normal about the stated one; these c are equally likely."""

FEWEST = 4
"""With fewer rewards nothing is said: a single one may as well be mistyped."""

MANY, LIKELIEST = 150, 8
"""If more arms than this have rewards, only so many parts of a `Vague` prior are tried with other values."""


@final
@dataclass(frozen=True)
class Contradiction:
    """A stated value that the rewards contradict.

    `log_times` is log E: under other values they are E times as likely. `likely` is the likeliest of these over the
    stated one, or for the mean that less the stated one. `stated` is None where it differs between arms.
    """

    name: str
    stated: Said
    log_times: float
    likely: float


def contradictions(prior: Belief, tally: Tally) -> list[Contradiction]:
    """Return what a prior states and rewards contradict, the worst first; of rewards 0 and 1 nothing is said.

    >>> prior = Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=9)
    >>> nine = Tally.empty(9).plus((arm, 1, reward) for arm, reward in enumerate([9.0, 8, 9, 10, 9, 11, 8, 9, 10]))
    >>> [found.name for found in contradictions(prior, nine)]
    ['mean', 'sd', 'noise_sd']
    """
    with one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        of = _stated(prior, tally)
        found = [] if of is None else [one for one in of.judged() if one.log_times >= math.log(CONTRADICTED)]
    return sorted(found, key=lambda one: -one.log_times)


def _stated(prior: Belief, tally: Tally) -> _Stated | None:
    """Return what a prior states; None where nothing can be said of it yet, or never."""
    if isinstance(prior, Vague):
        seen, free = Standard.of(tally, prior.relative_variance), prior.parts.free
        seen = seen if prior.parts.past is None else seen.in_units_of(prior.parts.past.exponent)
        seen = seen.beside(prior.parts.scales, prior.level)
        told = seen.number >= FEWEST and not (free and seen.all_equal)
        return _ByParts(prior, seen) if told else None
    if isinstance(prior, (Independent, Correlated, Implicit)) and np.isfinite(prior.variance).all():
        seen = Standard.of(tally, prior.noise_variance)
        return _Known(prior, seen) if seen.number >= FEWEST and (prior.variance[seen.arms] > 0).any() else None
    return None


class _Told(NamedTuple):
    """What a hypothesis makes of the rewards, in standard units."""

    evidence: Evidence
    squares: Array | None
    """Of the parts' scales; None where they are integrated out."""

    def log_densities(self, centre: float | None, spread: float, c: float = 0.0) -> Array:
        """Return the log density of the rewards under each part, up to a constant.

        The mean is normal about `centre`, its variance `spread` and c^2 times the square of the scale; without a
        centre it is integrated out. With a spread a scale that is integrated out is taken as it fits best.
        """
        n, ones = self.evidence.number, self.evidence.ones
        beta = self.evidence.crossed / ones
        q = np.maximum(self.evidence.squares - self.evidence.crossed * beta, np.finfo(float).tiny)
        value = -0.5 * self.evidence.log_determinant
        if centre is None:
            n, value = n - 1, value - 0.5 * np.log(ones)
        else:
            v = spread / (q / n if self.squares is None else self.squares) + c * c
            value = value - 0.5 * np.log1p(v * ones)
            q = q + ones * np.square(beta - centre) / (1 + v * ones)
        if self.squares is None:
            return np.asarray(value - 0.5 * n * np.log(q))
        return np.asarray(value - 0.5 * (n * np.log(self.squares) + q / self.squares))


class _Stated(ABC):
    """What a prior states, and what the rewards are if one stated value is taken for another."""

    names: dict[str, Said]
    centre: float | None = None
    """What is stated of the mean, in standard units."""

    spread: float = 0.0
    unit: float

    @abstractmethod
    def told(self, name: str = "", f: float = 1.0) -> _Told:
        """Return what follows if a stated value is f times as large; by default as stated."""

    def judged(self) -> Iterator[Contradiction]:
        """Yield every stated value with its E."""
        stated = self.told()
        base = _log_sum(stated.log_densities(self.centre, self.spread))
        if not math.isfinite(base):
            return
        for name, said in self.names.items():
            if name == "mean":
                each = [stated.log_densities(self.centre, self.spread, c) for c in SHIFTS]
            else:
                each = [self.told(name, f).log_densities(self.centre, self.spread) for f in FACTORS]
            sums = np.array([_log_sum(values) for values in each])
            best = int(sums.argmax())
            likely = self._shift(stated, each[best]) if name == "mean" else FACTORS[best]
            yield Contradiction(name, said, _log_sum(sums) - math.log(sums.size) - base, likely)

    def _shift(self, stated: _Told, values: Array) -> float:
        """Return how far the mean that fits best is above the stated one, in the unit of rewards."""
        beta = stated.evidence.crossed / stated.evidence.ones
        return self.unit * float(np.exp(values - _log_sum(values)) @ beta - (self.centre or 0.0))


@final
class _ByParts(_Stated):
    """Of a belief that learns what it was not told."""

    def __init__(self, prior: Vague, seen: Standard) -> None:
        A, given = seen.arms, prior.prior_arguments()
        self.unit = math.ldexp(1.0, seen.exponent)
        self.names = {name: given[name] for name in ("mean", "sd", "length", "noise_sd") if given[name] is not None}
        self._stretched: Any = True
        if prior.parts.lengths.ndim > 1 and "length" in self.names:  # those of some coordinates may be stated
            self._stretched = np.array([one is not None for one in given["length"]])
            self.names["length"] = None
        if prior.level is not None:
            self.centre = (prior.level.centre - seen.offset) / self.unit
            self.spread = (prior.level.deviation / self.unit) ** 2
        past: tuple[Season, ...] = given.get("history", ())
        some = np.unique(np.concatenate([A, *(season[0] for season in past)]))  # the arms that have rewards, ever
        self._past = tuple((tuple(np.searchsorted(some, arms).tolist()), rewards) for arms, rewards in past)
        points, place = prior.parts.points, np.searchsorted(some, A)
        where = None if points is None else points[some]
        self._parts = replace(prior.parts, points=where, arms=some.size, past=None)
        self._seen, self._relative = replace(seen, arms=place), prior.relative_variance[some]
        self._evidence = self._given(self._parts)
        self._likeliest, self._evidence_of_likeliest = self._parts, self._evidence
        if some.size > MANY:
            each = self.told().log_densities(self.centre, self.spread)
            self._likeliest = _some(self._parts, np.sort(np.argsort(-each, kind="stable")[:LIKELIEST]))
            self._evidence_of_likeliest = self._given(self._likeliest)

    def told(self, name: str = "", f: float = 1.0) -> _Told:
        parts, evidence = (self._likeliest, self._evidence_of_likeliest) if name else (self._parts, self._evidence)
        both = "sd" in self.names and "noise_sd" in self.names  # then they fix the ratio
        if name == "length":
            parts = replace(parts, lengths=parts.lengths * np.where(self._stretched, f, 1.0))
        elif name == "noise_sd" and both:
            parts = replace(parts, ratios=parts.ratios * f**2)
        elif name:
            parts = replace(parts, scales=parts.scales * f, ratios=parts.ratios / (f**2 if both else 1.0))
        if name == "length" or (name and both):
            evidence = self._given(parts)
        free = bool(np.isnan(parts.scales).any())
        return _Told(evidence, None if free else squares_of(parts.scales, self.unit))

    def _given(self, parts: Parts) -> Evidence:
        if self._past:  # what earlier seasons say follows from the same values
            parts = replace(parts, past=Seasons.of(parts, self._past, self._relative))
        return conditioned(parts, self._seen, self._relative)[0]


@final
class _Known(_Stated):
    """Of a Gaussian prior that is known altogether: it is one part."""

    centre = 0.0

    def __init__(self, prior: GaussianBelief, seen: Standard) -> None:
        given, A = prior.prior_arguments(), seen.arms
        self.unit = math.ldexp(1.0, seen.exponent)
        mean, covariance = prior._prior_of(A)
        self._seen, self._residual = seen, seen.averages - (mean - seen.offset) / self.unit
        self._square = float(covariance.diagonal().mean())
        self._noise = prior.noise_variance[A] / self._square
        self._correlation = covariance / self._square
        kernel = given.get("kernel")
        self._kernel = kernel if isinstance(kernel, Kernel) and made_of_ours(kernel) else None
        self._points = None if self._kernel is None else np.asarray(given["coordinates"])[A]
        self.names = {"mean": _one(mean), "sd": _one(np.sqrt(covariance.diagonal()))}
        if self._kernel is not None:
            factors = self._kernel.factored()
            length = None if factors is None else factors[1].length
            self.names["length"] = length if isinstance(length, float) else None
        self.names["noise_sd"] = _one(np.sqrt(prior.noise_variance))

    def told(self, name: str = "", f: float = 1.0) -> _Told:
        n, k, R = self._seen.number, self._seen.arms.size, self._correlation
        wider, louder = f if name == "sd" else 1.0, f if name == "noise_sd" else 1.0
        if name == "length" and self._kernel is not None:
            R = self._kernel.stretched(f)(self._points, self._points) / self._square
        M = wider**2 * R + np.diag(louder**2 * self._noise / self._seen.counts)
        square = np.array([self._square / self.unit / self.unit])
        try:
            L = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:  # singular to rounding: nothing can be said
            return _Told(Evidence(n, *np.full((4, 1), np.nan)), square)
        zeta, one = np.linalg.solve(L, np.stack([self._residual, np.ones(k)], axis=1)).T
        evidence = Evidence(
            number=n,
            log_determinant=np.array([2 * np.log(L.diagonal()).sum() + 2 * (n - k) * math.log(louder)]),
            ones=np.array([one @ one]),
            crossed=np.array([one @ zeta]),
            squares=np.array([zeta @ zeta + self._seen.within * self._square / louder**2]),
        )
        return _Told(evidence, square)


def _some(parts: Parts, which: Integers) -> Parts:
    """Return some of the parts."""
    names = tuple(parts.kernels[g] for g in which.tolist())
    each = ("lengths", "sites", "ratios", "scales", "alike", "log_prior")
    arrays = {name: getattr(parts, name)[which] for name in each}
    return replace(parts, kernels=names, **arrays)


def _one(values: Array) -> float | None:
    """Return what all arms have in common."""
    return float(values[0]) if np.ptp(values) <= 1e-12 * abs(values[0]) else None


def _log_sum(values: Array) -> float:
    """Return log sum exp of log densities; what could not be computed counts as impossible."""
    known = values[~np.isnan(values)]
    most = float(known.max(initial=-np.inf))
    return most + float(np.log(np.exp(known - most).sum())) if math.isfinite(most) else most
