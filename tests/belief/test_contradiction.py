"""Whether rewards contradict what was stated: against brute force, in other units, on problems right and wrong."""

import math

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from corrbandits import Correlated, Exponential, Implicit, Independent, Matern52, Vague
from corrbandits._core.tally import Tally
from corrbandits.belief import contradiction
from corrbandits.belief.contradiction import FACTORS, SHIFTS, contradictions
from tests.support.parts import log_prior

PLACES = np.array([(x, y) for x in range(6) for y in range(6)], dtype=np.float64)


def tally_of(arms, rewards):
    return Tally.empty(len(PLACES)).plus(
        (int(arm), 1, float(reward)) for arm, reward in zip(arms, rewards, strict=True)
    )


@pytest.fixture
def every(monkeypatch):
    """Return what is said of every stated value, contradicted or not."""
    monkeypatch.setattr(contradiction, "CONTRADICTED", 1e-300)
    return lambda prior, tally: {one.name: one.log_times for one in contradictions(prior, tally)}


def times(stated, others):
    return logsumexp(others) - math.log(len(others)) - stated


@pytest.mark.parametrize("kind", [Correlated, Implicit, Vague])
def test_by_the_joint_density_of_single_rewards(every, kind):
    rng = np.random.default_rng(4)
    arms = rng.integers(0, len(PLACES), 14)
    rewards = 20 + 6 * rng.standard_normal(14)
    m, sd, length, noise = 22.0, 3.0, 1.7, 2.0
    if kind is Vague:
        prior = Vague(
            coordinates=PLACES, mean=m, sd=sd, length=length, noise_sd=noise, kernel="exponential", site=0.0, parts=3
        )
    else:
        prior = kind(mean=m, kernel=sd**2 * Exponential(length), coordinates=PLACES, noise_variance=noise**2)

    def density(sd=sd, length=length, noise=noise, c=0.0):
        apart = np.sqrt(np.square(PLACES[arms][:, None] - PLACES[arms]).sum(axis=2))
        covariance = sd**2 * (np.exp(-apart / length) + c**2) + noise**2 * np.eye(14)
        return multivariate_normal(np.full(14, m), covariance).logpdf(rewards)

    found = every(prior, tally_of(arms, rewards))
    assert found == pytest.approx(
        {
            "mean": times(density(), [density(c=c) for c in SHIFTS]),
            "sd": times(density(), [density(sd=sd * f) for f in FACTORS]),
            "length": times(density(), [density(length=length * f) for f in FACTORS]),
            "noise_sd": times(density(), [density(noise=noise * f) for f in FACTORS]),
        },
        abs=1e-7,
    )


def test_mean_and_scale_that_are_learnt_are_integrated_out(every):
    """The flat mean and the prior 1 / scale by brute force on a lattice of both."""
    prior = Vague(coordinates=PLACES, length=2.0, parts=2)
    arms, rewards = [0, 7, 7, 14, 30], np.array([1.0, 2.0, 1.5, 3.5, -0.5])
    beta = np.linspace(-60, 60, 1201)[:, None, None]
    tau = np.exp(np.linspace(-5, 6, 221))[:, None]

    def density(f):
        each = []
        for part in range(2):
            kernel = {"exponential": Exponential, "matern52": Matern52}[prior.parts.kernels[part]](2.0 * f)
            site, ratio = prior.parts.sites[part], prior.parts.ratios[part]
            R = (1 - site) * kernel(PLACES[arms]) + site * (np.array(arms)[:, None] == arms) + ratio * np.eye(5)
            z = (rewards - beta) @ np.linalg.inv(np.linalg.cholesky(R)).T / tau
            each.append(-0.5 * np.square(z).sum(axis=2) - 5 * np.log(tau[:, 0]) - 0.5 * np.linalg.slogdet(R)[1])
        return logsumexp(np.array(each) + log_prior(prior)[:, None, None])

    found = every(prior, tally_of(arms, rewards))
    assert found == pytest.approx({"length": times(density(1.0), [density(f) for f in FACTORS])}, abs=0.01)


@pytest.mark.parametrize(
    "told", [{"length": 2.0}, {"mean": 30.0}, {"sd": (2.0, 5.0)}, {"noise_sd": 1.0, "mean": (20, 40)}]
)
def test_units_do_not_matter(every, told):
    rng = np.random.default_rng(1)
    arms, rewards = rng.integers(0, 36, 20), 30 + 3 * rng.standard_normal(20)
    scaled = {name: value if name == "length" else 1e3 * np.asarray(value) for name, value in told.items()}
    one = every(Vague(coordinates=PLACES, **told), tally_of(arms, rewards))
    other = every(Vague(coordinates=PLACES, **scaled), tally_of(arms, 1e3 * rewards))
    assert set(one) == set(told)
    assert other == pytest.approx(one, rel=1e-9, abs=1e-9)


def test_with_many_arms_only_the_likeliest_parts_are_tried_which_never_finds_more(every, monkeypatch):
    rng = np.random.default_rng(2)
    arms, rewards = rng.integers(0, 36, 60), 30 + 3 * rng.standard_normal(60)
    prior, seen = Vague(coordinates=PLACES, length=9.0, noise_sd=1.0), tally_of(arms, rewards)
    whole = every(prior, seen)
    monkeypatch.setattr(contradiction, "MANY", 5)
    less = every(prior, seen)
    assert set(less) == set(whole)
    assert all(less[name] <= whole[name] + 1e-9 for name in whole)
    assert less["noise_sd"] > 10


def test_nothing_is_said_where_nothing_can_be():
    for prior in (
        Vague(coordinates=PLACES),
        Vague(coordinates=PLACES, length=2.0),
        Independent(noise_variance=1.0, arms=36),
        Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=36),
    ):
        for number in range(4):
            assert contradictions(prior, tally_of(range(number), [1.0] * number)) == []


def drawn(seed, *, mean=30.0, sd=3.0, length=2.5, noise=1.5, rounds=3):
    """Return rewards of every arm, several times each, where these numbers are the truth."""
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(sd**2 * Exponential(length)(PLACES))
    means = mean + root @ rng.standard_normal(len(PLACES))
    arms = np.tile(np.arange(len(PLACES)), rounds)
    return tally_of(arms, means[arms] + noise * rng.standard_normal(arms.size))


STATED = Correlated(mean=30.0, kernel=9.0 * Exponential(2.5), coordinates=PLACES, noise_variance=1.5**2)
IN_PART = Vague(coordinates=PLACES, length=2.5, noise_sd=1.5, parts=16)


@pytest.mark.parametrize(("prior", "number"), [(STATED, 100), (IN_PART, 15)], ids=["known", "in part"])
def test_what_is_right_is_seldom_doubted(prior, number):
    """By Ville's inequality in at most 1 of 100 studies per stated value; hardly ever at one given time."""
    doubted = sum(bool(contradictions(prior, drawn(seed, rounds=1))) for seed in range(number))
    assert doubted <= 0.02 * number


@pytest.mark.parametrize(
    ("truth", "name"),
    [
        ({"mean": 50.0}, "mean"),
        ({"mean": 20.0}, "mean"),
        ({"sd": 9.0}, "sd"),
        ({"sd": 1.0}, "sd"),
        ({"noise": 4.5}, "noise_sd"),
        ({"noise": 0.5}, "noise_sd"),
        ({"length": 0.6}, "length"),
    ],
)
def test_what_is_wrong_is_named_where_the_rewards_can_show_it(truth, name):
    """In every problem where they are 1,000 times as likely under the truth, by the density of the averages.

    It is not always the first that is named: arms that differ less than stated may also be more alike than stated.
    """
    rounds, shown, first = 3, 0, []
    for seed in range(20):
        seen = drawn(seed, **truth, rounds=rounds)
        found = contradictions(STATED, seen)
        if density(seen, rounds, **truth) - density(seen, rounds) > math.log(1000):
            shown += 1
            assert name in [one.name for one in found], seed
            first.append(found[0].name)
    assert shown >= 8
    assert first.count(name) >= 0.75 * shown


def density(seen, rounds, mean=30.0, sd=3.0, length=2.5, noise=1.5):
    """Return the log density of each arm's average, and of the spread within arms, up to a constant."""
    covariance = sd**2 * Exponential(length)(PLACES) + noise**2 / rounds * np.eye(36)
    averages = seen.sums / rounds
    spread = sum(seen.squares.values()) / 2**2148 - rounds * averages @ averages
    within = -36 * (rounds - 1) * math.log(noise) - spread / (2 * noise**2)
    return multivariate_normal(np.full(36, mean), covariance).logpdf(averages) + within


def test_the_likeliest_value_is_near_the_truth():
    stated = {"mean": 30.0, "sd": 3.0, "length": 2.5, "noise_sd": 1.5}
    for truth, name in (({"mean": 50.0}, "mean"), ({"noise": 4.5}, "noise_sd")):
        worst = contradictions(STATED, drawn(0, **truth))[0]
        assert worst.stated == pytest.approx(stated[name])
        likely = worst.stated + worst.likely if name == "mean" else worst.stated * worst.likely
        assert likely == pytest.approx(next(iter(truth.values())), rel=0.15)


def test_earlier_seasons_count_under_other_values_too(every):
    """By the joint density of both seasons' rewards, of the earlier one's those contrasts that have no mean."""
    m, sd, length, noise = 21.0, 3.0, 1.7, 2.0
    rng = np.random.default_rng(8)
    before, arms = np.array([3, 11, 11, 20, 29, 35]), np.array([5, 3, 20, 33, 14, 20, 8])
    then, rewards = 17 + 4 * rng.standard_normal(6), 20 + 6 * rng.standard_normal(7)
    season = np.repeat([0, 1], [6, 7])
    where, both = np.concatenate([before, arms]), np.concatenate([then, rewards])
    told = {"mean": m, "sd": sd, "length": length, "noise_sd": noise, "kernel": "exponential", "site": 0.0}
    prior = Vague(coordinates=PLACES, history=[(before, then)], parts=3, **told)
    apart = np.sqrt(np.square(PLACES[where][:, None] - PLACES[where]).sum(axis=2))
    same, free = season[:, None] == season, null_space((season == 0)[None]).T

    def density(sd=sd, length=length, noise=noise):
        each = []
        for rho in prior.parts.alike:
            covariance = sd**2 * np.exp(-apart / length) * np.where(same, 1.0, rho) + noise**2 * np.eye(13)
            each.append(multivariate_normal(free @ np.full(13, m), free @ covariance @ free.T).logpdf(free @ both))
        return logsumexp(each)

    found = every(prior, tally_of(arms, rewards))
    assert found["length"] == pytest.approx(times(density(), [density(length=length * f) for f in FACTORS]), abs=1e-6)
    assert found["sd"] == pytest.approx(times(density(), [density(sd=sd * f) for f in FACTORS]), abs=1e-6)
    assert found["noise_sd"] == pytest.approx(times(density(), [density(noise=noise * f) for f in FACTORS]), abs=1e-6)


def test_earlier_seasons_at_many_arms(every, monkeypatch):
    monkeypatch.setattr(contradiction, "MANY", 5)
    rng = np.random.default_rng(5)
    arms = np.arange(36)
    prior = Vague(coordinates=PLACES, length=2.0, history=[(arms, rng.normal(30, 3, 36))])
    assert math.isfinite(every(prior, tally_of(arms[::3], rng.normal(30, 3, 12)))["length"])
