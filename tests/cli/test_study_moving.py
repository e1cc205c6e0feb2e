"""Studies whose moves cost something, from the shell."""

import re

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.study.setup import read_roads
from tests.support.shell import TOLD_NOTHING, default_database


def policy(tmp_path, name="meadow"):
    with cb.Study.open(default_database(tmp_path), name) as study:
        return study.settings.policy


def test_moves_are_weighed_over_the_rounds_under_any_rule(ok, tmp_path):
    ok(*TOLD_NOTHING, "--policy", "UCL", "--move-cost", "1")
    assert policy(tmp_path) == cb.Travelling(cb.UCL(), cb.Moves(1.0), horizon=40)
    rule = ("--policy", "Gittins", "--set", "horizon=9")
    ok("create", "other", "--arms", "sites.csv", *rule, "--move-cost-per", "2")
    assert policy(tmp_path, "other") == cb.Travelling(cb.Gittins(9), cb.Moves(per_distance=2.0), horizon=9)


def test_a_copy_minds_the_way_until_it_is_said_otherwise(ok, tmp_path):
    ok(*TOLD_NOTHING, "--move-cost", "1", "--move-cost-per", "0.5")
    before, moves = policy(tmp_path), cb.Moves(1.0, 0.5)
    said = " ".join(ok("copy", "meadow", "a", "--policy", "UCL").split())
    assert "What it costs to go to an arm is weighed against what it may bring: 1 for each move, and 0.5" in said
    assert policy(tmp_path, "a") == cb.Travelling(cb.UCL(), moves, horizon=40)
    ok("copy", "meadow", "b", "--policy", "UCL", "--rounds", "80")
    assert policy(tmp_path, "b") == cb.Travelling(cb.UCL(), moves, horizon=80)
    ok("copy", "meadow", "c", "--move-cost", "3")
    assert policy(tmp_path, "c") == cb.Travelling(before.rule, cb.Moves(3.0, 0.5), horizon=40)
    ok("copy", "meadow", "d", "--move-cost", "0", "--move-cost-per", "0", "--policy", "Thompson")
    assert policy(tmp_path, "d") == cb.Thompson()
    ok("copy", "d", "e", "--policy", "Gittins", "--rounds", "60", "--move-cost", "2")
    assert policy(tmp_path, "e") == cb.Travelling(cb.Gittins(60), cb.Moves(2.0), horizon=60)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("Thompson", "weighed against the index of a rule, but Thompson has none"),
        ("Blocked(Gittins)", "but Blocked minds more than that"),
        ("Travelling(UCL)", "Name the rule alone, and say the cost besides: --policy UCL --move-cost 1."),
    ],
)
def test_a_rule_that_cannot_weigh_the_way_is_refused(ok, refused, rule, words):
    assert words in refused(*TOLD_NOTHING, "--move-cost", "1", "--policy", rule)
    ok("create", "other", *TOLD_NOTHING[2:], "--move-cost", "1")
    assert words in refused("copy", "other", "third", "--policy", rule)


def test_where_moves_cost_nothing_from_is_said_to_change_nothing(ok):
    ok(*TOLD_NOTHING)
    assert "--from changed nothing: see copy --move-cost" in " ".join(ok("ask", "meadow", "--from", "p11").split())
    ok("copy", "meadow", "dear", "--move-cost", "1")
    assert "changed nothing" not in " ".join(ok("ask", "dear", "--from", "p11").split())


def test_several_at_once_are_said_in_an_order_to_walk(ok, tmp_path):
    """What is chosen first need not be where to go first; the order that is said costs less."""
    ok(*TOLD_NOTHING, "--move-cost-per", "0.5")
    said = ok("ask", "meadow", "-n", "6", "--from", "p00")
    words = re.search(r"In an order to walk: (.+?)\. These ways cost ([\d.]+)\.", " ".join(said.split()))
    with cb.Study.open(default_database(tmp_path), "meadow") as study:
        chosen, moves = [trial.arm for trial in study.open_trials], study.settings.policy.moves
        order = [study.arms.index(name) for name in words[1].split(", ")]
        where = study.arms.coordinates
        start = study.arms.index("p00")
    paid, before = (moves.along(np.array([start, *way]), where).sum() for way in (order, chosen))
    assert sorted(order) == sorted(chosen)
    assert float(words[2]) == pytest.approx(paid, rel=1e-5)
    assert paid < before


OTHERS = "".join(
    f"p22,p{x}{y},9\n" for x in range(4) for y in range(3) if f"p{x}{y}" not in ("p11", "p21", "p12", "p22")
)
ROADS = f"from,to,length\np11,p21,2\np21,p12,1.5\np12,p22,4\n{OTHERS}"


@pytest.fixture
def roads(tmp_path):
    """Write a file of roads between the arms of the test's study."""

    def write(text):
        path = tmp_path / "roads.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_distances_are_along_roads_if_there_are(ok, tmp_path, roads):
    said = ok(*TOLD_NOTHING, "--move-cost-per", "0.5", "--roads", roads(ROADS))
    assert "0.5 for each unit of distance along the roads" in " ".join(said.split())
    with cb.Study.open(default_database(tmp_path), "meadow") as study:
        place = study.arms.index
        assert study.settings.policy.moves.cost(place("p11"), place("p22")) == 0.5 * 7.5
    ok("copy", "meadow", "dearer", "--move-cost-per", "2")
    with cb.Study.open(default_database(tmp_path), "dearer") as study:
        assert study.settings.policy.moves.cost(place("p22"), place("p11")) == 2 * 7.5


def test_roads_to_a_name_in_another_normal_form_lead_to_the_arm(tmp_path):
    (tmp_path / "roads.csv").write_text("from,to\nMu\u0308hle,Furt\n", encoding="utf-8")
    assert read_roads(tmp_path / "roads.csv", ["Furt", "M\u00fchle"]) == ((0, 1, 1.0),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ROADS.replace("p21,p12", "p21,p99"), "line 3: a road must lead from arm to arm of the study, got 'p99'."),
        (ROADS.replace("p12,p22,4\n", ""), "no road leads from 'p00' to 'p11'. Add the roads between."),
        (ROADS.replace("1.5", "-1.5"), "line 3: a road must have a length above 0, up to 1e+300, got -1.5."),
        (ROADS.replace("1.5", "0"), "line 3: a road must have a length above 0, up to 1e+300, got 0."),
        (ROADS.replace("p21,p12", "p21,p21"), "line 3: a road must lead to another arm, got 'p21' to itself."),
        (ROADS.replace("length", "km"), "expected a column 'length', but the columns are from, to, km"),
        (ROADS.replace("from", "begin"), "expected a column 'from'"),
        (ROADS + "p21,p11,3\n", "between 'p21' and 'p11' it is 3 here and 2 in line 2. It leads both ways"),
    ],
)
def test_roads_that_are_none_are_refused(refused, roads, text, words):
    assert words in " ".join(refused(*TOLD_NOTHING, "--move-cost-per", "0.5", "--roads", roads(text)).split())


def test_roads_need_a_cost_of_length(refused, roads):
    words = refused(*TOLD_NOTHING, "--move-cost", "0.5", "--roads", roads(ROADS))
    assert "Add --move-cost-per, or leave it out" in " ".join(words.split())
