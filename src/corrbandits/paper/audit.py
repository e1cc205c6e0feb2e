"""The bounds against simulation: the mean count of every suboptimal arm and what each theorem allows it.

A violation is a mean above the bound by more than `MARGIN` standard errors. Besides random problems the audit takes
some that are built like the counterexample to Theorem 2 as printed, on which that must fail.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from typing import Any, final

import numpy as np

from corrbandits import theory
from corrbandits._core import checks
from corrbandits._core.checks import Array
from corrbandits._shell import terminal
from corrbandits._shell.numbers import counted, number
from corrbandits._shell.progress import bar
from corrbandits.belief import Belief, Correlated, GaussianBelief, Independent
from corrbandits.environments import GaussianBandit
from corrbandits.kernels import Exponential
from corrbandits.paper.counterexample import COUNTEREXAMPLE_A, counterexample
from corrbandits.policies import UCL, CorrelatedUCL, Policy
from corrbandits.simulation.simulator import simulate

MARGIN = 4.0
LEAST_K = math.sqrt(2 * math.pi * math.e)
COUNTEREXAMPLE_RUNS = 16

Player = tuple[UCL | CorrelatedUCL, GaussianBelief]


@final
@dataclass(frozen=True)
class Problem:
    """One problem: what is true, how long it lasts, the policies with their priors, and the arms to watch."""

    name: str
    environment: GaussianBandit
    horizon: int
    players: dict[str, Player]
    watched: tuple[int, ...]
    seed: int


@final
@dataclass(frozen=True)
class Pair:
    """One suboptimal arm of one problem under one bound: the mean count over runs, its error, and the bound."""

    problem: str
    bound: str
    arms: int
    horizon: int
    arm: int
    mean: float
    error: float
    limit: float

    @property
    def violated(self) -> bool:
        """Whether the mean is above the bound by more than the margin."""
        return self.mean > self.limit + MARGIN * self.error

    @property
    def vacuous(self) -> bool:
        """Whether the bound is no less than the horizon, and so says nothing."""
        return self.limit >= self.horizon


@final
@dataclass(frozen=True)
class Row:
    """One bound over all its pairs. `tightness` is the median of mean count over bound where that is not vacuous."""

    problems: str
    bound: str
    pairs: int
    violations: int
    share_informative: float
    tightness: float
    largest: float


@final
@dataclass(frozen=True)
class AuditReport:
    """Every pair that was compared; `rows` sums them up per bound.

    >>> report = run(problems=1, counterexamples=0, runs=20, seed=0)
    >>> report.row("Theorem 1").violations
    0
    """

    pairs: tuple[Pair, ...]
    problems: int
    counterexamples: int
    runs: int
    seed: int

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row per kind of problem and bound, in the order they were taken."""
        keys = dict.fromkeys((pair.problem.split()[0], pair.bound) for pair in self.pairs)
        return tuple(_row(kind, bound, self._pairs(kind, bound)) for kind, bound in keys)

    def row(self, bound: str, problems: str = "random") -> Row:
        """Return the row of one bound on random problems, or on those like the counterexample."""
        return _row(problems, bound, self._pairs(problems, bound))

    def violations(self) -> tuple[Pair, ...]:
        """Return the pairs whose mean count is above the bound."""
        return tuple(pair for pair in self.pairs if pair.violated)

    def to_csv(self, pairs: bool = False) -> str:
        """Return the rows as CSV text, or every pair."""
        return _csv(self.pairs, Pair) if pairs else _csv(self.rows, Row)

    def __str__(self) -> str:
        heads = "problems", "bound", "pairs", "violations", "not vacuous", "tightness", "largest"
        return "\n".join(
            [
                f"{counted(self.problems, 'random problem')} with {counted(self.runs, 'run')}, {self.counterexamples} "
                f"like the counterexample with {COUNTEREXAMPLE_RUNS}, seed {self.seed}",
                terminal.lines(terminal.table(heads, map(_cells, self.rows), left=2)),
                f"violations: mean counts above the bound by more than {number(MARGIN)} standard errors",
                "tightness, largest: median and maximum of mean count / bound, where the bound is not vacuous",
            ]
        )

    def _pairs(self, kind: str, bound: str) -> list[Pair]:
        found = [pair for pair in self.pairs if pair.bound == bound and pair.problem.split()[0] == kind]
        if not found:
            known = ", ".join(dict.fromkeys(pair.bound for pair in self.pairs))
            raise ValueError(f"the report has no {kind} pairs of {bound!r}; its bounds are {known}.")
        return found


def run(
    problems: int = 200, runs: int = 100, seed: int = 0, progress: bool | None = None, counterexamples: int = 20
) -> AuditReport:
    """Return the comparison of simulated mean counts with every bound, over random problems and counterexamples.

    Problem k is the same whatever the number of problems and runs. `progress` shows a bar.
    """
    problems, runs = checks.integer("problems", problems, least=0), checks.integer("runs", runs, least=2)
    seed = checks.integer("seed", seed, least=0)
    counterexamples = checks.integer("counterexamples", counterexamples, least=0)
    pairs: list[Pair] = []
    with bar(problems + counterexamples, progress, "auditing the bounds") as show:
        for done in range(problems):
            pairs += compare(random_problem(seed, done), runs)
            show(done + 1)
        for done in range(counterexamples):
            pairs += compare(counterexample_problem(seed, done), COUNTEREXAMPLE_RUNS)
            show(problems + done + 1)
    return AuditReport(tuple(pairs), problems, counterexamples, runs, seed)


def random_problem(seed: int, number: int) -> Problem:
    """Return a problem of 2 to 30 arms: good and bad priors, correlated and not, horizons of 100 to 3,000."""
    source = np.random.SeedSequence(seed, spawn_key=(0, number))
    rng = np.random.default_rng(source)
    arms, horizon = int(rng.integers(2, 31)), int(np.exp(rng.uniform(math.log(100), math.log(3_000))))
    noise = float(np.exp(rng.uniform(-2, 2)))
    S = noise * float(np.exp(rng.uniform(-1.5, 3))) * _correlations(rng, arms)
    # the truth: a draw from the prior's covariance, or unrelated to it
    scale, root = math.sqrt(noise) * float(np.exp(rng.uniform(-0.5, 2.5))), np.linalg.cholesky(S)
    means = root @ rng.standard_normal(arms) if rng.random() < 0.5 else rng.normal(0, scale, arms)
    # the prior's mean: right, nearly, off by as much as it admits, or by far more; or the same for every arm
    off = rng.choice([0.0, 0.1, 0.5, 1.0, 3.0, math.nan])
    wrong = root @ rng.standard_normal(arms) if rng.random() < 0.5 else rng.normal(0, math.sqrt(S[0, 0]), arms)
    mean = np.full(arms, means.mean()) if math.isnan(off) else means + off * wrong
    environment = GaussianBandit(means, noise)
    watched = tuple(np.flatnonzero(environment.gaps > 0).tolist())
    return Problem(f"random {number}", environment, horizon, _players(rng, mean, S, noise), watched, _seed(source))


def counterexample_problem(seed: int, number: int) -> Problem:
    """Return a problem like the counterexample to Theorem 2 as printed: sizes, correlation, gap and horizon vary."""
    source = np.random.SeedSequence(seed, spawn_key=(1, number))
    rng = np.random.default_rng(source)
    environment, prior = counterexample(
        int(rng.integers(18, 26)), float(rng.uniform(0.9985, 0.9995)), float(rng.uniform(0.85, 1.15))
    )
    players: dict[str, Player] = {
        "printed index": (CorrelatedUCL(a=COUNTEREXAMPLE_A), prior),
        "plain index": (CorrelatedUCL(a=COUNTEREXAMPLE_A, factor=False), prior),
    }
    horizon = int(rng.integers(12_000, 20_001))
    return Problem(f"counterexample {number}", environment, horizon, players, (1,), _seed(source))


def compare(problem: Problem, runs: int) -> Iterator[Pair]:
    """Simulate a problem and yield every pair of a suboptimal arm and a bound; counts are after initialisation."""
    policies: dict[str, tuple[Policy, Belief]] = {**problem.players}
    trace = simulate(policies, problem.environment, problem.horizon, runs, problem.seed, progress=False)
    for name, (policy, prior) in problem.players.items():
        counts = trace.counts.sel(policy=name).values.astype(float)
        if isinstance(policy, CorrelatedUCL):
            counts -= np.bincount(theory.initialisation(prior, policy.nu), minlength=prior.arms)
        mean, error = counts.mean(axis=0), counts.std(axis=0, ddof=1) / math.sqrt(runs)
        for bound, limits in _bounds(problem, name).items():
            for i in problem.watched:
                numbers = float(mean[i]), float(error[i]), float(limits[i])
                yield Pair(problem.name, bound, prior.arms, problem.horizon, i, *numbers)


def _bounds(problem: Problem, name: str) -> dict[str, Array]:
    """Return the bounds that hold, or are printed, for one player."""
    policy, prior = problem.players[name]
    if isinstance(prior, Independent) and isinstance(policy, UCL):
        return {
            "Theorem 1": theory.uncorrelated_bound(problem.environment, prior, policy, problem.horizon).total.values
        }
    versions: tuple[Any, ...] = ("printed", "corrected", "summed")[name != "printed index" :]
    return {
        f"Theorem 2, {name}, {version}": theory.correlated_bound(
            problem.environment, prior, policy, problem.horizon, version
        ).total.values
        for version in versions
    }


def _players(rng: np.random.Generator, mean: Array, S: Array, noise: float) -> dict[str, Player]:
    """Return the four policies with a admissible for each theorem: UCL alone, and three on the correlated prior."""
    K, room = LEAST_K * float(rng.choice([1.0, 1.0, 3.0])), float(np.exp(rng.uniform(-4, 1)))
    variance = math.inf if rng.random() < 0.15 else float(S[0, 0])
    alone = Independent(mean=mean, variance=variance, noise_variance=noise)
    joint = Correlated(mean=mean, covariance=S, noise_variance=noise)
    a, nu = 4 / 3 * (1 + room), float(rng.choice([1.0, 1.0, 0.3]))
    return {
        "UCL": (UCL(K=K, a=4 / 3 * (1 + noise / variance) * (1 + room)), alone),
        "printed index": (CorrelatedUCL(K=K, a=a, nu=nu), joint),
        "plain index": (CorrelatedUCL(K=K, a=a, nu=nu, factor=False), joint),
        "UCL on a correlated belief": (UCL(K=K, a=a), joint),
    }


def _correlations(rng: np.random.Generator, arms: int) -> Array:
    """Return correlations of one of four kinds: none, equal, by distance, or random."""
    kind = rng.integers(4)
    if kind == 0:
        return np.eye(arms)
    if kind == 1:
        rho = float(rng.choice([0.3, 0.9, 0.99]))
        return np.asarray(rho + (1 - rho) * np.eye(arms))
    if kind == 2:
        where = rng.uniform(0, 10, (arms, 2))
        return np.asarray(Exponential(float(np.exp(rng.uniform(-1, 3))))(where, where))
    root = rng.standard_normal((arms, arms + 3))
    S = root @ root.T
    return np.asarray(S / np.sqrt(np.outer(S.diagonal(), S.diagonal())))


def _seed(source: np.random.SeedSequence) -> int:
    return int(source.spawn(1)[0].generate_state(1)[0])


def _row(kind: str, bound: str, pairs: list[Pair]) -> Row:
    informative = [pair.mean / pair.limit for pair in pairs if not pair.vacuous]
    tightness = float(np.median(informative)) if informative else math.nan
    largest, share = max(informative, default=math.nan), len(informative) / len(pairs)
    return Row(kind, bound, len(pairs), sum(pair.violated for pair in pairs), share, tightness, largest)


def _cells(row: Row) -> tuple[str, ...]:
    numbers = f"{row.share_informative:.1%}", f"{row.tightness:.3f}", f"{row.largest:.2f}"
    return (row.problems, row.bound, f"{row.pairs:,}", f"{row.violations:,}", *numbers)


def _csv(records: tuple[Any, ...], kind: type) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(kind)])
    writer.writerows(astuple(record) for record in records)
    return text.getvalue()
