"""The bounds against simulation: the mean count of every suboptimal arm and what each theorem allows it.

A violation is a mean above the bound by more than `MARGIN` standard errors. Besides random problems the audit takes
some that are built like the counterexample to Theorem 2 as printed, on which that must fail, and some whose mean
rewards are drawn from the prior, on which the regret is compared with the Bayesian bound.
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
from corrbandits.belief import Belief, Independent
from corrbandits.paper.counterexample import counterexample as counterexample  # offered here too: cb.audit
from corrbandits.paper.drawn import LIMITS, compare_drawn, drawn_problem
from corrbandits.paper.problems import Problem, counterexample_problem, random_problem
from corrbandits.policies import UCL, CorrelatedUCL, Policy
from corrbandits.simulation.simulator import simulate

MARGIN = 4.0
COUNTEREXAMPLE_RUNS = 16
DRAWN_RUNS = 40
BAYESIAN = "Bayesian"


@final
@dataclass(frozen=True)
class Pair:
    """One suboptimal arm of one problem under one bound: the mean count over runs, its error, and the bound.

    Where mean rewards are drawn, there is no such arm, and for counts stand regrets in decisions: see `drawn`.
    """

    problem: str
    bound: str
    arms: int
    horizon: int
    arm: int | None
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

    >>> report = run(problems=1, counterexamples=0, drawn=0, runs=20, seed=0)
    >>> report.row("Theorem 1").violations
    0
    """

    pairs: tuple[Pair, ...]
    problems: int
    counterexamples: int
    drawn: int
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
                f"like the counterexample with {COUNTEREXAMPLE_RUNS}, {self.drawn} whose mean rewards are drawn from "
                f"the prior with {DRAWN_RUNS}, seed {self.seed}",
                terminal.lines(terminal.table(heads, map(_cells, self.rows), left=2)),
                f"violations: mean counts above the bound by more than {number(MARGIN)} standard errors",
                "tightness, largest: median and maximum of mean count / bound, where the bound is not vacuous",
                *(self._bayesian() if self.drawn else ()),
            ]
        )

    def _bayesian(self) -> list[str]:
        """Return what the Bayesian bound is compared with, and where it says nothing."""
        found = {rule: self._pairs("drawn", f"{BAYESIAN}, {rule}") for rule in LIMITS}
        vacuous = {rule: sum(pair.vacuous for pair in pairs) for rule, pairs in found.items()}
        where = ", ".join(f"{rule} in {many}" for rule, many in vacuous.items() if many)
        said = [
            f"{BAYESIAN}: regrets in place of counts, over mean rewards drawn from the prior, in units of what a "
            "decision loses if the arm of largest prior mean is always taken"
        ]
        return (
            [*said, f"{BAYESIAN}, vacuous: {where} of {self.drawn}, where that arm alone loses no more"]
            if where
            else said
        )

    def _pairs(self, kind: str, bound: str) -> list[Pair]:
        found = [pair for pair in self.pairs if pair.bound == bound and pair.problem.split()[0] == kind]
        if not found:
            known = ", ".join(dict.fromkeys(pair.bound for pair in self.pairs))
            raise ValueError(f"the report has no {kind} pairs of {bound!r}; its bounds are {known}.")
        return found


def run(
    problems: int = 200,
    runs: int = 100,
    seed: int = 0,
    progress: bool | None = None,
    counterexamples: int = 20,
    drawn: int = 10,
) -> AuditReport:
    """Return the comparison of simulated mean counts with every bound, over random problems and counterexamples.

    In `drawn` problems mean rewards are drawn from the prior, and regrets are compared with the Bayesian bound. Problem
    k is the same whatever the number of problems and runs. `progress` shows a bar.
    """
    problems, runs = checks.integer("problems", problems, least=0), checks.integer("runs", runs, least=2)
    seed = checks.integer("seed", seed, least=0)
    counterexamples = checks.integer("counterexamples", counterexamples, least=0)
    drawn = checks.integer("drawn", drawn, least=0)
    pairs: list[Pair] = []
    with bar(problems + counterexamples + drawn, progress, "auditing the bounds") as show:
        for done in range(problems):
            pairs += compare(random_problem(seed, done), runs)
            show(done + 1)
        for done in range(counterexamples):
            pairs += compare(counterexample_problem(seed, done), COUNTEREXAMPLE_RUNS)
            show(problems + done + 1)
        for done in range(drawn):
            pairs += _compared(seed, done)
            show(problems + counterexamples + done + 1)
    return AuditReport(tuple(pairs), problems, counterexamples, drawn, runs, seed)


def _compared(seed: int, number: int) -> Iterator[Pair]:
    """Yield the regret of each rule beside its Bayesian bound, mean rewards drawn from the prior."""
    problem = drawn_problem(seed, number)
    for lost in compare_drawn(problem, DRAWN_RUNS, seed):
        about = f"drawn {number}", f"{BAYESIAN}, {lost.rule}", problem.prior.arms, problem.horizon
        yield Pair(*about, None, lost.mean, lost.error, lost.limit)


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
