"""Orders to walk, against all orders there are."""

import itertools

import numpy as np
import pytest

from corrbandits._core.walks import walked


def cost(costs, order):
    return sum(costs[one, other] for one, other in itertools.pairwise([0, *order]))


@pytest.mark.parametrize("seed", range(8))
def test_an_order_costs_little_more_than_the_cheapest_and_never_gains_by_a_turn(seed):
    rng = np.random.default_rng(seed)
    at = rng.uniform(size=(8, 2))
    costs = np.hypot(*(at[:, None] - at).T)
    order = walked(costs)
    assert sorted(order) == list(range(1, 8))
    assert cost(costs, order) <= 1.1 * min(cost(costs, one) for one in itertools.permutations(range(1, 8)))
    for i, j in itertools.combinations(range(8), 2):
        turned = order[:i] + order[i:j][::-1] + order[j:]
        assert cost(costs, turned) >= cost(costs, order) * (1 - 1e-9)


def test_no_place_one_place_and_places_that_are_equal():
    assert walked(np.zeros((1, 1))) == []
    assert walked(np.zeros((2, 2))) == [1]
    assert sorted(walked(np.ones((5, 5)) - np.eye(5))) == [1, 2, 3, 4]
