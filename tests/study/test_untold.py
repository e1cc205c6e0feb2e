"""Studies of which nothing is told but the arms: what they begin with, and that they replay bit for bit."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.belief.contradiction import FACTORS, Contradiction
from corrbandits.study.report.sentences import contradictions_in_words, decision_in_words
from tests.support.studies import bits

SITES = {"name": list("abcdef"), "x": [0.0, 1.0, 3.0, 4.0, 7.0, 8.0], "y": [0.0, 2.0, 1.0, 5.0, 2.0, 4.0]}
PLACES = np.column_stack([SITES["x"], SITES["y"]])


def told_nothing(begin, name="meadow", **settings):
    study = cb.Study.create(begin.url, name, **{"arms": SITES, "rounds": 40} | settings)
    return begin.also(study)


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        (SITES, {"coordinates": PLACES}),
        (
            {"latitude": [50.0, 51.0], "longitude": [7.0, 8.0]},
            {"coordinates": [[50, 7], [51, 8]], "distance": "great_circle"},
        ),
        ({"x": [1.0, 2.0, 4.0]}, {"coordinates": [1.0, 2.0, 4.0]}),
        (["brook", "hill"], {"arms": 2}),
    ],
)
def test_without_a_prior_all_is_learnt_but_where_the_arms_lie(begin, arms, expected):
    study = told_nothing(begin, arms=arms)
    told, by_hand = study.settings.prior.prior_arguments(), cb.Vague(**expected).prior_arguments()
    assert told.keys() == by_hand.keys()
    for name, value in told.items():
        np.testing.assert_array_equal(value, by_hand[name], err_msg=name)
    assert study.settings.policy == cb.Gittins(40)


def test_a_policy_is_recommended_for_a_prior_too_and_what_does_not_fit_is_refused(begin):
    zeros = told_nothing(begin, "zeros", arms=None, prior=cb.Beta(arms=3), rounds=50)
    assert zeros.settings.policy == cb.recommend(cb.Beta(arms=3), 50).policy
    assert told_nothing(begin, "endless", rounds=None).settings.policy == cb.Gittins()
    with pytest.raises(ValueError, match=r"rounds must be left out with a policy, got 40\. .* one: Gittins\(40\)"):
        told_nothing(begin, "both", policy=cb.UCL())
    with pytest.raises(ValueError, match="a study needs arms, got none"):
        told_nothing(begin, "none", arms=None)
    with pytest.raises(ValueError, match="horizon must be at least 1, got 0"):
        told_nothing(begin, "never", rounds=0)


def test_past_the_last_round_the_largest_mean_is_taken_and_it_is_said(begin):
    study, rng = told_nothing(begin, rounds=6), np.random.default_rng(0)
    for t in range(1, 11):
        text = " ".join(str(study.show()).split())
        assert (f"the next decision is t = {t} of 6" in text) == (t <= 6)
        assert ("past the 6 rounds: each is taken as if it were the last" in text) == (t > 6)
        largest = study.belief.mean.argmax()
        trial = study.ask()
        assert t < 6 or trial.arm == largest
        study.tell(trial, PLACES[trial.arm].sum() + rng.standard_normal())
    assert "copy 'my meadow' NEW --rounds ROUNDS" in decision_in_words(cb.Gittins(6), 7, "my meadow")
    assert decision_in_words(cb.UCL(), 7, "meadow") == "the next decision is t = 7"


def worked_on(study, seed):
    """Do what people do, in an order drawn at random; return the rewards that stand, by trial."""
    rng, standing = np.random.default_rng(seed), {}
    added = False
    for step in range(26):
        what = rng.choice(["ask", "ask", "ask", "observe", "amend", "retract", "cancel", "batch"])
        reward = float(rng.normal(30.0, 4.0))
        if step == 12:
            more = {"name": ["g", "h"], "x": [2.0, 9.0], "y": [6.0, 0.0]}
            study.add_arms(more)
            added = True
        elif what == "ask":
            trial = study.ask()
            study.tell(trial, reward)
            standing[trial.number] = trial.arm, reward
        elif what == "observe":
            arm = int(rng.integers(8 if added else 6))
            trial = study.observe(arm, reward)
            standing[trial.number] = arm, reward
        elif what == "batch":
            trials = study.ask(3)
            for trial in reversed(trials[1:]):
                study.tell(trial, reward + trial.number)
                standing[trial.number] = trial.arm, reward + trial.number
        elif what == "cancel" and study.open_trials:
            study.cancel(study.open_trials[0])
        elif what == "amend" and standing:
            trial = int(rng.choice(list(standing)))
            study.amend(trial, reward)
            standing[trial] = standing[trial][0], reward
        elif what == "retract" and standing:
            trial = int(rng.choice(list(standing)))
            study.retract(trial)
            del standing[trial]
    return standing


@pytest.mark.parametrize("told", [{}, {"length": (1.0, 5.0), "mean": (20.0, 40.0), "noise_sd": 2.0}], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_whatever_was_done_it_replays_bit_for_bit(begin, tmp_path, seed, told):
    """The witness is a belief on all arms from the beginning, given the rewards that stand in another order."""
    study = told_nothing(begin, prior=cb.Vague(coordinates=PLACES, parts=8, **told))
    standing = worked_on(study, seed)
    places = np.vstack([PLACES, [[2.0, 6.0], [9.0, 0.0]]])
    arms, rewards = zip(*reversed(standing.values()), strict=True)
    whole = cb.Vague(coordinates=places, parts=8, **told)
    half = len(arms) // 2
    expected = whole.observe(arms, rewards)
    merged = whole.observe(arms[:half], rewards[:half]).merge(whole.observe(arms[half:], rewards[half:]))
    study.export(tmp_path / "meadow.jsonl")
    others = [
        cb.Study.open(begin.url, "meadow"),
        cb.Study.import_(f"sqlite:///{tmp_path}/other.db", tmp_path / "meadow.jsonl"),
        study.copy("again"),
    ]
    assert bits(study.belief) == bits(expected) == bits(merged)
    chosen = [trial.arm for trial in study.ask(3)]
    for other in others:
        begin.also(other)
        if other is not others[0]:  # that is the same study
            assert [trial.arm for trial in other.ask(3)] == chosen
        assert bits(other.belief) == bits(expected)


def test_each_choice_of_the_past_is_explained_by_the_events_before_it(begin):
    study = told_nothing(begin, prior=cb.Vague(coordinates=PLACES, parts=8))
    worked_on(study, 1)
    entries = enumerate(study.snapshot().ledger.trials, start=1)
    asked = {trial: entry.arm for trial, entry in entries if entry.asked is not None}
    assert {trial: study.explain(trial).replayed for trial in asked} == asked
    assert len(asked) > 10


def test_a_mistyped_reward_is_pointed_out_by_what_is_learnt_without_it(begin):
    study = told_nothing(begin, arms={"x": [float(x) for x in range(12)]})
    rewards = 30 + 4 * np.sin(np.arange(12) / 3) + np.random.default_rng(3).standard_normal(12)
    for arm, reward in enumerate(rewards.round(1)):
        trial = study.observe(arm, float(reward))
        assert study.snapshot().surprise(trial) is None
    assert study.surprises() == []
    wrong = study.observe(5, 366.0)
    [found] = study.surprises()
    without = cb.Vague(coordinates=[float(x) for x in range(12)]).observe(range(12), rewards.round(1))
    assert (found.arm, found.trial, found.reward, found.rewards) == (5, 13, 366.0, 1)
    assert found.expected == pytest.approx(without.mean[5], rel=1e-9)
    assert found.deviation**2 == pytest.approx(without.variance[5] + without.noise_variance[5], rel=1e-9)
    assert study.snapshot().surprise(wrong) == found
    assert "Perhaps it was mistyped in trial 13" in study.show()


def test_rewards_of_an_arm_that_are_all_mistyped_are_judged_by_the_other_arms(begin):
    study = told_nothing(begin, arms={"x": [float(x) for x in range(12)]})
    rewards = (30 + 4 * np.sin(np.arange(12) / 3) + np.random.default_rng(3).standard_normal(12)).round(1)
    for arm in [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]:
        study.observe(arm, float(rewards[arm]))
    study.observe(5, 366.0)
    study.observe(5, 364.0)
    [found] = study.surprises()
    rest = [arm for arm in range(12) if arm != 5]
    without = cb.Vague(coordinates=[float(x) for x in range(12)]).observe(rest, rewards[rest])
    assert (found.arm, found.average, found.rewards, found.reward) == (5, 365.0, 2, 366.0)
    assert found.expected == pytest.approx(without.mean[5], rel=1e-9)
    assert found.deviation**2 == pytest.approx(without.variance[5] + without.noise_variance[5] / 2, rel=1e-9)
    assert "the rewards of 5 average 365" in study.show()


def test_rewards_of_an_arm_that_agree_are_not_taken_for_mistyped_where_a_stated_deviation_is_absurd(begin):
    line = {"x": [float(x) for x in range(20)]}
    study = told_nothing(begin, arms=line, prior=cb.Vague(coordinates=line["x"], sd=0.1))
    rng = np.random.default_rng(1)
    study.observe(0, 49.8)
    study.observe(1, 50.7)
    for _ in range(20):
        study.observe(9, float(55 + 2 * rng.standard_normal()))
    [found] = [one for one in study.surprises() if one.rewards > 1]
    assert found.arm == 9
    contradicted = study.snapshot().contradictions()
    assert contradicted[0].name == "sd"
    assert contradicted[0].log_times > 10
    assert study.snapshot().stopping(1e9).enough is False
    assert "mistyped in trial" not in study.show()
    assert "WARNING: the rewards contradict the stated sd, 0.1" in " ".join(study.show().split())


def test_what_is_contradicted_beyond_all_that_was_tried_is_said_to_be_more():
    found = contradictions_in_words([Contradiction("sd", 1e-9, 99.0, FACTORS[-1])], "meadow")
    assert "most near 1e-06 or more" in found
    assert "or more" not in contradictions_in_words([Contradiction("sd", 1e-9, 99.0, FACTORS[-2])], "meadow")


def test_equal_rewards_where_noise_was_stated_lead_to_a_copy_that_learns_it(begin):
    study = told_nothing(begin, prior=cb.Vague(coordinates=PLACES, noise_sd=1.0))
    for arm in (0, 1, 2):
        for _ in range(8):
            study.observe(arm, 30.0 + arm)
    said = " ".join(study.show().split())
    assert "rewards of the same arm vary by 0, but 1 was stated" in said
    assert "corrbandits study copy meadow NEW --learn noise." in said
