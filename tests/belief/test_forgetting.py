"""Windowed and discounted beliefs, against the stationary belief on the rewards that count, and their limits."""

import math

import numpy as np
import pytest

import corrbandits as cb
from tests.support.contracts import GAUSSIAN_PRIORS, GaussianContract, assert_close, at_once, covariance_of, same_bits
from tests.support.drifts import some_steps, told

PRIORS = {**GAUSSIAN_PRIORS}
NAMES = ["independent", "uninformative", "mixed", "correlated", "smooth", "rank one", "one arm"]


def finite(prior):
    """The prior, or one like it for drawing steps."""
    return (
        prior
        if np.isfinite(prior.variance).all()
        else cb.Independent(variance=4.0, noise_variance=1.0, arms=prior.arms)
    )


class TestWindowed:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("window", [1, 7, 25.5])
    def test_is_the_prior_and_the_rewards_of_the_window(self, name, window):
        prior = PRIORS[name]
        steps = some_steps(finite(prior), 40, seed=1, whole=False)
        belief = cb.Windowed(prior=prior, window=window)
        for number, (time, arm, reward) in enumerate(steps):
            belief = belief.after(time)
            lately = [(of, r) for at, of, r in steps[:number] if at >= time - window]
            assert_close(belief.now, at_once(prior, lately), 1e-10)
            belief = belief.observe(arm, reward)
            assert_close(belief.now, at_once(prior, [*lately, (arm, reward)]), 1e-10)
        assert belief.counts.sum() == 40  # it has seen all, and lets the last count
        assert_close(belief.after(1e9).now, prior, 1e-15)

    @pytest.mark.parametrize("name", NAMES)
    def test_without_an_end_of_the_window_it_is_the_stationary_belief(self, name):
        prior = PRIORS[name]
        windowed, still = cb.Windowed(prior=prior, window=1e300), prior
        for time, arm, reward in some_steps(finite(prior), 40, seed=2):
            windowed, still = windowed.after(time).observe(arm, reward), still.observe(arm, reward)
            assert_close(windowed, still, 1e-12)

    def test_a_window_may_grow_with_time(self):
        prior = PRIORS["independent"]
        belief = cb.Windowed(prior=prior, window=(2.0, 0.5))
        for t in (1, 2, 3.5, 4, 5, 100, 10**6):
            assert belief.width(t) == min(math.ceil(2 * t**0.5), t)
        steps = some_steps(prior, 60, seed=3)
        for number, (time, arm, reward) in enumerate(steps):
            belief = belief.after(time)
            lately = [(of, r) for at, of, r in steps[:number] if at >= time - min(math.ceil(2 * time**0.5), time)]
            assert_close(belief.now, at_once(prior, lately), 1e-10)
            belief = belief.observe(arm, reward)

    def test_how_one_came_to_a_time_does_not_matter(self):
        prior, rng = PRIORS["independent"], np.random.default_rng(5)
        for window in ((1.0, 0.5), (0.7, 0.8), (3.0, 0.3), (1.5, 1.0), 2.5):
            hopping = cb.Windowed(prior=prior, window=window)
            for _ in range(30):
                hopping = hopping.after(hopping.time + rng.exponential()).observe(int(rng.integers(3)), rng.normal())
            end, at_once_there = hopping.time + 6.3, hopping
            while hopping.time < end - 0.01:
                hopping = hopping.after(hopping.time + 0.01)
            assert_close(hopping.after(end).now, at_once_there.after(end).now, 1e-12)

    def test_arms_of_which_all_is_forgotten_are_tried_again(self):
        prior = cb.Independent(noise_variance=1.0, arms=3)
        bandit = cb.ChangingBandit(np.tile([0.0, 1.0, 2.0], (50, 1)), noise_variance=1.0)
        trace = cb.simulate({"a": (cb.UCL(), cb.Windowed(prior=prior, window=10))}, bandit, 50)
        for t in range(10, 50):
            assert set(trace.arms.values[0, 0, t - 10 : t + 1].tolist()) == {0, 1, 2}

    @pytest.mark.parametrize(
        ("window", "message"),
        [
            (0.5, "window must be at least 1"),
            (math.inf, "window must be at least 1 and finite"),
            ((1.0, 2.0), "alpha of the window must be above 0 and at most 1"),
            ((0.0, 1.0), "lambda of the window must be above 0"),
            ((1.0, 0.5, 2.0), "window must be one number, or lambda and alpha"),
        ],
    )
    def test_what_is_no_window_is_refused_in_words(self, window, message):
        with pytest.raises(ValueError, match=message):
            cb.Windowed(prior=PRIORS["independent"], window=window)


def weighed(prior, steps, now, factor):
    """The posterior by precision matrices, with counts and sums discounted, as the paper's inference has it."""
    n, s = np.zeros((2, prior.arms))
    for time, arm, reward in steps:
        n[arm] += factor ** (now - time)
        s[arm] += factor ** (now - time) * reward
    precision = np.linalg.inv(covariance_of(prior))
    covariance = np.linalg.inv(precision + np.diag(n / prior.noise_variance))
    return covariance @ (precision @ prior.mean + s / prior.noise_variance), covariance


class TestDiscounted:
    @pytest.mark.parametrize("name", ["independent", "correlated", "smooth", "one arm"])
    @pytest.mark.parametrize("factor", [0.3, 0.9, 0.999])
    @pytest.mark.parametrize("whole", [True, False])
    def test_is_the_papers_inference_with_discounted_counts(self, name, factor, whole):
        prior = PRIORS[name]
        steps = some_steps(prior, 40, seed=1, whole=whole)
        belief = cb.Discounted(prior=prior, factor=factor)
        for number, (time, arm, reward) in enumerate(steps):
            belief = belief.after(time)
            mean, covariance = weighed(prior, steps[:number], time, factor)
            np.testing.assert_allclose(belief.mean, mean, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(covariance_of(belief), covariance, rtol=1e-9, atol=1e-9)
            belief = belief.observe(arm, reward)
        counts = [sum(factor ** (steps[-1][0] - at) for at, of, _ in steps if of == arm) for arm in range(prior.arms)]
        np.testing.assert_allclose(belief.discounted_counts, counts, rtol=1e-12)
        assert belief.counts.sum() == 40

    def test_of_unknown_arms_the_mean_is_the_discounted_average(self):
        belief = told(cb.Discounted(prior=PRIORS["uninformative"], factor=0.5), [(1, 0, 1.0), (2, 0, 4.0), (4, 1, 9.0)])
        assert belief.mean[:2].tolist() == pytest.approx([(0.125 * 1 + 0.25 * 4) / 0.375, 9.0])
        assert belief.variance[:3].tolist() == pytest.approx([10 / 0.375, 10.0, math.inf])

    @pytest.mark.parametrize("time", [300, 1_050, 1_060, 1_073, 1_076, 10_000])
    def test_a_count_that_is_hardly_any_is_none(self, time):
        prior = cb.Independent(noise_variance=1.0, arms=2)
        belief = cb.Discounted(prior=prior, factor=0.5).observe(0, 4.0)
        later = belief.after(time)
        assert later.mean[0] == pytest.approx(4.0 if time < 300 * 1.1 else 0.0)
        assert not np.isnan(later.variance).any()
        assert later.observe(0, 3.0).mean[0] == pytest.approx(3.0)

    @pytest.mark.parametrize("name", NAMES)
    def test_with_a_factor_of_1_it_is_the_stationary_belief(self, name):
        prior = PRIORS[name]
        discounted, still = cb.Discounted(prior=prior, factor=1.0), prior
        for time, arm, reward in some_steps(finite(prior), 40, seed=2, whole=False):
            discounted, still = discounted.after(time).observe(arm, reward), still.observe(arm, reward)
            assert_close(discounted, still, 1e-12)

    @pytest.mark.parametrize("name", ["independent", "correlated", "rank one"])
    def test_after_a_very_long_time_it_is_the_prior_again(self, name):
        prior = PRIORS[name]
        later = told(cb.Discounted(prior=prior, factor=0.9), some_steps(prior, 20, seed=3)).after(1e9)
        np.testing.assert_array_equal(later.mean, prior.mean)
        np.testing.assert_array_equal(later.variance, prior.variance)

    @pytest.mark.parametrize("factor", [0.0, 1.1, math.nan])
    def test_what_is_no_factor_is_refused_in_words(self, factor):
        with pytest.raises(ValueError, match="factor must be above 0 and at most 1"):
            cb.Discounted(prior=PRIORS["independent"], factor=factor)


BOTH = {
    "windowed": cb.Windowed(prior=PRIORS["smooth"], window=10),
    "windowed, unknown arms": cb.Windowed(prior=PRIORS["mixed"], window=10),
    "discounted": cb.Discounted(prior=PRIORS["smooth"], factor=0.9),
    "discounted, unknown arms": cb.Discounted(prior=PRIORS["mixed"], factor=0.9),
}


@pytest.mark.parametrize("prior", BOTH.values(), ids=BOTH.keys())
class TestAtOneTimeTheyAreBeliefsLikeAnyOther(GaussianContract): ...


@pytest.mark.parametrize("name", BOTH)
def test_merging_and_mirror_images(name):
    prior = BOTH[name]
    steps = some_steps(PRIORS["smooth"], 30, seed=4, whole=False)
    whole, one, other = (told(prior, some) for some in (steps, steps[::2], steps[1::2]))
    both = one.merge(other)
    assert_close(both, whole, 1e-10)
    assert same_bits(both, other.merge(one))
    image = whole.mirrored()
    np.testing.assert_allclose(image.mean, -whole.mean, rtol=1e-9, atol=1e-9)
    assert image.time == whole.time


@pytest.mark.parametrize("name", BOTH)
def test_they_are_no_models_and_have_no_evidence(name):
    with pytest.raises(TypeError, match="evidence of the belief must be known"):
        BOTH[name].log_evidence()


def test_they_say_what_they_believe():
    words = {name: prior.in_words() for name, prior in BOTH.items()}
    assert words["windowed"].endswith("; the last 10 decisions count")
    assert words["discounted"].endswith("; rewards discounted by 0.9 per step")
    growing = cb.Windowed(prior=PRIORS["smooth"], window=(2.0, 0.5))
    assert growing.in_words().endswith("; the last 2 t^0.5 decisions count")


def test_a_sliding_window_beats_the_stationary_rule_where_means_switch():
    """Garivier and Moulines (2011); Srivastava, Reverdy and Leonard (2014)."""
    prior = cb.Independent(variance=4.0, noise_variance=1.0, arms=5)
    players = {"still": (cb.UCL(), prior), "windowed": (cb.UCL(), cb.Windowed(prior=prior, window=150))}
    saved = []
    for seed in range(12):
        bandit = cb.series.switches(4 * np.eye(5), steps=1500, every=300, noise_variance=1.0, seed=seed)
        regret = cb.simulate(players, bandit, 1500, seed=seed).regret.isel(time=-1, run=0)
        saved.append(float(regret.sel(policy="still") - regret.sel(policy="windowed")))
    error = np.std(saved, ddof=1) / np.sqrt(len(saved))
    assert np.mean(saved) > 4 * error
