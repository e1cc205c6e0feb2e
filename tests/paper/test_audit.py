"""A small audit: no bound but the printed one is violated, and the report says what was compared."""

import csv
import dataclasses
import io
import math

import numpy as np
import pytest

from corrbandits import Correlated, theory
from corrbandits.paper import audit as module
from corrbandits.paper.audit import AuditReport, Pair, compare, run
from corrbandits.paper.drawn import LIMITS, Drawn, compare_drawn, drawn_problem
from corrbandits.paper.problems import counterexample_problem, random_problem
from corrbandits.policies import CorrelatedUCL

RANDOM = [
    "Theorem 1",
    "Theorem 2, printed index, printed",
    "Theorem 2, printed index, corrected",
    "Theorem 2, printed index, summed",
    "Theorem 2, plain index, corrected",
    "Theorem 2, plain index, summed",
    "Theorem 2, UCL on a correlated belief, corrected",
    "Theorem 2, UCL on a correlated belief, summed",
]


@pytest.fixture(scope="module")
def report():
    return run(problems=12, runs=40, seed=0, progress=False, counterexamples=3, drawn=2)


def pair(**changes):
    given = {"problem": "random 0", "bound": "b", "arms": 2, "horizon": 100, "arm": 1}
    return Pair(**(given | {"mean": 10.0, "error": 1.0, "limit": 20.0} | changes))


def test_every_bound_meets_every_suboptimal_arm(report):
    arms = sum(len(random_problem(0, k).watched) for k in range(12))
    assert [(row.problems, row.bound) for row in report.rows[:8]] == [("random", bound) for bound in RANDOM]
    assert {row.pairs for row in report.rows[:8]} == {arms}
    assert {row.pairs for row in report.rows[8:13]} == {3}
    assert [(row.bound, row.pairs) for row in report.rows[13:]] == [(f"Bayesian, {rule}", 2) for rule in LIMITS]


@pytest.mark.parametrize("bound", [bound for bound in RANDOM if not bound.endswith("printed")])
def test_no_bound_that_is_believed_is_violated(report, bound):
    row = report.row(bound)
    assert row.violations == 0
    assert 0 < row.share_informative <= 1
    assert 0 < row.tightness < row.largest < 1.5


def test_the_printed_bound_fails_on_every_counterexample_and_the_others_do_not(report):
    assert report.row("Theorem 2, printed index, printed", "counterexample").violations == 3
    others = [row for row in report.rows if row.problems == "counterexample" and not row.bound.endswith("printed")]
    assert [row.violations for row in others] == [0] * 4
    assert {found.arm for found in report.violations() if found.problem.startswith("counterexample")} == {1}


def test_a_violation_is_four_standard_errors_above():
    assert not pair(mean=23.9).violated
    assert pair(mean=24.1).violated
    assert pair(mean=20.1, error=0.0).violated
    assert not pair(limit=99.9).vacuous
    assert pair(limit=100.0).vacuous
    assert pair(limit=math.inf).vacuous


def test_a_row_sums_up_its_pairs():
    pairs = (pair(), pair(mean=5.0), pair(mean=30.0), pair(limit=math.inf), pair(bound="other"))
    row = AuditReport(pairs, 1, 0, 0, 10, 0).row("b")
    assert (row.pairs, row.violations, row.share_informative) == (4, 1, 0.75)
    assert (row.tightness, row.largest) == (0.5, 1.5)
    nothing = AuditReport((pair(limit=math.inf),), 1, 0, 0, 10, 0).row("b")
    assert nothing.share_informative == 0
    assert math.isnan(nothing.tightness)
    with pytest.raises(ValueError, match="no random pairs of 'c'; its bounds are b"):
        AuditReport((pair(),), 1, 0, 0, 10, 0).row("c")


def test_the_report_prints_and_writes_what_it_holds(report):
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    assert [row["bound"] for row in rows] == [row.bound for row in report.rows]
    assert [int(row["violations"]) for row in rows] == [row.violations for row in report.rows]
    details = list(csv.DictReader(io.StringIO(report.to_csv(pairs=True))))
    assert len(details) == len(report.pairs)
    assert float(details[5]["limit"]) == report.pairs[5].limit
    text = str(report)
    assert text.startswith(
        "12 random problems with 40 runs, 3 like the counterexample with 16, 2 whose mean rewards are drawn from the "
        "prior with 40, seed 0\n"
    )
    assert all(row.bound in text for row in report.rows)
    vacuous = sum(pair.vacuous for pair in report.pairs if pair.bound == "Bayesian, Greedy")
    assert f"Greedy in {vacuous} of 2, where that arm alone loses no more" in text


def test_regrets_are_in_decisions_of_the_best_guess():
    """With noise that hides all, Greedy takes the arm of largest prior mean throughout: it loses all decisions."""
    prior = Correlated(mean=[0.1, 0.0], covariance=np.eye(2), noise_variance=1e8)
    found = {lost.rule: lost for lost in compare_drawn(Drawn(prior, 10), 400, seed=1)}
    assert list(found) == list(LIMITS)
    assert found["Greedy"].mean == pytest.approx(10, abs=4 * found["Greedy"].error + 0.5)
    assert all(lost.mean <= lost.limit + 4 * lost.error for lost in found.values())


def test_no_bayesian_bound_is_violated_and_that_of_the_recommended_rule_says_something(report):
    rows = [row for row in report.rows if row.problems == "drawn"]
    assert [row.violations for row in rows] == [0] * len(LIMITS)
    assert report.row("Bayesian, Gittins", "drawn").share_informative > 0


def test_a_drawn_problem_has_a_proper_prior_and_is_the_same_again():
    first, again = drawn_problem(0, 1), drawn_problem(0, 1)
    assert np.array_equal(first.prior.covariance, again.prior.covariance)
    assert first.horizon == again.horizon
    assert np.isfinite(first.prior.variance).all()


def test_the_same_seed_gives_the_same_report_and_more_problems_do_not_change_the_first():
    few = run(problems=2, runs=5, seed=3, counterexamples=0, drawn=0, progress=False)
    assert few == run(problems=2, runs=5, seed=3, counterexamples=0, drawn=0, progress=False)
    more = run(problems=3, runs=5, seed=3, counterexamples=0, drawn=0, progress=False)
    assert more.pairs[: len(few.pairs)] == few.pairs
    assert few.pairs != run(problems=2, runs=5, seed=4, counterexamples=0, drawn=0, progress=False).pairs


def test_the_problems_cover_what_the_audit_promises():
    problems = [random_problem(0, k) for k in range(200)]
    arms = [problem.environment.arms for problem in problems]
    assert min(arms) == 2
    assert max(arms) == 30
    assert max(problem.horizon for problem in problems) <= 3_000
    distance = [theory.prior_distance(problem.environment, problem.players["printed index"][1]) for problem in problems]
    assert min(distance) == 0
    assert np.mean(np.array(distance) > 10) > 0.1
    spread = [problem.players["printed index"][1].spread().max() for problem in problems]
    assert np.mean(np.array(spread) == 1) > 0.1
    assert max(spread) > 4
    assert any(np.isinf(problem.players["UCL"][1].variance).any() for problem in problems)


def test_counts_are_those_after_initialisation():
    found = 0
    for k in range(20):
        problem = random_problem(0, k)
        policy, prior = problem.players["plain index"]
        taken = theory.initialisation(prior, policy.nu)
        short = dataclasses.replace(problem, horizon=max(len(taken), 1), players={"plain index": (policy, prior)})
        if taken:
            found += 1
            assert {pair.mean for pair in compare(short, 2)} == {0.0}
    assert found > 3


def test_a_false_bound_is_noticed(monkeypatch):
    right = module._bounds

    def lowered(problem, name):
        return {bound: 0.05 * limit for bound, limit in right(problem, name).items()}

    monkeypatch.setattr(module, "_bounds", lowered)
    assert run(problems=4, runs=20, counterexamples=0, drawn=0, progress=False).row("Theorem 1").violations > 0


def test_counterexamples_vary_and_have_no_initialisation():
    problems = [counterexample_problem(0, k) for k in range(20)]
    assert len({(problem.environment.arms, problem.horizon) for problem in problems}) == 20
    for problem in problems:
        policy, prior = problem.players["printed index"]
        assert isinstance(policy, CorrelatedUCL)
        assert theory.initialisation(prior, policy.nu) == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"problems": -1}, ValueError),
        ({"runs": 1}, ValueError),
        ({"seed": 0.5}, TypeError),
        ({"runs": True}, TypeError),
    ],
)
def test_bad_arguments_are_refused(arguments, error):
    with pytest.raises(error, match="must be"):
        run(**arguments)
