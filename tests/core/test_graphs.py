"""Shortest ways on small graphs against every way there is."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_matrix

import corrbandits as cb
from corrbandits._core.graphs import edges_of, shortest_ways


@st.composite
def graphs(draw):
    """A connected graph of 2 to 6 arms: a tree, and some more edges, with lengths."""
    arms = draw(st.integers(2, 6))
    length = st.floats(0.1, 9.0)
    edges = {(draw(st.integers(0, arm - 1)), arm): draw(length) for arm in range(1, arms)}
    for pair in itertools.combinations(range(arms), 2):
        if pair not in edges and draw(st.booleans()):
            edges[pair] = draw(length)
    return arms, [(*pair, length) for pair, length in edges.items()]


def every_way(arms, edges, start, end):
    """The lengths of all ways that visit no arm twice."""
    length = {(i, j): x for i, j, x in edges} | {(j, i): x for i, j, x in edges}
    others = [arm for arm in range(arms) if arm not in (start, end)]
    for count in range(len(others) + 1):
        for between in itertools.permutations(others, count):
            way = (start, *between, end)
            if all(step in length for step in itertools.pairwise(way)):
                yield sum(length[step] for step in itertools.pairwise(way))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(given=graphs())
def test_no_way_is_shorter_and_the_next_arms_lead_along_one_as_long(given):
    arms, edges = given
    between = {frozenset((i, j)): x for i, j, x in edges}
    lengths, next_arm = shortest_ways(edges_of(edges), arms)
    for start, end in itertools.permutations(range(arms), 2):
        assert lengths[start, end] == pytest.approx(min(every_way(arms, edges, start, end)), rel=1e-12)
        here, walked = start, 0.0
        while here != end:
            there = int(next_arm[here, end])
            walked, here = walked + between[frozenset((here, there))], there
        assert walked == pytest.approx(lengths[start, end], rel=1e-12)
    assert (lengths.diagonal() == 0).all()
    assert (next_arm.diagonal() == range(arms)).all()


def test_a_sparse_matrix_one_way_or_both_and_a_list_are_the_same_graph():
    listed = edges_of([(1, 0), (2, 1, 2.5), [0, 1, 1.0]])
    once = coo_array(([1.0, 2.5], ([0, 1], [1, 2])), shape=(3, 3))
    both = csr_matrix(once.toarray() + once.toarray().T)
    assert listed == edges_of(once) == edges_of(both) == ((0, 1, 1.0), (1, 2, 2.5))


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("ring", "a graph must be a matrix of lengths, .* or a list of edges such as .*, got 'ring'"),
        (5, "a graph must be a matrix of lengths"),
        ([], "a graph must have an edge at least, got none"),
        ([(0, 1, 2, 3)], r"an edge of a graph must be \(i, j\) or \(i, j, length\), got \(0, 1, 2, 3\)"),
        ([(0, 0)], "an edge of a graph must lead from an arm to another"),
        ([(0, 1, -1.0)], "the length of an edge must be above 0"),
        ([(0, 1, np.inf)], "the length of an edge must be above 0 and at most"),
        ([(0, -1)], "an arm of a graph must be at least 0, got -1"),
        ([(0, 1.5)], "an arm of a graph must be a whole number"),
        ([(0, 1, 2.0), (1, 0, 3.0)], "must have one length, but between arms 0 and 1 there are 2 and 3"),
        (coo_array((2, 3)), r"a graph must be a square matrix, one row per arm, but its shape is \(2, 3\)"),
    ],
)
def test_what_is_no_graph_is_refused(graph, words):
    with pytest.raises((ValueError, TypeError), match=words):
        edges_of(graph)


def test_a_graph_that_falls_apart_or_is_of_other_arms_is_refused():
    with pytest.raises(ValueError, match="must lead from every arm to every other, but not from arm 0 to arm 2"):
        shortest_ways(edges_of([(0, 1), (2, 3)]), 4)
    with pytest.raises(ValueError, match="must be of the 2 arms there are, but it names arm 3"):
        shortest_ways(edges_of([(0, 3)]), 2)


def test_a_dense_matrix_is_a_graph():
    dense = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 3.5], [0.0, 3.5, 0.0]])
    assert edges_of(dense) == edges_of(coo_array(dense)) == ((0, 1, 2.0), (1, 2, 3.5))
    assert cb.Moves(per_distance=1.0, graph=dense).cost(0, 2) == 5.5
    assert cb.OnGraph(cb.UCL(), graph=dense).way(0, 2, arms=3) == [1, 2]
    with pytest.raises(ValueError, match="square matrix"):
        edges_of(dense[:2])
    with pytest.raises(ValueError, match="a graph"):
        edges_of(dense * np.nan)


@pytest.mark.parametrize("make", [lambda graph: cb.Moves(graph=graph), lambda graph: cb.OnGraph(cb.UCL(), graph)])
def test_moves_and_rules_need_a_graph_in_one_piece(make):
    for graph, lost in (([(0, 1), (2, 3)], 2), ([(1, 2), (2, 3)], 1), ([(0, 1), (1, 10**12)], 2)):
        with pytest.raises(ValueError, match=f"every arm to every other, but not from arm 0 to arm {lost}"):
            make(graph)


def test_a_rule_on_a_graph_of_other_arms_is_refused_before_the_first_step():
    belief = cb.Independent(noise_variance=1.0, arms=15)
    with pytest.raises(ValueError, match="needs a graph of the 15 arms there are, but this one has 3"):
        cb.OnGraph(cb.UCL(), graph=[(0, 1), (1, 2)]).choose(belief, 1)
