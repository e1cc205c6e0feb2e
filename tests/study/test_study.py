"""Studies: what is asked, told and taken back, and that the events alone decide it."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import corrbandits as cb
from corrbandits.policies import RULES
from corrbandits.study import Trial, asking, replica
from tests.support.rules import rule_called
from tests.support.studies import bits, events, related


def test_the_belief_is_the_batch_formula_on_what_was_told(begin):
    study = begin(prior=related(noise_variance=[4.0, 1.0, 2.0, 4.0, 0.5, 3.0]))
    rng = np.random.default_rng(1)
    told = []
    for _ in range(30):
        trial = study.ask()
        told.append((trial.arm, rng.normal(30, 4)))
        study.tell(trial, told[-1][1])
    X = np.zeros((30, 6))  # one row per reward: the posterior of a linear Gaussian model, by inverses
    X[np.arange(30), [arm for arm, _ in told]] = 1
    weights = X.T / study.settings.prior.noise_variance[[arm for arm, _ in told]]
    precision = np.linalg.inv(study.settings.prior.covariance)
    covariance = np.linalg.inv(precision + weights @ X)
    mean = covariance @ (precision @ np.full(6, 30.0) + weights @ [reward for _, reward in told])
    np.testing.assert_allclose(study.belief.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(study.belief.covariance, covariance, rtol=1e-7, atol=1e-9)


def test_a_trial_has_a_number_an_arm_and_a_name(begin):
    study = begin(arms=["a", "b", "c", "d", "e", "f"])
    first, second = study.ask(), study.ask()
    assert (first.number, second.number) == (1, 2)
    assert first == Trial(1, first.arm, "abcdef"[first.arm])
    assert study.open_trials == [first, second]


def test_rewards_in_any_order_give_the_same_bits(begin):
    rewards = {1: 0.1, 2: 1e16, 3: -1e16, 4: 0.3, 5: 7.7}
    seen = set()
    for k, order in enumerate(itertools.islice(itertools.permutations(rewards), 0, 120, 17)):
        study = begin(f"order {k}")
        study.ask(5)
        for trial in order:
            study.tell(trial, rewards[trial])
        seen.add(bits(study.belief))
    assert len(seen) == 1


def test_a_wrong_observation_amended_and_retracted_leaves_no_trace_in_the_belief(begin):
    wrong, right = begin("wrong"), begin("right")
    for study in (wrong, right):
        study.ask(3)
        study.tell(1, 31.0)
    wrong.tell(2, 3.3e15)
    wrong.amend(2, 33.3)
    right.tell(2, 33.3)
    wrong.tell(3, 0.1)
    wrong.retract(3)
    stray = wrong.observe(4, 1e17)
    wrong.retract(stray)
    assert bits(wrong.belief) == bits(right.belief)
    assert [event["event"] for event in events(wrong)][-6:] == [
        "told", "amended", "told", "retracted", "observed", "retracted",
    ]  # fmt: skip


def test_t_counts_what_was_told_what_is_open_and_what_was_observed(begin):
    study = begin()
    assert study.t == 1
    study.ask(3)
    assert study.t == 4
    study.tell(1, 30.0)
    study.observe(5, 31.0)
    assert study.t == 5
    study.cancel(2)
    study.retract(1)
    assert study.t == 3


def test_asking_for_eight_is_asking_eight_times_and_spreads_out(begin):
    prior = related(coordinates=np.arange(20.0))
    at_once, one_by_one = begin("at once", prior=prior), begin("one by one", prior=prior)
    batch = at_once.ask(8)
    assert batch == [one_by_one.ask() for _ in range(8)]
    assert len({trial.arm for trial in batch}) == 8
    assert begin("one", prior=prior).ask(1) == batch[:1]


EAGER = {"mean": [30.0, 30.0, 30.0, 30.0, 30.0, 90.0]}  # the last arm is so much better that a rule goes there only


def test_trials_of_one_ask_are_of_different_arms_unless_repeats_are_asked_for(begin):
    study, apart = begin(prior=related(**EAGER), policy=cb.UCL()), begin("apart", prior=related(**EAGER))
    assert [trial.arm for trial in study.ask(3, repeats=True)] == [5, 5, 5]
    assert all("apart" not in event for event in events(study))
    with pytest.raises(ValueError, match="asked for 7, there are 6"):
        apart.ask(7)
    with pytest.raises(ValueError, match="asked for 3, there are 2"):
        apart.ask(3, allowed=[1, 4])
    with pytest.raises(TypeError, match="repeats must be True or False, got 1"):
        apart.ask(2, repeats=1)
    assert apart.open_trials == []
    assert sorted(trial.arm for trial in apart.ask(6)) == list(range(6))


@pytest.mark.parametrize("rule", RULES)
def test_a_batch_of_different_arms_is_asking_for_each_without_those_before(begin, rule):
    given = {"prior": related(**EAGER), "policy": rule_called(rule), "goal": "max", "seed": 3}
    batch, alone = begin("batch", **given), begin("alone", **given)
    for study in (batch, alone):
        study.observe(1, 33.0)
    arms = [trial.arm for trial in batch.ask(4)]
    found = []
    for _ in arms:
        found.append(alone.ask(allowed=[arm for arm in range(6) if arm not in found]).arm)
    assert arms == found
    for k, number in enumerate(range(2, 6)):
        one, same = batch.explain(number), alone.explain(number)
        assert (one.replayed, one.chosen, one.runner_up) == (arms[k], same.chosen, same.runner_up)
        assert one.runner_up.arm not in arms[:k]


def test_trials_that_were_asked_for_before_they_had_to_differ_are_explained_as_before(begin):
    study = begin(prior=related(**EAGER), policy=cb.UCL())
    study.ask(3, repeats=True)  # these events are the ones that 0.1.0 wrote
    explained = [study.explain(number) for number in (1, 2, 3)]
    assert [one.replayed for one in explained] == [5, 5, 5]
    assert [one.runner_up.arm for one in explained] == [0, 0, 0]  # of the others the furthest, least known


def test_an_explanation_says_when_arms_were_tied(begin):
    study = begin(prior=cb.Independent(mean=30.0, variance=4.0, noise_variance=1.0, arms=6), policy=cb.UCL())
    first, second = study.ask(2)
    assert study.explain(first).tied == 5
    assert "; tied with 5 other arms: any of them would have done as well" in str(study.explain(first))
    assert study.explain(second).tied == 4
    study.tell(first, 90.0)
    assert study.explain(study.ask()).tied == 0
    unknown = begin("unknown", prior=cb.Independent(noise_variance=1.0, arms=3), policy=cb.UCL())
    assert [unknown.explain(trial).tied for trial in unknown.ask(3)] == [2, 1, 0]
    drawn = begin("drawn", policy=cb.Thompson())
    assert drawn.explain(drawn.ask()).tied == 0
    corners = [[0, 0], [500, 0], [400, 300], [100, 0]]  # two are 500 from the first
    paired = begin("paired", prior=related(kernel=25 * cb.Exponential(300.0), coordinates=corners), policy=cb.UCL())
    paired.observe(0, 31.0)
    assert paired.explain(paired.ask()).tied == 1


def test_the_choice_is_the_policys_on_the_belief_with_open_trials_assumed(begin):
    study = begin(policy=cb.UCL(a=2.0))
    study.ask(2)
    study.tell(1, 35.0)
    first, second = (trial.arm for trial in (*study.open_trials, study.ask()))
    prior = related()
    belief = prior.observe(events(study)[1]["arm"], 35.0)  # one rank-one update instead of the batch formula
    deviation = np.sqrt(belief.assume([first]).variance)
    limits = belief.mean + deviation * stats.norm.isf(1 / (math.sqrt(2 * math.pi * math.e) * 3.0**2))
    assert second == limits.argmax()


@pytest.mark.parametrize("rule", RULES)
def test_replay_explains_every_choice_of_every_rule(begin, rule):
    study = begin(policy=rule_called(rule))
    rng = np.random.default_rng(3)
    for k in range(12):
        trials = study.ask(2) if k % 3 == 0 else [study.ask(allowed=[0, 2, 3, 5])]
        for trial in trials[: 1 if k % 4 == 0 else 2]:
            study.tell(trial, rng.normal(30 + trial.arm, 2))
    history = study.history()
    replayed = [study.explain(trial).replayed for trial in history["trial"]]
    assert replayed == history["arm"].tolist()


def test_randomised_rules_draw_from_a_stream_keyed_by_seed_and_trial(begin):
    prior = related(coordinates=np.arange(50.0))
    first = [trial.arm for trial in begin("a", prior=prior, policy=cb.Uniform(), seed=5).ask(20, repeats=True)]
    assert first == [trial.arm for trial in begin("b", prior=prior, policy=cb.Uniform(), seed=5).ask(20, repeats=True)]
    assert first != [trial.arm for trial in begin("c", prior=prior, policy=cb.Uniform(), seed=6).ask(20, repeats=True)]
    u = [np.random.default_rng(np.random.SeedSequence(5, spawn_key=(k,))).random() for k in range(1, 21)]
    assert first == [int(50 * x) for x in u]


def test_an_explanation_gives_mean_limit_rank_and_the_runner_up(begin):
    study = begin(policy=cb.UCL(a=2.0), arms=list("abcdef"))
    study.observe("c", 34.0)
    trial = study.ask()
    found = study.explain(trial)
    belief = related().observe(2, 34.0)
    limits = cb.UCL(a=2.0).index(belief, 2)
    order = np.argsort(-limits)
    assert (found.t, found.chosen.name, found.rank) == (2, "abcdef"[order[0]], 1)
    assert found.chosen.limit == pytest.approx(limits[order[0]], rel=1e-12)
    assert found.chosen.mean == pytest.approx(belief.mean[order[0]], rel=1e-12)
    assert found.runner_up.arm == order[1]
    assert found.mean_rank == 1 + (belief.mean > belief.mean[order[0]] + 1e-9).sum()
    assert "runner-up" in str(found)
    with pytest.raises(ValueError, match="observed, not asked"):
        study.explain(1)


def test_explanations_of_the_first_tries_say_that_variance_decided(begin):
    study = begin(prior=cb.Independent(variance=np.inf, noise_variance=1.0, arms=3), policy=cb.UCL())
    trial = study.ask(allowed=[1])
    found = study.explain(trial)
    assert found.initial
    assert found.runner_up is None
    assert found.replayed == 1


def test_telling_the_same_again_is_answered_as_the_first_time(begin):
    study = begin()
    trial = study.ask()
    study.tell(trial, 31.5)
    before, number = bits(study.belief), len(events(study))
    study.tell(trial, 31.5)
    assert bits(study.belief) == before
    study.amend(trial, 32.5)
    study.tell(trial, 31.5)  # a worker's second try, after somebody amended what it told
    study.tell(trial, 32.5)
    assert len(events(study)) == number + 1


def test_another_value_is_refused_with_both(begin):
    study = begin()
    study.tell(study.ask(), 31.5)
    with pytest.raises(ValueError, match=r"31\.5.*30\.25.*amend"):
        study.tell(1, 30.25)
    assert study.history()["reward"].tolist() == [31.5]


@pytest.mark.parametrize("ended", ["cancel", "retract"])
def test_after_cancel_and_retract_a_reward_is_refused_and_observe_named(begin, ended):
    study = begin(arms=list("abcdef"))
    trial = study.ask()
    if ended == "retract":
        study.tell(trial, 30.0)
    getattr(study, ended)(trial)
    number = len(events(study))
    for again in (lambda: study.tell(trial, 30.0), lambda: study.amend(trial, 31.0)):
        with pytest.raises(ValueError, match=rf"observe\('{trial.name}', reward\)"):
            again()
    getattr(study, ended)(trial)  # twice is once
    assert len(events(study)) == number
    study.observe(trial.name, 30.0)
    assert study.belief.counts[trial.arm] == 1


def test_what_cannot_be_taken_back_says_what_can(begin):
    study = begin()
    first, second = study.ask(2)
    with pytest.raises(ValueError, match="tell its reward"):
        study.amend(first, 3.0)
    with pytest.raises(ValueError, match="cancel it"):
        study.retract(first)
    third = study.ask()
    study.cancel(third)
    with pytest.raises(ValueError, match="was cancelled and has none"):
        study.retract(third)
    study.tell(second, 3.0)
    with pytest.raises(ValueError, match=r"retract\(2\)"):
        study.cancel(second)
    with pytest.raises(ValueError, match=r"1 to 3.*got 4"):
        study.tell(4, 1.0)
    for trial in (0, 1.5, "1", True, None):
        with pytest.raises((ValueError, TypeError)):
            study.tell(trial, 1.0)
    with pytest.raises(ValueError, match="another study's"):
        study.tell(Trial(1, first.arm, "x"), 1.0)
    for reward in (math.nan, math.inf, "3", None, 1j, [1.0]):
        with pytest.raises((ValueError, TypeError)):
            study.tell(first, reward)
    assert len(events(study)) == 6


def test_a_trial_expires_when_the_next_ask_notices_and_its_late_reward_is_taken_once(begin, monkeypatch):
    clock = [1000.0]
    for module in (replica, asking):
        monkeypatch.setattr(module, "now", lambda: clock[0])
    study = begin(timeout=60.0)
    late, second = study.ask(2)
    clock[0] += 59
    study.tell(second, 30.0)
    assert study.history()["status"].tolist() == ["open", "told"]
    clock[0] += 2
    assert study.history()["status"].tolist() == ["open", "told"]  # nobody has asked yet
    third = study.ask()
    assert study.history()["status"].tolist() == ["expired", "told", "open"]
    assert [event["event"] for event in events(study)][-2:] == ["expired", "asked"]
    assert study.explain(third).replayed == third.arm
    assert study.explain(third).open == ()
    assert study.explain(third).t == 2
    study.tell(late, 29.0)
    study.tell(late, 29.0)
    with pytest.raises(ValueError, match="29"):
        study.tell(late, 28.0)
    assert study.belief.counts.sum() == 2


def test_arms_that_cannot_be_tried_again_are_not(begin):
    study = begin(repeat=False)
    arms = [trial.arm for trial in study.ask(3)]
    study.observe(next(arm for arm in range(6) if arm not in arms), 30.0)
    study.cancel(1)  # it was not tried
    rest = [study.ask().arm for _ in range(3)]
    assert sorted([*arms[1:], *rest]) == sorted(set(range(6)) - {study.history()["arm"][3]})
    with pytest.raises(ValueError, match="asked for 1, left of those allowed 0"):
        study.ask()
    few = begin("few", repeat=False)
    with pytest.raises(ValueError, match="asked for 7, left of those allowed 6"):
        few.ask(7)
    assert few.open_trials == []
    assert begin("again").ask(7, repeats=True)[-1].number == 7


def test_only_what_is_within_reach_is_asked_for(begin):
    study = begin(arms=list("abcdef"))
    mask = np.array([False, False, True, False, False, True])
    for allowed in ([2, 5], ["c", "f"], mask, np.array([5, 2, 2])):
        assert {trial.arm for trial in study.ask(3, allowed=allowed, repeats=True)} <= {2, 5}
    for wrong in ([], ["g"], [6], "c", [-1], [1.5]):
        with pytest.raises((ValueError, TypeError)):
            study.ask(allowed=wrong)
    assert study.explain(4).replayed == study.history()["arm"][3]


@pytest.mark.parametrize("kind", ["gaussian", "beta"])
def test_who_minimises_asks_as_who_maximises_the_opposite(begin, kind):
    if kind == "beta":
        down, up = cb.Beta(successes=[1, 2, 3], failures=2.0), cb.Beta(successes=2.0, failures=[1, 2, 3])
        policy, turned = cb.BayesUCB(horizon=100), lambda reward: 1 - reward
    else:
        down, up = related(mean=[30.0, 20.0, 10.0, 0.0, 5.0, 7.0]), related(mean=[-30.0, -20.0, -10.0, 0.0, -5.0, -7.0])
        policy, turned = cb.CorrelatedUCL(a=2.0), lambda reward: -reward
    least, most = begin("least", prior=down, policy=policy, goal="min"), begin("most", prior=up, policy=policy)
    rng = np.random.default_rng(0)
    for _ in range(15):
        trial = least.ask()
        assert trial == most.ask()
        reward = float(rng.integers(2)) if kind == "beta" else rng.normal(10, 10)
        least.tell(trial, reward)
        most.tell(trial, turned(reward))
    np.testing.assert_allclose(least.belief.mean, [turned(m) for m in most.belief.mean], rtol=1e-12, atol=1e-12)
    low, high = least.best(), most.best()
    assert (low.arm, low.probability, low.expected_loss) == (high.arm, high.probability, high.expected_loss)
    assert low.mean == pytest.approx(turned(high.mean))
    assert least.belief.mean[low.arm] == pytest.approx(least.belief.mean.min())
    one, other = least.explain(12), most.explain(12)
    assert one.chosen.limit == pytest.approx(turned(other.chosen.limit))
    assert one.rank == other.rank


def test_a_key_makes_an_observation_safe_to_repeat(begin):
    study = begin()
    first = study.observe(2, 31.0, key="receipt 17")
    assert study.observe(2, 31.0, key="receipt 17") == first
    study.amend(first, 32.0)
    assert study.observe(2, 32.0, key="receipt 17") == first
    assert study.observe(2, 31.0) != first  # without one, it is another measurement
    for arm, reward in ((3, 31.0), (2, 30.0)):
        with pytest.raises(ValueError, match="receipt 17"):
            study.observe(arm, reward, key="receipt 17")
    study.retract(study.observe(3, 1.0, key="receipt 18"))
    with pytest.raises(ValueError, match="another key"):
        study.observe(3, 1.0, key="receipt 18")
    assert study.belief.counts.tolist() == [0, 0, 2, 0, 0, 0]
    for key in ("", "a\x00b", 3):
        with pytest.raises((ValueError, TypeError)):
            study.observe(2, 1.0, key=key)
