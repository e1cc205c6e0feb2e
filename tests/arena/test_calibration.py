"""Statements beside the truth: what is written down, what it amounts to, and the command that makes the report."""

import json

import numpy as np
import pytest
from benchmarks import calibration as command

from corrbandits import Gittins
from corrbandits.arena.calibration import Statement, statements
from corrbandits.arena.problems import problem
from corrbandits.arena.reliability import demands, summary
from corrbandits.simulation.engines import Runs, engine_for


@pytest.fixture(scope="module")
def played():
    """Return a problem, its statements, and the belief after all rewards, found again."""
    given = problem("chain", seed=1_000, number=2)
    runs = Runs(Gittins(30), given.told_nothing(), given.environment(), 30, given.stream, 0, 1)
    into = runs.room()
    engine_for(runs).play(runs, into, lambda _: None)
    belief = given.told_nothing().observe(into["arms"][0], into["rewards"][0])
    return given, list(statements(given, 2, Gittins(30), times=(10, 30), looks=(10, 30))), belief


def test_statements_are_what_the_belief_says_and_the_problem_is(played):
    given, said, belief = played
    last = next(one for one in said if one.when == "30")
    leader = belief.mean.argmax()
    drawn = belief.draws(np.random.default_rng(5), 20_000)  # others than those that were used
    loss = (drawn.max(axis=0) - drawn[leader]) / given.scale
    assert last.cost == pytest.approx(loss.mean(), abs=5 * loss.std() / np.sqrt(1_000))
    assert last.probability == pytest.approx((loss <= 0).mean(), abs=0.08)
    assert last.true_cost == pytest.approx((given.means.max() - given.means[leader]) / given.scale)
    assert last.best == (given.means.argmax() == leader)
    below = np.array([1 - belief.chances(mean)[arm] for arm, mean in enumerate(given.means)])
    assert last.covered == pytest.approx(np.mean((below > 0.05) & (below < 0.95)))


def test_the_log_score_is_that_of_the_density(played):
    """The density by differences of the chances to be above a level."""
    given, said, belief = played
    last = next(one for one in said if one.when == "30")
    h = 1e-5 * given.scale
    logs = [
        np.log((belief.chances(mean - h)[arm] - belief.chances(mean + h)[arm]) / (2 * h) * given.scale)
        for arm, mean in enumerate(given.means)
    ]
    assert last.score == pytest.approx(np.mean(logs), abs=1e-5)


def test_enough_is_written_down_when_it_is_first_said(played):
    _, said, _ = played
    enough = [one for one in said if one.when == "enough"]
    cheap = [one for one in said if one.when != "enough" and one.cost < 0.25]
    assert len(enough) <= 1
    assert bool(enough) >= bool(cheap)
    assert all(one.cost <= 0.3 for one in enough)


def honest(rng, number, *, times=1.0, bias=0.0):
    """Return statements of two families, a large one and a small one, whose truth is drawn as they say."""
    made = []
    for k in range(number):
        family = "chain" if k % 10 else "trend"
        p, cost, width = rng.random(), rng.exponential(), 0.9
        true = cost * rng.exponential()
        made.append(
            Statement(
                family, k, "10", 10, min(p + bias, 1), rng.random() < p, times * cost, true, width, k % 10 < 9, 0, 0
            )
        )
    return made


def test_honest_statements_meet_the_demands_and_others_do_not():
    rng = np.random.default_rng(0)
    problems = {"chain": 18_000, "trend": 2_000}
    good = summary(honest(rng, 20_000), problems)
    assert all(demands(good).values())
    assert len(good["bins"]) == 10
    assert sum(one["n"] for one in good["bins"]) == 20_000
    assert list(demands(summary(honest(rng, 20_000, times=1.3), problems)).values()) == [True, False, True, True]
    assert list(demands(summary(honest(rng, 20_000, bias=0.2), problems)).values()) == [False, True, True, True]


def test_families_have_equal_weights():
    one = Statement("chain", 0, "10", 10, 0.5, True, 1.0, 1.0, 0.9, True, 0.0, 0.0)
    found = summary([one] * 9 + [one._replace(family="trend", cost=3.0, covered=0.7)], {"chain": 9, "trend": 1})
    assert found["cost"] == pytest.approx(2.0)
    assert found["covered"] == pytest.approx(0.8)


def test_what_is_said_by_bayes_rule_of_either_of_two_families_is_honest():
    """Enough is said of 9 in 10 problems that cost 0.1, and of 1 in 10 that cost 1: by Bayes' rule, 0.19."""
    one = Statement("chain", 0, "enough", 10, 0.5, True, 0.19, 0.1, 0.9, True, 0.0, 0.0)
    said = [one] * 90 + [one._replace(family="trend", true_cost=1.0)] * 10
    assert summary(said, {"chain": 100, "trend": 100})["cost_ratio"] == pytest.approx(1.0)


@pytest.fixture
def cheap(monkeypatch):
    """Have statements made up; count the problems."""
    asked = []

    def said_of(work):
        family, number, *_ = work
        asked.append((family, number))
        return [
            Statement(family, number, when, 10, 0.25, False, 0.5, 0.4, 0.9, True, -1.0, -0.5) for when in command.WHENS
        ]

    monkeypatch.setattr(command, "said_of", said_of)
    return asked


def test_the_command_goes_on_where_it_was_stopped(cheap, tmp_path, capsys):
    options = ["--results", str(tmp_path / "said"), "--families", "chain", "trend", "--out", str(tmp_path / "out")]
    assert command.main([*options, "--seed", "7", "--problems", "1"]) == 0
    file = tmp_path / "said" / command.FILE
    file.write_text(file.read_text() + "chain,1,10,1")  # whoever wrote this was killed
    assert command.main([*options, "--problems", "2"]) == 0
    assert cheap == [("chain", 0), ("trend", 0), ("chain", 1), ("trend", 1)]
    data = json.loads((tmp_path / "out" / "calibration.json").read_text())
    assert (data["seed"], data["together"]["10"]["statements"]) == (7, 4)
    assert (tmp_path / "out" / "calibration.png").stat().st_size > 10_000
    assert "NOT MET: the stated cost of stopping" in capsys.readouterr().out


def test_real_fields_are_reported_apart(cheap, tmp_path, capsys):
    (tmp_path / "fields").mkdir()
    (tmp_path / "fields" / "meadow.csv").write_text("x,y,yield\n0,0,3\n0,1,4\n1,0,5\n")
    options = ["--results", str(tmp_path / "said"), "--families", "chain", "heavy tails", "--out", str(tmp_path)]
    assert command.main([*options, "--problems", "9", "--fields", str(tmp_path / "fields")]) == 0
    assert [number for family, number in cheap if family == "field meadow"] == [0, 1]  # an eighth
    data = json.loads((tmp_path / "calibration.json").read_text())
    assert data["together"]["10"]["statements"] == 9
    assert list(data["families"]) == ["chain", "heavy tails", "field meadow"]
    assert capsys.readouterr().out.count("(apart)") == 2


def test_tuning_seeds_and_strange_files_are_refused(cheap, tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(["--results", str(tmp_path), "--seed", "1003"])
    assert "must not be from 1000 to 1999" in capsys.readouterr().err
    (tmp_path / command.FILE).write_text("family\nchain\n")
    with pytest.raises(SystemExit):
        command.main(["--results", str(tmp_path), "--seed", "7"])
    assert "must have the columns family, number" in capsys.readouterr().err
    assert cheap == []


def test_families_of_many_arms_have_fewer_problems(cheap, tmp_path):
    options = ["--results", str(tmp_path / "said"), "--families", "chain", "many arms", "--out", str(tmp_path / "out")]
    assert command.main([*options, "--seed", "7", "--problems", "40"]) == 0
    assert [sum(family == name for family, _ in cheap) for name in ("chain", "many arms")] == [40, 3]
