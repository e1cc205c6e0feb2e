"""What explain says of rules that mind more than limits: the way, a probability, a level that is enough, a floor."""

from statistics import NormalDist

import numpy as np
import pytest

import corrbandits as cb

NAMES = ["brook", "hill", "wood", "ford"]
PLACES = [0.0, 1.0, 2.0, 50.0]


def explained(tmp_path, policy, *, mean=0.0, variance=1.0, moves=None, start=None, allowed=None, noise=1.0):
    prior = cb.Independent(mean=mean, variance=variance, noise_variance=noise, arms=4)
    arms = {"name": NAMES, "x": PLACES}
    with cb.Study.create(
        tmp_path / f"{len([*tmp_path.iterdir()])}.db", "s", arms=arms, prior=prior, policy=policy, moves=moves
    ) as study:
        return study.explain(study.ask(start=start, allowed=allowed))


def test_arms_that_are_farther_away_are_not_tied(tmp_path):
    found = explained(tmp_path, cb.UCL(), moves=cb.Moves(per_distance=1.0), start="wood")
    assert (found.chosen.name, found.way, found.tied) == ("wood", 0.0, 0)
    assert (found.runner_up.name, found.runner_up.way) == ("hill", 1.0)
    assert "tied" not in str(found)
    assert str(found).endswith("; the way there costs 1")
    flat = explained(tmp_path, cb.UCL(), variance=np.inf, moves=cb.Moves(per_distance=1.0), start="hill")
    assert (flat.chosen.name, flat.tied, flat.initial) == ("hill", 0, True)


def test_arms_as_good_and_as_near_are_tied(tmp_path):
    found = explained(tmp_path, cb.UCL(), moves=cb.Moves(per_move=1.0), start="wood", allowed=NAMES[:2])
    assert (found.tied, found.way) == (1, 1.0)
    again = explained(tmp_path, cb.UCL(), moves=cb.Moves(per_distance=1.0))  # nobody is anywhere
    assert (again.tied, again.way, again.runner_up.way) == (3, None, None)


def test_a_rule_of_chance_says_its_probability(tmp_path):
    found = explained(tmp_path, cb.Softmax(cb.Greedy(), temperature=1.0), mean=[0.0, 1.0, 2.0, 3.0])
    share = np.exp(found.chosen.mean) / np.exp([0.0, 1.0, 2.0, 3.0]).sum()
    assert f"; drawn with probability {share:.3g}" in str(found)
    few = explained(tmp_path, cb.Softmax(cb.Greedy(), temperature=1.0), mean=[0, 1, 2, 3], allowed=["hill"])
    assert "; drawn with probability 1" in str(few)


def test_a_level_that_is_enough_is_said(tmp_path):
    found = explained(tmp_path, cb.Satisficing(cb.Greedy(), M=1.5), mean=[0.0, 1.0, 2.0, 3.0])
    assert found.remarks == ("drawn from 2 arms whose limits reach M = 1.5",)
    none = explained(tmp_path, cb.Satisficing(cb.Greedy(), M=9.0), mean=[0.0, 1.0, 2.0, 3.0])
    assert none.remarks == ("no limit reaches M = 9, so that the largest was taken",)


@pytest.mark.parametrize(
    ("floor", "chosen", "said"),
    [
        (-5.0, "ford", "certified, one of 4 arms above the floor -5 for 95 % certain"),
        (0.9, "ford", "certified, one of 2 arms above the floor 0.9 for 95 % certain"),
        (
            5.0,
            "wood",
            "no arm in reach is above the floor 5 for 95 % certain, and its lower limit, {lower:.6g}",
        ),
    ],
)
def test_a_floor_is_said_and_whether_the_arm_is_certified(tmp_path, floor, chosen, said):
    rule, mean, variance = cb.Safe(cb.Greedy(), floor=floor), [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.01, 1.0]
    found = explained(tmp_path, rule, mean=mean, variance=variance)
    assert found.chosen.name == chosen
    assert said.format(lower=2.0 + 0.1 * NormalDist().inv_cdf(0.05)) in str(found)


def test_rules_around_rules_each_say_what_they_mind(tmp_path):
    found = explained(tmp_path, cb.Safe(cb.Satisficing(cb.Greedy(), M=2.0), floor=-9.0), mean=[0.0, 1.0, 2.0, 3.0])
    assert [remark.split()[0] for remark in found.remarks] == ["certified,", "drawn"]
    unknown = explained(tmp_path, cb.Safe(cb.UCL(), floor=0.0), variance=np.inf)
    assert unknown.remarks == ("not certified: no arm in reach is above the floor 0 for 95 % certain",)
