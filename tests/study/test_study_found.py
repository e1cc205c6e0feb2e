"""What a study finds: the best arm, the noise, surprises; arms added later; rewards and arms of any kind."""

import math
import re

import numpy as np
import pytest
from scipy import stats

import corrbandits as cb
from corrbandits.belief.contradiction import FACTORS
from corrbandits.study import Study
from corrbandits.study.report.inference import log_times
from corrbandits.study.report.overview import best_in_words
from tests.support.studies import LINE, bits, events, related


def test_arms_added_later_are_as_if_they_had_been_there(begin):
    names, places = list("abcdef"), LINE
    whole = begin("whole", arms={"name": names, "x": places, "soil": ["loam"] * 6})
    grown = begin(
        "grown", prior=related(coordinates=places[:4]), arms={"name": names[:4], "x": places[:4], "soil": ["loam"] * 4}
    )
    for study in (whole, grown):
        study.observe("b", 34.0)
        study.observe("a", 28.0)
    more = {"name": ["e", "f"], "x": [4.0, 5.0], "soil": ["loam", "loam"]}
    grown.add_arms(more)
    with pytest.raises(ValueError, match="'e' already"):
        grown.add_arms(more)
    for study in (whole, grown):
        study.observe("f", 30.0)
    assert bits(grown.belief) == bits(whole.belief)
    assert grown.ask(4) == whole.ask(4)
    assert begin.also(Study.open(begin.url, "grown")).arms.names == tuple(names)
    assert [grown.explain(t).replayed for t in range(4, 8)] == [trial.arm for trial in grown.open_trials]
    with pytest.raises(ValueError, match="'f' already"):
        grown.add_arms({"name": ["f"], "x": [9.0], "soil": ["loam"]})
    with pytest.raises(ValueError, match="columns of the old"):
        grown.add_arms({"name": ["g"], "latitude": [9.0], "longitude": [1.0]}, coordinates=[9.0])
    grown.add_arms({"name": ["g"], "x": [9.0], "owner": ["Ann"]})
    assert grown.arms.attributes == {"soil": ("loam",) * 6 + (None,), "owner": (None,) * 6 + ("Ann",)}


def test_more_arms_need_a_kernel_and_their_own_means_where_the_old_differ(begin):
    with pytest.raises(ValueError, match="need a kernel"):
        begin("flat", prior=cb.Independent(noise_variance=1.0, arms=2), policy=cb.UCL()).add_arms(["c"])
    study = begin("uneven", prior=related(mean=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), arms=list("abcdef"))
    with pytest.raises(ValueError, match="give mean="):
        study.add_arms(["g"], coordinates=[7.0])
    with pytest.raises(ValueError, match="1 row of 1 coordinate"):
        study.add_arms(["g"], coordinates=[[7.0, 8.0]], mean=0.0)
    study.add_arms(["g"], coordinates=[7.0], mean=9.0)
    assert study.belief.mean[6] == 9.0
    assert study.arms.coordinates[6].tolist() == [7.0]


def test_the_best_of_two_arms_by_the_normal_distribution(begin):
    prior = cb.Correlated(mean=[1.0, 0.4], covariance=[[1.0, 0.3], [0.3, 2.0]], noise_variance=1.0)
    found = begin(prior=prior, policy=cb.UCL(a=1.0)).best()
    deviation = math.sqrt(1.0 + 2.0 - 0.6)
    z = 0.6 / deviation
    loss = deviation * (stats.norm.pdf(z) - z * stats.norm.sf(z))
    assert found.arm == 0
    assert abs(found.probability - stats.norm.cdf(z)) < 4 * found.probability_error
    assert abs(found.expected_loss - loss) < 4 * found.expected_loss_error
    assert 0.005 < found.probability_error < 0.01
    assert found.draws == 4096
    assert found == begin("again", prior=prior, policy=cb.UCL(a=1.0)).best()
    assert found != begin("other", prior=prior, policy=cb.UCL(a=1.0), seed=1).best()
    assert found.enough(loss=1.2 * loss)
    assert not found.enough(loss=loss - found.expected_loss_error)
    with pytest.raises(ValueError, match="loss"):
        found.enough(-1.0)


@pytest.mark.parametrize("kind", ["Independent", "Correlated", "Implicit", "Refitting", "Elimination"])
def test_the_best_of_many_agrees_with_plain_draws_from_the_belief(begin, kind):
    given = {"mean": 0.0, "kernel": 4 * cb.Exponential(3.0), "coordinates": np.arange(40.0), "noise_variance": 1.0}
    prior = {
        "Independent": lambda: cb.Independent(variance=4.0, noise_variance=1.0, arms=40),
        "Elimination": lambda: cb.Elimination([cb.Correlated(**given), cb.Correlated(**given | {"mean": 1.0})]),
    }.get(kind, lambda: getattr(cb, kind)(**given))()
    study = begin(prior=prior, policy=cb.UCL())
    for arm, reward in ((3, 4.0), (4, 3.0), (20, 3.5), (30, -3.0), (31, -2.0)):
        study.observe(arm, reward)
    found, belief, rng = study.best(), study.belief, np.random.default_rng(99)
    draws = np.array([belief.sample(rng) for _ in range(4096)])
    leader = int(belief.mean.argmax())
    assert found.arm == leader
    wins, loss = (draws.argmax(axis=1) == leader).mean(), draws.max(axis=1) - draws[:, leader]
    assert abs(found.probability - wins) < 4 * math.sqrt(2) * math.sqrt(wins * (1 - wins) / 4096)
    assert abs(found.expected_loss - loss.mean()) < 4 * math.sqrt(2) * loss.std() / 64


@pytest.mark.parametrize(("places", "names"), [(1, 40), (2, 10)])
def test_arms_that_are_one_and_the_same_are_no_rivals(begin, places, names):
    prior = related(mean=0.0, coordinates=np.repeat(np.arange(places) * 5.0, names))
    study = begin(prior=prior, policy=cb.UCL())
    study.observe(0, 1.0)
    alone = begin("alone", prior=related(mean=0.0, coordinates=np.arange(places) * 5.0), policy=cb.UCL())
    alone.observe(0, 1.0)
    assert study.best().probability == pytest.approx(alone.best().probability, abs=0.04)
    assert study.best().expected_loss == pytest.approx(alone.best().expected_loss, abs=0.1)


def test_a_rare_large_loss_is_not_taken_for_none(begin):
    prior = cb.Independent(mean=[0.0, -3900.0], variance=[1e-6, 1e6], noise_variance=1.0)
    found = begin(prior=prior, policy=cb.UCL()).best()
    z = 3900.0 / math.sqrt(1e6 + 1e-6)
    loss = math.sqrt(1e6 + 1e-6) * (stats.norm.pdf(z) - z * stats.norm.sf(z))  # which 4,096 draws hardly ever see
    assert found.expected_loss == pytest.approx(loss, rel=1e-6)
    assert found.probability <= stats.norm.cdf(z) * (1 + 1e-12)
    assert not found.enough(0.001)
    assert found.enough(0.02)


def test_the_best_while_nothing_is_known_of_some_arm(begin):
    study = begin(prior=cb.Independent(variance=np.inf, noise_variance=1.0, arms=3), policy=cb.UCL())
    with pytest.raises(ValueError, match="nothing is known"):
        study.best()
    study.observe(1, 5.0)
    found = study.best()
    assert (found.arm, found.expected_loss) == (1, math.inf)
    assert math.isnan(found.probability)
    assert not found.enough(1e300)


def test_of_arms_of_the_same_mean_the_one_known_best_is_named(begin):
    """Told nothing, what was learnt of one arm is all that is expected of the others."""
    study = begin(prior=cb.Vague(coordinates=LINE), policy=cb.Gittins(9), arms=None)
    for reward in (31.0, 32.5, 33.0, 30.0):
        study.observe(3, reward)
    assert np.ptp(study.belief.mean) < 1e-9
    assert study.best().arm == 3
    assert study.overview().top[0].arm == 3


def test_a_single_arm_is_the_best(begin):
    study = begin(prior=cb.Correlated(covariance=[[2.0]], noise_variance=1.0), policy=cb.UCL())
    assert study.ask().arm == 0
    assert study.explain(1).runner_up is None
    found = study.best()
    assert (found.probability, found.expected_loss) == (1.0, 0.0)
    assert found.enough(0.0)


def test_noise_that_is_not_as_stated_is_noticed_both_ways(begin):
    rng = np.random.default_rng(0)
    for name, factor, suspicious in (("as stated", 1.0, False), ("larger", 2.0, True), ("smaller", 0.4, True)):
        study = begin(name)
        groups = []
        for arm in range(6):
            groups.append(rng.normal(20 + arm, 2.0 * factor, size=10))
            for reward in groups[-1]:
                study.observe(arm, reward)
        found = study.noise()
        squares = sum(((group - group.mean()) ** 2).sum() for group in groups) / 4.0
        assert found.chi_square == pytest.approx(squares)
        assert found.degrees == 54
        times = np.mean([stats.chi2.pdf(squares / f**2, 54) / f**2 for f in FACTORS]) / stats.chi2.pdf(squares, 54)
        assert found.p == pytest.approx(min(1 / times, 1.0))
        assert found.suspicious is suspicious
    study.retract(1)
    assert study.noise().degrees == 53


def test_noise_as_stated_is_seldom_doubted_however_often_one_looks():
    """Of 2,000 campaigns of 2,000 looks, where a fixed level of 1 in 1,000 doubts more than 1 in 40."""
    squares = np.cumsum(np.square(np.random.default_rng(1).standard_normal((2_000, 2_000))), axis=1)
    looks = np.unique(np.geomspace(1, 2_000, 120).astype(int))
    doubted = [max(log_times(campaign[n - 1], n) for n in looks) >= math.log(100) for campaign in squares]
    assert np.mean(doubted) <= 0.01 + 2 * math.sqrt(0.01 * 0.99 / 2_000)
    always = 2 * np.minimum(stats.chi2.cdf(squares[:, looks - 1], looks), stats.chi2.sf(squares[:, looks - 1], looks))
    assert np.mean(always.min(axis=1) < 1e-3) > 0.02
    louder = [max(log_times(1.5 * campaign[n - 1], n) for n in looks) >= math.log(100) for campaign in squares[:200]]
    assert np.mean(louder) > 0.99


def test_noise_cannot_be_judged_without_a_repeated_arm_or_of_rewards_0_and_1(begin):
    study = begin()
    study.observe(0, 1.0)
    study.observe(1, 99.0)
    assert study.noise() is None
    ones = begin("ones", prior=cb.Beta(arms=2), policy=cb.BayesUCB(horizon=9))
    for _ in range(5):
        ones.observe(0, 1)
    assert ones.noise() is None
    with pytest.raises(ValueError, match="0 or 1"):
        ones.observe(0, 0.5)


def test_arms_that_are_one_and_the_same_surprise_each_other(tmp_path):
    prior = cb.Correlated(covariance=np.full((3, 3), 4.0), noise_variance=1e-18)  # singular, also with the noise
    with cb.Study.create(tmp_path / "survey.db", "meadow", prior=prior, policy=cb.UCL()) as study:
        for arm, reward in enumerate((1.0, 1.0, 3.0)):
            study.observe(arm, reward)
        worst = study.surprises()[0]
    assert (worst.arm, worst.average) == (2, 3.0)
    assert worst.expected == pytest.approx(1.0, abs=1e-8)


def test_a_mistyped_reward_is_a_surprise_by_what_is_expected_without_it(begin):
    study = begin(arms=list("abcdef"))
    rewards = {"a": 28.0, "b": 31.0, "c": 304.0, "d": 30.0}
    for name, reward in rewards.items():
        study.observe(name, reward)
    study.observe("d", 33.0)
    (found,) = [one for one in study.surprises() if one.name == "c"]
    without = related().observe([0, 1, 3, 3], [28.0, 31.0, 30.0, 33.0])  # what all else says, computed without it
    deviation = math.sqrt(without.variance[2] + 4.0)
    assert found.expected == pytest.approx(without.mean[2])
    assert found.deviation == pytest.approx(deviation)
    assert found.z == pytest.approx((304.0 - without.mean[2]) / deviation)
    assert study.surprises()[0] == found  # the worst comes first
    study.amend(3, 30.4)
    assert study.surprises() == []
    flat = begin("flat", prior=cb.Independent(noise_variance=1.0, arms=2), policy=cb.UCL())
    flat.observe(0, 1e9)
    assert flat.surprises() == []  # nothing else speaks of it


def test_rewards_of_any_size_are_taken_as_long_as_a_belief_can_be_computed(begin):
    study = begin()
    study.observe(0, 1e300)
    study.observe(0, -1e300)
    study.observe(1, 5e-324)
    assert study.belief.sums[:2].tolist() == [0.0, 5e-324]
    study.observe(2, 1.7e308)
    number = len(events(study))
    with pytest.raises(OverflowError):
        study.observe(2, 1.7e308)
    trial = study.ask()
    with pytest.raises(OverflowError):
        study.tell(trial, -1.7e308) if trial.arm != 2 else study.tell(trial, 1.7e308)
    assert len(events(study)) == number + 1
    study.retract(4)
    study.tell(trial, 30.0)
    assert np.isfinite(study.belief.mean).all()
    other = begin("retracting")
    for reward in (1.7e308, -1.7e308, 1.7e308):
        other.observe(0, reward)
    with pytest.raises(OverflowError):
        other.retract(2)  # without it the other two could not be added
    assert other.ask().number == 4


@pytest.mark.parametrize("goal", ["max", "min"])
@pytest.mark.parametrize("reward", [1e308, -1e308, 1e160])
def test_a_reward_that_no_choice_could_be_made_with_is_refused_when_it_comes(begin, reward, goal):
    study = begin(prior=cb.Vague(coordinates=np.arange(6.0)), policy=cb.UCL(), goal=goal)
    for early in (True, False):
        number = len(events(study))
        with pytest.raises(ValueError, match=f"nothing was saved: .* got {re.escape(f'{reward:g}')}"):
            study.observe(3, reward)
        with pytest.raises(ValueError, match="nothing was saved"):
            study.observe_all([(3, 30.0, "one"), (3, reward, "two")])
        assert len(events(study)) == number
        for arm, usual in enumerate((30.0, 31.0, 28.0, 35.0, 33.0, 29.0) if early else ()):
            study.observe(arm, usual)
    study.ask()
    assert math.isfinite(study.best().expected_loss)


def test_a_reward_that_lies_too_far_from_the_others_is_refused(begin):
    study = begin(prior=cb.Independent(noise_variance=1.0, arms=2), policy=cb.UCL())
    study.observe(0, 1.7e308)
    with pytest.raises(ValueError, match=r"nothing was saved: a reward of -1.7e\+308, with those there, cannot be"):
        study.observe(1, -1.7e308)
    study.observe(1, 3.0)
    assert study.ask().arm == 0


def test_known_arms_and_unknown_ones(begin):
    prior = cb.Independent(mean=[5.0, 0.0, 1.0], variance=[0.0, np.inf, 1.0], noise_variance=1.0)
    study = begin(prior=prior, policy=cb.UCL())
    assert study.ask(2)[0].arm == 1
    study.tell(1, 3.0)
    study.observe(0, 100.0)
    assert study.belief.mean[0] == 5.0
    assert study.best().arm == 0


def test_a_covariance_that_is_singular_to_rounding(begin):
    prior = related(kernel=4 * cb.SquaredExponential(500.0))
    study = begin(prior=prior, policy=cb.CorrelatedUCL())
    for trial in study.ask(20, repeats=True):
        study.tell(trial, 31.0)
    assert study.belief.mean == pytest.approx(np.full(6, 31.0), abs=0.1)
    assert 0 < study.best().probability <= 1


def test_100_000_arms(begin):
    places = np.stack(np.divmod(np.arange(100_000), 400), axis=1).astype(float)
    prior = cb.Implicit(mean=30.0, kernel=10 * cb.Exponential(5.0), coordinates=places, noise_variance=10.0)
    study = begin(prior=prior, policy=cb.UCL())
    first = study.ask(2)
    assert first[0].arm != first[1].arm
    study.tell(first[0], 40.0)
    again = begin.also(Study.open(begin.url, "meadow"))
    assert bits(again.belief) == bits(study.belief)
    found = again.best()
    assert found.approximate
    assert not found.enough(1e9), "arms that were not drawn may cost more"
    assert "only the likeliest were compared" in best_in_words(found)


def test_one_mistyped_reward_does_not_make_correct_ones_look_wrong(begin):
    prior = related(kernel=100 * cb.SquaredExponential(3.0), noise_variance=0.01)
    study = begin(prior=prior)
    rewards = [30.0, 30.4, 30.9, 400.0, 31.5, 31.6]
    for arm, reward in enumerate(rewards):
        study.observe(arm, reward)
    study.observe(3, 31.2)
    (found,) = study.surprises()  # with the wrong one among them, its neighbours would be surprises too
    assert (found.arm, found.trial, found.reward) == (3, 4, 400.0)
    others = [0, 1, 2, 4, 5]
    for left in others:  # each by itself, from the others without the wrong one
        rest = [k for k in others if k != left]
        without = prior.observe(rest, [rewards[k] for k in rest])
        assert abs(rewards[left] - without.mean[left]) < 5 * math.sqrt(without.variance[left] + 0.01)
    with_it = prior.observe([0, 1, 3, 3, 4, 5], [30.0, 30.4, 400.0, 31.2, 31.5, 31.6])
    assert abs(30.9 - with_it.mean[2]) > 5 * math.sqrt(with_it.variance[2] + 0.01)
    assert study.snapshot().surprise(3) is None
    assert study.snapshot().surprise(7) == found  # of the same arm
    study.amend(1, -700.0)
    assert {(one.arm, one.trial) for one in study.surprises()} >= {(0, 1), (3, 4)}


def test_a_loss_of_nothing_is_said_to_be_0(begin):
    study = begin(prior=cb.Independent(mean=0.0, variance=1e6, noise_variance=1.0, arms=2), policy=cb.UCL())
    study.observe(0, 60.0)
    study.observe(1, 14.0)
    assert 0 < study.best().expected_loss < 1e-200
    assert "to stop now would cost 0 ± 0 per trial" in " ".join(study.show().split())


def test_a_runner_up_that_differs_looks_different(begin):
    prior = cb.Independent(mean=[30.0, 30.0 - 3e-8], variance=4.0, noise_variance=4.0)
    study = begin(prior=prior, policy=cb.UCL())
    said = str(study.explain(study.ask()))
    limits = re.findall(r"limit ([\d.]+)", said)
    assert len(limits) == 2
    assert limits[0] != limits[1]
    assert "tied" not in said


def test_while_there_is_no_reward_no_arm_is_the_best_so_far(begin):
    study = begin()
    study.ask()
    shown = " ".join(study.show().split())
    assert "best no reward yet" in shown
    assert "the best so far" not in shown
    study.tell(1, 31.0)
    assert "no reward yet" not in study.show()
