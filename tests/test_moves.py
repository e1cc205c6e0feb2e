"""What moves cost, against arithmetic by hand."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Moves

SIX = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [0.0, 1.0], [5.0, 12.0], [-3.0, 4.0]])


@pytest.mark.parametrize("way", ["euclidean", "cityblock"])
def test_a_cost_is_so_much_per_move_and_so_much_per_distance(way):
    moves = Moves(per_move=2.0, per_distance=0.5, coordinates=SIX, distance=way)
    for i, (x, y) in enumerate(SIX.tolist()):
        for j, (u, v) in enumerate(SIX.tolist()):
            far = math.hypot(x - u, y - v) if way == "euclidean" else abs(x - u) + abs(y - v)
            expected = 0.0 if i == j else 2.0 + 0.5 * far
            assert moves.cost(i, j) == pytest.approx(expected, rel=1e-14)
            assert moves.row(i, arms=6)[j] == moves.cost(i, j)


def test_on_the_globe_distances_are_kilometres_along_it():
    places = [[52.5, 13.4], [48.1, 11.6]]  # Berlin, Munich
    (a, b), (c, d) = np.radians(places)
    haversine = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    expected = 2 * 6371.0088 * math.asin(math.sqrt(haversine))
    moves = Moves(per_distance=1.0, coordinates=places, distance="great_circle")
    assert moves.cost(0, 1) == pytest.approx(expected, rel=1e-12)
    assert 500 < moves.cost(0, 1) < 510


def test_on_a_graph_the_distance_is_that_of_the_shortest_way():
    moves = Moves(per_move=1.0, per_distance=2.0, graph=[(0, 1), (1, 2), (0, 3, 5.0), (2, 3)])
    assert [moves.cost(0, arm) for arm in range(4)] == [0.0, 3.0, 5.0, 7.0]


def test_steps_along_a_way_cost_what_each_of_them_does():
    moves, way = Moves(per_move=0.3, per_distance=0.7, coordinates=SIX), np.random.default_rng(0).integers(6, size=200)
    expected = [moves.cost(i, j) for i, j in itertools.pairwise(way)]
    np.testing.assert_array_equal(moves.along(way), expected)


def test_without_places_every_move_costs_the_same_and_any_number_of_arms_fits():
    assert Moves(per_move=3.0).row(1, arms=4).tolist() == [3.0, 0.0, 3.0, 3.0]
    assert Moves(per_move=3.0).row(0, arms=1).tolist() == [0.0]
    assert Moves().free
    assert not Moves(per_move=1e-300).free


def test_who_uses_it_may_say_where_arms_lie():
    price, placed = Moves(per_distance=0.5), Moves(per_distance=0.5, coordinates=SIX)
    np.testing.assert_array_equal(price.row(2, 6, SIX), placed.row(2, 6))
    np.testing.assert_array_equal(placed.row(2, 6, SIX[::-1]), placed.row(2, 6))  # its own go before
    with pytest.raises(ValueError, match=r"per_distance must go with places, got 0\.5 and arms that lie nowhere"):
        price.row(2, 6)


def test_it_is_a_value():
    one, same = (Moves(per_distance=0.5, coordinates=SIX) for _ in range(2))
    one.cost(0, 1)  # what it has computed does not matter
    assert one == same
    assert hash(one) == hash(same)
    assert one != Moves(per_distance=0.5, coordinates=SIX[::-1])
    for again in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert again == one
    assert repr(one) == "Moves(per_distance=0.5, 6 places)"
    assert repr(Moves(1.0, graph=[(0, 1)])) == "Moves(per_move=1, graph of 2 arms)"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"per_move": -1.0}, "per_move must be at least 0, got -1"),
        ({"per_move": np.inf}, "per_move must be at least 0 and finite, got inf"),
        ({"graph": [(0, 1, 1e308), (1, 2, 1e308)]}, "the length of an edge must be above 0 and at most 1e\\+300"),
        ({"distance": "nonsense"}, "distance must be euclidean"),
        ({"per_distance": "far"}, "per_distance must be numbers, got 'far'"),
        ({"coordinates": [0.0], "graph": [(0, 1)]}, "at coordinates or on a graph, got both"),
        ({"coordinates": [0.0, np.nan]}, "coordinates must be finite"),
        ({"coordinates": [0.0], "distance": "crow"}, "distance must be euclidean, cityblock, great_circle or chordal"),
        ({"coordinates": [[100.0, 0.0]], "distance": "great_circle"}, "latitude"),
    ],
)
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Moves(**given)


def test_other_arms_than_there_are_places_for_are_refused():
    moves = Moves(per_distance=1.0, coordinates=SIX)
    with pytest.raises(ValueError, match="between the 7 arms there are, but they are between 6"):
        moves.row(0, arms=7)
    with pytest.raises(ValueError, match="an arm must be an index from 0 to 5, got 6"):
        moves.row(6, arms=6)


@pytest.mark.parametrize("moves", [Moves(1.0, 1.0, coordinates=SIX), Moves(1.0, graph=[(i, i + 1) for i in range(5)])])
def test_arms_that_there_are_not_are_refused(moves):
    for start, end in ((-1, 0), (0, 6)):
        with pytest.raises(ValueError, match="an arm must be"):
            moves.cost(start, end)
    with pytest.raises(TypeError, match="an arm must be a whole number, got 'a'"):
        moves.cost("a", 0)


def test_costs_beyond_the_doubles_are_refused():
    with pytest.raises(OverflowError, match="moves cost more than a double can hold; measure"):
        Moves(per_distance=1e200, coordinates=[0.0, 1e200]).row(0, 2)
    bandit, prior = cb.GaussianBandit([0.0, 0.1], 1.0), cb.Independent(variance=1.0, noise_variance=1.0, arms=2)
    with pytest.raises(OverflowError, match="moves cost more than a double can hold; measure"):
        cb.simulate({"a": (cb.Thompson(), prior)}, bandit, horizon=50, moves=Moves(per_move=1e308))
