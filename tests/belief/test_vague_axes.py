"""A length of its own for each coordinate: units that differ, and coordinates that say nothing."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import Correlated, Exponential, Gittins, Vague

RNG = np.random.default_rng(6)
PLACES = RNG.random((60, 2))
SURFACE = np.linalg.cholesky(Exponential((0.3, 3.0))(PLACES) + 1e-10 * np.eye(60)) @ RNG.standard_normal(60)
ARMS = RNG.integers(0, 60, 150)
REWARDS = SURFACE[ARMS] + 0.3 * RNG.standard_normal(150)


def test_units_do_not_matter():
    """Each coordinate times a power of 2 is another unit of it: nothing else changes, not even the opening."""
    other = PLACES * [1024.0, 2.0**-7]
    one, two = (Vague(coordinates=places, per_coordinate=True) for places in (PLACES, other))
    assert Gittins(50).choose(one, 1) == Gittins(50).choose(two, 1)
    assert Gittins(50).choose(one.observe(3, 1.0), 2) == Gittins(50).choose(two.observe(3, 1.0), 2)
    one, two = one.observe(ARMS, REWARDS), two.observe(ARMS, REWARDS)
    np.testing.assert_allclose(two.mean, one.mean, rtol=1e-9)
    np.testing.assert_allclose(two.variance, one.variance, rtol=1e-9)
    assert two.learnt().neighbours.median == pytest.approx(one.learnt().neighbours.median, rel=1e-9)
    for far, near, factor in zip(two.learnt().length, one.learnt().length, (1024.0, 2.0**-7), strict=True):
        assert far.median == pytest.approx(factor * near.median, rel=1e-9)


def test_told_all_lengths_it_is_the_correlated_belief():
    told = {"mean": 0.5, "sd": 2.0, "noise_sd": 0.7, "kernel": "exponential", "site": 0.0, "parts": 2}
    belief = Vague(coordinates=PLACES, length=[0.3, 3.0], per_coordinate=True, **told).observe(ARMS, REWARDS)
    known = Correlated(mean=0.5, kernel=4 * Exponential((0.3, 3.0)), coordinates=PLACES, noise_variance=0.49)
    np.testing.assert_allclose(belief.mean, known.observe(ARMS, REWARDS).mean, rtol=1e-7)
    np.testing.assert_allclose(belief.variance, known.observe(ARMS, REWARDS).variance, rtol=1e-7)


def test_it_learns_along_which_coordinate_rewards_vary():
    learnt = Vague(coordinates=PLACES, per_coordinate=True).observe(ARMS, REWARDS).learnt()
    assert learnt.length[0].median < 0.5 * learnt.length[1].median
    stated = Vague(coordinates=PLACES, length=[(0.2, 0.5), None], per_coordinate=True)
    assert 0.1 < stated.parts.lengths[:, 0].min() < stated.parts.lengths[:, 0].max() < 1.0
    assert stated.in_words() == "told length 0.2 to 0.5 x ?; the rest is learnt"


def test_of_units_that_differ_the_truth_is_likelier():
    """In its own units the second coordinate hides the first, whose variation one length takes for noise."""
    rng, places = np.random.default_rng(2), PLACES * [1.0, 1000.0]
    arms, truth = rng.permutation(60)[:40], np.sin(9 * PLACES[:, 0])
    rewards = truth[arms] + 0.1 * rng.standard_normal(40)
    unseen = np.setdiff1d(np.arange(60), arms)
    errors = [
        np.sqrt(
            np.mean((Vague(coordinates=places, per_coordinate=each).observe(arms, rewards).mean - truth)[unseen] ** 2)
        )
        for each in (True, False)
    ]
    assert errors[0] < 0.6 * errors[1]


def test_engines_agree_and_a_study_keeps_it(tmp_path):
    prior = Vague(coordinates=PLACES * [1.0, 1000.0], per_coordinate=True, length=[None, (100.0, 9000.0)], parts=8)
    environment = cb.GaussianBandit(means=SURFACE, noise_variance=0.1)
    runs = [
        cb.simulate({"rule": (Gittins(40), prior)}, environment, horizon=40, seed=1, engine=engine).arms.values
        for engine in ("reference", "compiled")
    ]
    np.testing.assert_array_equal(*runs)
    url = f"sqlite:///{tmp_path}/studies.db"
    with cb.Study.create(url, "field", prior=prior, policy=Gittins(40)) as study:
        study.observe(3, 1.5)
    with cb.Study.open(url, "field") as study:
        again = study.snapshot().prior
    assert isinstance(again, Vague)
    np.testing.assert_array_equal(again.parts.lengths, prior.parts.lengths)
    assert prior.observe(3, 1.5).merge(again.observe(4, 2.5)).counts.sum() == 2


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"length": [1.0]}, "an entry for each of the 2 coordinates"),
        ({"length": [1.0, -1.0]}, "length of coordinate 2 must be a number above 0"),
        ({"distance": "great_circle"}, "euclidean or cityblock"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        Vague(coordinates=PLACES, per_coordinate=True, **arguments)
    with pytest.raises(TypeError, match="per_coordinate"):
        Vague(arms=3, per_coordinate=True)
