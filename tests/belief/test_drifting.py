"""Drifting means with a known scale: against one Gaussian over all times and arms, and against its limits."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corrbandits as cb
from corrbandits.belief import History
from tests.support.contracts import (
    FIVE,
    GAUSSIAN_PRIORS,
    QUICK,
    GaussianContract,
    assert_close,
    at_once,
    covariance_of,
    same_bits,
)
from tests.support.drifts import evidence, joint, some_steps, told

PROPER = {name: prior for name, prior in GAUSSIAN_PRIORS.items() if np.isfinite(prior.variance).all()}
NEARLY_SINGULAR = cb.Correlated(kernel=4 * cb.SquaredExponential(9.0), coordinates=FIVE, noise_variance=0.1)
PRIORS = {**PROPER, "nearly singular": NEARLY_SINGULAR}
SCALES = [1e-3, 0.7, 8.0, 300.0]


def assert_is(belief, mean, covariance, tolerance):
    """The measure of accuracy of the other beliefs, in shares of prior deviations."""
    deviation = np.sqrt(belief.prior.variance)
    error = np.abs(covariance_of(belief) - covariance)
    assert (error <= tolerance * np.outer(deviation, deviation) + 1e-300).all()
    assert (np.abs(belief.mean - mean) <= tolerance * np.maximum(np.abs(mean), deviation)).all()


class TestAgainstOneGaussianOverAllTimes:
    @pytest.mark.parametrize("scale", SCALES)
    @pytest.mark.parametrize("name", PRIORS)
    @pytest.mark.parametrize("whole", [True, False])
    def test_prediction_and_update_agree(self, name, scale, whole):
        prior = PRIORS[name]
        steps = some_steps(prior, 40, seed=1, whole=whole)
        belief = cb.Drifting(prior=prior, scale=scale)
        for number, (time, arm, reward) in enumerate(steps):
            belief = belief.after(time)
            assert_is(belief, *joint(prior, scale, steps[:number], time), 1e-9)
            belief = belief.observe(arm, reward)
            assert_is(belief, *joint(prior, scale, steps[: number + 1], time), 1e-9)
        later = steps[-1][0] + 5.5
        assert_is(belief.after(later), *joint(prior, scale, steps, later), 1e-9)

    @pytest.mark.parametrize("name", PRIORS)
    def test_the_evidence_agrees(self, name):
        prior = PRIORS[name]
        steps = some_steps(prior, 25, seed=2)
        found = told(cb.Drifting(prior=prior, scale=6.0), steps).log_evidence()
        assert found == pytest.approx(evidence(prior, 6.0, steps), rel=1e-9, abs=1e-9)

    @pytest.mark.parametrize("name", PRIORS)
    def test_merging_is_having_seen_both_in_the_order_of_time(self, name):
        prior = PRIORS[name]
        steps = some_steps(prior, 30, seed=3, whole=False)
        mine, yours = steps[::2], steps[1::2]
        one, other = (told(cb.Drifting(prior=prior, scale=9.0), some) for some in (mine, yours))
        both = one.merge(other)
        assert_is(both, *joint(prior, 9.0, steps, steps[-1][0]), 1e-9)
        assert both.time == steps[-1][0]
        assert same_bits(both, other.merge(one))
        assert both.counts.tolist() == np.bincount([arm for _, arm, _ in steps], minlength=prior.arms).tolist()

    @pytest.mark.parametrize("name", PRIORS)
    def test_awaited_rewards_shrink_the_covariance_as_if_they_came_now(self, name):
        prior = PRIORS[name]
        steps = some_steps(prior, 12, seed=4)
        belief = told(cb.Drifting(prior=prior, scale=5.0), steps)
        waiting = belief.assume([0, prior.arms - 1]).after(20.5)
        mean, _ = joint(prior, 5.0, steps, 20.5)
        come = [(20.5, 0, 0.0), (20.5, prior.arms - 1, 0.0)]
        _, covariance = joint(prior, 5.0, steps + come, 20.5)
        assert_is(waiting, mean, covariance, 1e-9)
        assert waiting.awaited == (0, prior.arms - 1)
        assert_close(waiting.observe(0, 1.0), belief.after(20.5).observe(0, 1.0).assume([prior.arms - 1]), 1e-12)


class TestLimits:
    @pytest.mark.parametrize("name", PRIORS)
    def test_without_an_end_of_the_scale_it_is_the_stationary_belief(self, name):
        prior = PRIORS[name]
        drifting, still = cb.Drifting(prior=prior, scale=np.inf), prior
        for time, arm, reward in some_steps(prior, 60, seed=5, whole=False):
            drifting, still = drifting.after(time).observe(arm, reward), still.observe(arm, reward)
            assert_close(drifting, still, 1e-12)
        assert_close(drifting.after(1e9), still, 1e-12)

    @pytest.mark.parametrize("name", PRIORS)
    def test_a_very_long_scale_is_nearly_the_stationary_belief(self, name):
        prior = PRIORS[name]
        steps = some_steps(prior, 30, seed=6)
        still = at_once(prior, [(arm, reward) for _, arm, reward in steps])
        assert_is(told(cb.Drifting(prior=prior, scale=1e13), steps), still.mean, covariance_of(still), 1e-8)

    @pytest.mark.parametrize("name", PRIORS)
    @pytest.mark.parametrize("time", [1e9, 1e300])
    def test_after_a_very_long_time_it_is_the_prior_again(self, name, time):
        prior = PRIORS[name]
        later = told(cb.Drifting(prior=prior, scale=50.0), some_steps(prior, 20, seed=7)).after(time)
        assert_is(later, prior.mean, covariance_of(prior), 1e-14)

    def test_a_short_scale_forgets_from_one_step_to_the_next(self):
        prior = PRIORS["correlated"]
        belief = cb.Drifting(prior=prior, scale=1e-3).observe(0, 99.0)
        assert belief.mean[0] > 40
        assert_is(belief.after(2), prior.mean, covariance_of(prior), 1e-14)

    def test_before_anything_is_seen_time_changes_nothing(self):
        prior = cb.Drifting(prior=PRIORS["correlated"], scale=3.0)
        assert same_bits(prior.after(2.5).after(1e9), prior)

    def test_what_is_known_for_sure_stays_so(self):
        belief = told(cb.Drifting(prior=PRIORS["one known"], scale=3.0), some_steps(PRIORS["one known"], 20, seed=8))
        assert belief.after(1e4).variance[0] == 0
        assert belief.mean[0] == 0

    @pytest.mark.parametrize("noise", [1e-12, 1e12])
    def test_noise_of_any_size(self, noise):
        prior = cb.Correlated(kernel=cb.Exponential(2.0), coordinates=FIVE, noise_variance=noise)
        steps = some_steps(prior, 25, seed=9)
        belief = told(cb.Drifting(prior=prior, scale=7.0), steps)
        assert_is(belief, *joint(prior, 7.0, steps, 25.0), 1e-9)

    def test_rewards_of_1e300(self):
        prior = cb.Correlated(covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1.0)
        small = told(cb.Drifting(prior=prior, scale=4.0), [(1, 0, 1.0), (2, 1, -3.0), (9, 0, 2.0)])
        large = told(cb.Drifting(prior=prior, scale=4.0), [(1, 0, 1e300), (2, 1, -3e300), (9, 0, 2e300)])
        np.testing.assert_allclose(large.mean / 1e300, small.mean, rtol=1e-12)

    def test_a_mean_beyond_the_doubles_is_refused(self):
        prior = cb.Correlated(covariance=[[1.0, 0.5], [0.5, 1.0]], noise_variance=1e-9)
        belief = cb.Drifting(prior=prior, scale=1e9).observe(0, 1.7e308)
        with pytest.raises(OverflowError):
            belief.after(2).observe(0, -1.7e308)


CONTRACTED = {
    **{name: cb.Drifting(prior=prior, scale=5.0) for name, prior in PRIORS.items()},
    "later": cb.Drifting(prior=PRIORS["smooth"], scale=5.0).after(77.0),
}


@pytest.mark.parametrize("prior", CONTRACTED.values(), ids=CONTRACTED.keys())
class TestAtOneTimeItIsABeliefLikeAnyOther(GaussianContract): ...


class TestTime:
    prior = cb.Drifting(prior=PRIORS["correlated"], scale=4.0)

    def test_never_runs_backwards(self):
        belief = self.prior.after(7.5)
        assert belief.time == 7.5
        assert belief.after(7.5) is belief
        with pytest.raises(ValueError, match=r"time must not run backwards: the belief is at 7\.5, got 7"):
            belief.after(7)

    @pytest.mark.parametrize("time", [0, 0.99, -3.0])
    def test_begins_at_1(self, time):
        with pytest.raises(ValueError, match="time must be at least 1"):
            self.prior.after(time)

    @pytest.mark.parametrize("time", [math.nan, math.inf, "now"])
    def test_is_a_number(self, time):
        with pytest.raises((ValueError, TypeError), match="time must be"):
            self.prior.after(time)

    @QUICK
    @given(cut=st.floats(2, 29))
    def test_may_be_asked_for_at_any_time_in_between(self, cut):
        belief = told(self.prior, [(1, 0, 40.0), (2, 3, 25.0)])
        assert_close(belief.after(cut).after(30), belief.after(30), 1e-12)

    def test_order_matters(self):
        one = told(self.prior, [(1, 0, 40.0), (5, 1, 20.0)])
        other = told(self.prior, [(1, 1, 20.0), (5, 0, 40.0)])
        assert one.mean[0] < other.mean[0]

    def test_a_history_is_replayed_at_its_times(self):
        steps = some_steps(PRIORS["correlated"], 15, seed=10, whole=False)
        replayed = self.prior.replay(History.of(steps, arms=5))
        assert same_bits(replayed, told(self.prior, steps))
        assert replayed.time == steps[-1][0]


class TestWhatItIsMadeOf:
    def test_arguments_make_it_again(self):
        for belief in (
            cb.Drifting(prior=PRIORS["smooth"], scale=3.0),
            cb.Drifting(prior=PRIORS["smooth"], scale=np.inf),
        ):
            again = cb.Drifting(**belief.prior_arguments())
            assert same_bits(again, belief)
            assert again.scales.tolist() == belief.scales.tolist()

    def test_only_beliefs_of_one_prior_and_scale_merge(self):
        one = cb.Drifting(prior=PRIORS["smooth"], scale=3.0)
        for other in (
            cb.Drifting(prior=PRIORS["smooth"], scale=4.0),
            cb.Drifting(prior=PRIORS["correlated"], scale=3.0),
        ):
            with pytest.raises(ValueError, match="started from the same prior"):
                one.merge(other)

    def test_copies_and_pickles_go_on(self):
        belief = told(cb.Drifting(prior=PRIORS["smooth"], scale=3.0), some_steps(PRIORS["smooth"], 3000, seed=11))
        for again in (copy.deepcopy(belief), pickle.loads(pickle.dumps(belief))):
            assert same_bits(again.after(4000).observe(1, 2.0), belief.after(4000).observe(1, 2.0))
            with pytest.raises(ValueError, match="read-only"):
                again.mean[0] = 1.0

    def test_beliefs_that_go_different_ways_do_not_see_each_other(self):
        trunk = told(cb.Drifting(prior=PRIORS["smooth"], scale=3.0), [(1, 0, 1.0), (2, 1, 2.0)])

        def branch(arm):
            return told(trunk, [(t, arm, float(t)) for t in range(3, 200)])

        with ThreadPoolExecutor(5) as pool:
            branches = list(pool.map(branch, range(5)))
        for arm, belief in enumerate(branches):
            assert same_bits(belief.merge(trunk._begun()), branch(arm).merge(trunk._begun()))
            assert belief.counts[arm] == 197 + (arm < 2)

    def test_the_mirror_image_believes_the_opposite(self):
        steps = some_steps(PRIORS["smooth"], 20, seed=12, whole=False)
        belief = told(cb.Drifting(prior=PRIORS["smooth"], scale=3.0), steps).assume([2])
        image = belief.mirrored()
        np.testing.assert_allclose(image.mean, -belief.mean, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(image.variance, belief.variance, rtol=1e-11)
        assert (image.time, image.awaited) == (belief.time, (2,))
        turned = [(time, arm, -reward) for time, arm, reward in steps]
        assert_close(image, told(cb.Drifting(prior=PRIORS["smooth"].mirrored(), scale=3.0), turned).assume([2]), 1e-11)

    def test_it_says_what_it_believes(self):
        belief = cb.Drifting(prior=PRIORS["correlated"], scale=50.0)
        words = "exponential kernel of length 3, mean 30 ± 3.162; noise ± 3.162; drifting, scale 50"
        assert belief.in_words() == belief.after(9).observe(0, 1.0).in_words() == words
        assert belief.in_words("days") == f"{words} days"
        assert belief.coordinates.tolist() == FIVE.tolist()

    @pytest.mark.parametrize(
        ("given", "error", "message"),
        [
            ({"scale": 0.0}, ValueError, "scale must be above 0, got 0"),
            ({"scale": math.nan}, ValueError, "scale must be above 0, got nan"),
            ({"scale": "long"}, TypeError, "scale must be numbers"),
            ({"scale": (5.0, 2.0)}, ValueError, "between a lower and a higher number, got 5 and 2"),
            ({"scale": (1.0, 2.0, 3.0)}, ValueError, "scale must be one number, or two"),
            ({"scale": (1.0, 2.0), "parts": 1}, ValueError, "parts must be at least 2"),
            ({"prior": cb.Beta(arms=2)}, TypeError, "prior must be a belief of the kind Correlated or Independent"),
            ({"prior": GAUSSIAN_PRIORS["mixed"]}, ValueError, "finite variances: .* but 1 of its arms"),
            ({"prior": PRIORS["smooth"].observe(0, 1.0)}, ValueError, "prior must have seen nothing"),
            ({"prior": PRIORS["smooth"].assume([0])}, ValueError, "prior must have seen nothing"),
        ],
    )
    def test_what_makes_no_belief_is_refused_in_words(self, given, error, message):
        with pytest.raises(error, match=message):
            cb.Drifting(**{"prior": PRIORS["smooth"], "scale": 3.0, **given})

    def test_prior_elimination_refuses_it_in_words(self):
        with pytest.raises(TypeError, match="means that do not change with time, got a Drifting"):
            cb.Elimination([cb.Drifting(prior=PRIORS["smooth"], scale=3.0)])
