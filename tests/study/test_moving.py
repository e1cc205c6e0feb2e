"""A study whose moves cost something: where those who measure are, and what they are asked for."""

import json
import math
from itertools import pairwise, permutations

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.policies import RULES
from corrbandits.study import setup
from corrbandits.study.codec import policy_data, policy_from
from tests.support.rules import rule_called
from tests.support.studies import events

SITES = {"name": ["brook", "hill", "wood", "ford", "mill"], "x": [0.0, 1.0, 2.0, 50.0, 51.0]}
DEAR = cb.Moves(per_distance=1.0)


@pytest.fixture
def study(tmp_path):
    prior = cb.Correlated(kernel=25 * cb.Exponential(5.0), coordinates=SITES["x"], noise_variance=1.0)
    with cb.Study.create(tmp_path / "s.db", "s", arms=SITES, prior=prior, policy=cb.UCL(), moves=DEAR, seed=1) as found:
        yield found


def test_the_rule_weighs_the_way_from_where_they_are(study):
    assert study.settings.policy == cb.Travelling(cb.UCL(), DEAR)
    assert study.ask(start="wood").name in ("brook", "hill", "wood")
    assert study.ask(start="mill").name in ("ford", "mill")
    assert study.ask().name in ("ford", "mill")  # there they are
    assert [event.get("from") for event in events(study)[1:]] == [2, 4, None]


def test_several_at_once_are_in_an_order_to_walk(study):
    names = [trial.name for trial in study.ask(5, start="mill")]
    assert set(names[:2]) == {"ford", "mill"}
    assert sorted(names) == sorted(SITES["name"])
    assert sum(abs(np.diff([SITES["x"][SITES["name"].index(name)] for name in names]))) <= 53


def test_every_choice_is_explained_from_where_it_was_made(study):
    rng = np.random.default_rng(2)
    for k in range(8):
        start = (None, "mill", 0)[k % 3]
        for trial in study.ask(2, start=start) if k % 2 else [study.ask(start=start)]:
            study.tell(trial, rng.normal(3, 1))
    history = study.history()
    assert [study.explain(trial).replayed for trial in history["trial"]] == history["arm"].tolist()
    assert study.explain(1).chosen.limit is not None
    assert study.explain(1).way is None  # nobody was anywhere
    assert study.explain(2).way == abs(SITES["x"][history["arm"][1]] - SITES["x"][4])
    assert f"; the way there costs {study.explain(2).way:g}, which is weighed against it" in str(study.explain(2))


def test_the_same_key_is_the_same_call_from_the_same_place(study):
    first = study.ask(key="today", start="mill")
    assert study.ask(key="today", start="mill") == first
    with pytest.raises(ValueError, match="a key must be one call's"):
        study.ask(key="today", start="brook")
    with pytest.raises(ValueError, match="'moon'"):
        study.ask(start="moon")


def test_arms_that_are_added_can_be_reached(study):
    study.add_arms({"name": ["mouth"], "x": [52.0]})
    assert study.ask(allowed=["mouth"], start="mill").name == "mouth"
    assert study.ask(start="mouth").name in ("ford", "mill", "mouth")


def test_who_minimises_pays_for_moves_too(tmp_path):
    with cb.Study.create(
        tmp_path / "s.db", "s", arms=SITES, rounds=30, goal="min", moves=cb.Moves(per_move=1e6)
    ) as study:
        for reward in (5.0, 4.0, 7.0, 3.0, 6.0):
            study.tell(study.ask(), reward)
        last = study.trials[-1].arm
        assert study.ask().arm == last


def test_on_latitude_and_longitude_a_distance_is_in_kilometres(tmp_path):
    towns = {"name": ["Berlin", "Potsdam"], "latitude": [52.5, 52.4], "longitude": [13.4, 13.1]}
    with cb.Study.create(tmp_path / "s.db", "s", arms=towns, rounds=9, moves=cb.Moves(per_distance=0.1)) as study:
        assert study.settings.policy.moves.distance == "great_circle"
        assert study.settings.policy.horizon == 9


def test_a_study_is_the_same_when_it_is_opened_again(study, tmp_path):
    study.ask(start="mill")
    study.export(tmp_path / "s.jsonl")
    with cb.Study.import_(tmp_path / "other.db", tmp_path / "s.jsonl") as again:
        assert again.settings.policy == study.settings.policy
        assert again.ask() == study.ask()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"moves": 3.0}, r"moves must say what they cost, such as Moves\(per_move=2.0\), got 3"),
        ({"moves": DEAR, "arms": ["a", "b"]}, "per_distance must go with places, got 1 and arms that lie nowhere"),
        ({"moves": DEAR, "policy": cb.Thompson()}, "weighed against the index of a rule, but Thompson has none"),
        ({"moves": DEAR, "policy": cb.Blocked(cb.UCL())}, "the index of a rule, but Blocked minds more than that"),
        ({"moves": DEAR, "policy": cb.Softmax(cb.UCL())}, "the index of a rule, but Softmax minds more than that"),
        ({"moves": DEAR, "policy": cb.Gittins(40), "rounds": 60}, "rounds must be left out with a policy"),
    ],
)
def test_what_cannot_be_weighed_is_refused(tmp_path, given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        cb.Study.create(tmp_path / "s.db", "s", **({"arms": SITES} | given))


# rules around rules, as data and by name


@pytest.mark.parametrize("name", RULES)
def test_every_rule_comes_back_from_its_data(name):
    policy = rule_called(name)
    assert policy_from(json.loads(json.dumps(policy_data(policy)))) == policy


def test_rules_within_rules_and_infinities_come_back():
    policy = cb.Blocked(cb.Safe(cb.Satisficing(cb.Gittins(40), M=float("inf")), floor=float("-inf")), length=3)
    data = policy_data(policy)
    assert data["of"]["of"]["of"] == {"rule": "Gittins", "horizon": 40}
    assert (data["of"]["floor"], data["of"]["of"]["M"]) == ("-inf", "inf")
    assert policy_from(json.loads(json.dumps(data))) == policy
    placed = cb.Travelling(cb.UCL(), cb.Moves(1.0, 2.0, graph=[(0, 1), (1, 2, 2.5)]), horizon=9)
    assert policy_from(json.loads(json.dumps(policy_data(placed)))) == placed
    with pytest.raises(ValueError, match="a policy must say which of UCL"):
        policy_from({"rule": "Blocked", "of": 5})


def test_rules_are_named_around_rules():
    named = setup.policy_called("Blocked(Softmax(Gittins))", {"length": 4.0, "temperature": 0.5}, rounds=40)
    assert named == cb.Blocked(cb.Softmax(cb.Gittins(40), temperature=0.5), length=4)
    assert setup.with_rounds(named, 80) == cb.Blocked(cb.Softmax(cb.Gittins(80), temperature=0.5), length=4)
    for name, words in (
        ("Blocked", r"Blocked goes around another rule, got none. Name it in brackets: `policy` 'Blocked\(Gittins\)'"),
        ("UCL(Gittins)", r"a rule around another such as 'Blocked\(UCL\)', got 'UCL\(Gittins\)'"),
        ("Blocked(UCL", r"got 'Blocked\(UCL'"),
        ("Blocked(Nobody)", "must be one of UCL"),
        ("OnGraph(UCL)", "OnGraph needs a graph, which only Python and experiment files can give"),
        ("Satisficing(UCL)", "Satisficing needs `set` M=..., got none"),
    ):
        with pytest.raises(ValueError, match=words):
            setup.policy_called(name, {})
    with pytest.raises(ValueError, match=r"`set` must name a parameter of UCL \(K, a\), got 'width'"):
        setup.policy_called("Blocked(UCL)", {"width": 3.0})
    with pytest.raises(ValueError, match="`rounds` is for a rule with a horizon"):
        setup.with_rounds(cb.Blocked(cb.UCL()), 9)


# a copy of a study whose moves cost


def test_a_copy_minds_the_same_moves_under_another_rule(study):
    study.ask(start="mill")
    assert study.copy("greedy", policy=cb.Greedy()).settings.policy == cb.Travelling(cb.Greedy(), DEAR)
    cheap = cb.Moves(per_move=2.0)
    assert study.copy("cheap", moves=cheap).settings.policy == cb.Travelling(cb.UCL(), cheap)
    assert study.copy("both", policy=cb.Gittins(9), moves=cheap).settings.policy == cb.Travelling(
        cb.Gittins(9), cheap, horizon=9
    )
    own = cb.Travelling(cb.Greedy(), cheap, horizon=5)
    assert study.copy("own", policy=own).settings.policy == own
    free = study.copy("free", policy=cb.Thompson(), moves=cb.Moves())
    assert free.settings.policy == cb.Thompson()
    assert free.copy("dear", policy=cb.UCL(), moves=DEAR).settings.policy == cb.Travelling(cb.UCL(), DEAR)
    with pytest.raises(ValueError, match=r"Thompson has none.*in a copy, say that they cost 0"):
        study.copy("lost", policy=cb.Thompson())


def test_a_rule_without_a_horizon_has_its_moves_weighed_over_the_rounds(tmp_path):
    given = {"arms": SITES, "policy": cb.UCL(), "moves": DEAR}
    with cb.Study.create(tmp_path / "s.db", "s", rounds=60, **given) as study:
        assert study.settings.policy == cb.Travelling(cb.UCL(), DEAR, horizon=60)
        assert study.copy("t", policy=cb.Greedy()).settings.policy.horizon == 60
        assert study.copy("g", policy=cb.Gittins(40)).settings.policy.horizon == 40


# the opening of a belief told nothing


@pytest.mark.parametrize("seed", range(4))
def test_the_first_trials_begin_where_they_are_and_are_in_an_order_to_walk(tmp_path, seed):
    places = np.random.default_rng(seed).uniform(0, 1000, (15, 2))
    sites = {"name": [f"s{k}" for k in range(15)], "x": places[:, 0], "y": places[:, 1]}
    with cb.Study.create(tmp_path / "s.db", "s", arms=sites, rounds=60, moves=cb.Moves(per_distance=0.01)) as study:
        arms = [trial.arm for trial in study.ask(4, start="s10")]
        assert arms[0] == 10
        for k in range(1, 4):
            nearest = np.array([min(math.dist(place, places[arm]) for arm in arms[:k]) for place in places])
            enough = [arm for arm in range(15) if nearest[arm] >= nearest.max() / 2]
            assert arms[k] in enough
            assert arms[k] == min(enough, key=lambda arm: math.dist(places[arms[k - 1]], places[arm]))
        found = [study.explain(trial) for trial in range(1, 5)]
        assert [one.replayed for one in found] == arms
        assert "in the opening: the cheapest to reach, for 0" in str(found[0])
        assert "far from what was tried, and of such arms the cheapest to reach, for " in str(found[1])

        def way(order):
            return sum(math.dist(places[a], places[b]) for a, b in pairwise((10, *order)))

        assert way(arms) <= 1.25 * min(map(way, permutations(arms)))


def test_where_only_the_number_of_moves_costs_the_opening_is_the_farthest_first(tmp_path):
    with cb.Study.create(tmp_path / "s.db", "s", arms=SITES, rounds=60, moves=cb.Moves(per_move=1.0)) as study:
        names = [trial.name for trial in study.ask(3, start="mill")]
        assert names == ["mill", "brook", "wood"]  # where they are, then as far as can be


def test_roads_on_the_globe_are_as_long_as_they_are_said_to_be(tmp_path):
    """Neither roads nor places of their own are taken for degrees because the arms have latitudes."""
    sites = {"name": ["a", "b"], "latitude": [54.0, 55.0], "longitude": [10.0, 10.0]}
    for name, moves in {
        "roads": cb.Moves(per_distance=2.0, graph=[(0, 1, 7.0)]),
        "metres": cb.Moves(per_distance=2.0, coordinates=[0.0, 7.0]),
    }.items():
        with cb.Study.create(tmp_path / "s.db", name, arms=sites, moves=moves, rounds=9) as study:
            assert study.settings.policy.moves.cost(0, 1) == 14.0


@pytest.mark.parametrize(
    "given",
    [
        {"rounds": 9, "moves": cb.Moves(per_distance=1.0, graph=[(0, 1), (1, 2), (2, 3), (3, 4)])},
        {"rounds": 9, "moves": cb.Moves(per_distance=1.0, coordinates=SITES["x"])},
        {
            "policy": cb.Blocked(cb.OnGraph(cb.UCL(), [(0, 1), (1, 2), (2, 3), (3, 4)])),
            "prior": cb.Correlated(kernel=cb.Exponential(5.0), coordinates=SITES["x"], noise_variance=1.0),
        },
    ],
    ids=["roads", "places", "graph"],
)
def test_arms_that_roads_do_not_lead_to_are_refused_and_the_study_goes_on(tmp_path, given):
    with cb.Study.create(tmp_path / "s.db", "s", arms=SITES, **given) as study:
        with pytest.raises(ValueError, match="roads or places of its own cannot take more arms"):
            study.add_arms({"name": ["lake"], "x": [7.0]})
        assert study.arms.count == 5
        study.tell(study.ask(), 1.0)
        assert study.ask().number == 2
