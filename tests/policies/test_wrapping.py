"""Rules around a rule: in the limit each is the rule within, exactly."""

import math

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.policies import IndexPolicy

WHERE = np.random.default_rng(7).uniform(0, 5, (9, 2))
TRUTH = np.random.default_rng(8).normal(0, 2, 9)
BELIEFS = {
    "joint": cb.Correlated(kernel=4 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0),
    "half known": cb.Independent(mean=TRUTH + 0.5, variance=[np.inf, 4.0, 1.0] * 3, noise_variance=1.0),
    "told nothing": cb.Vague(coordinates=WHERE, parts=6),
}
RULES = {
    "UCL": cb.UCL(a=2.0),
    "printed": cb.CorrelatedUCL(nu=0.5),
    "Gittins": cb.Gittins(40),
    "Bayes": cb.BayesUCB(horizon=40, c=1.0),
    "UCB1": cb.UCB1(),
    "Greedy": cb.Greedy(),
    "gradient": cb.KnowledgeGradient(horizon=40),
    "Thompson": cb.Thompson(),
    "epsilon": cb.EpsilonGreedy(0.3),
    "uniform": cb.Uniform(),
}
LIMITS = {
    "block 1": lambda rule: cb.Blocked(rule, length=1),
    "temperature 0": lambda rule: cb.Softmax(rule, temperature=0.0),
    "M = inf": lambda rule: cb.Satisficing(rule, M=math.inf),
    "no cost": lambda rule: cb.Travelling(rule, cb.Moves(), horizon=40),
    "floor -inf": lambda rule: cb.Safe(rule, floor=-math.inf),
}


OF_INDICES = ("temperature 0", "M = inf", "no cost")
PAIRS = [
    (limit, name)
    for limit in LIMITS
    for name, rule in RULES.items()
    if limit not in OF_INDICES or isinstance(rule, IndexPolicy)
]


@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.parametrize(("limit", "name"), PAIRS)
def test_in_the_limit_every_choice_is_the_rules_own(limit, name, belief):
    rule, belief, rng = RULES[name], BELIEFS[belief], np.random.default_rng(3)
    wrapper = LIMITS[limit](rule)
    if isinstance(belief, cb.Vague) and name in ("printed", "gradient"):
        with pytest.raises(TypeError, match="needs a Gaussian belief"):
            wrapper.choose(belief, 1)
        return
    last = None
    for t in range(1, 41):
        np.testing.assert_array_equal(wrapper.pending(belief), rule.pending(belief))
        for allowed in (None, [7, 2, 5]):
            rngs = np.random.default_rng(t), np.random.default_rng(t)
            mine = wrapper.choose(belief, t, rng=rngs[0], allowed=allowed, last=last)
            assert mine == rule.choose(belief, t, rng=rngs[1], allowed=allowed, last=last)
            assert rngs[0].bit_generator.state == rngs[1].bit_generator.state
        last = wrapper.plan(belief, t, rng=np.random.default_rng(t), last=last)[0]
        belief = belief.observe(last, TRUTH[last] + rng.standard_normal())


@pytest.mark.parametrize("engine", ["reference", "auto"])
@pytest.mark.parametrize(
    ("name", "belief"), [("UCL", "joint"), ("printed", "joint"), ("Gittins", "half known"), ("Thompson", "joint")]
)
def test_in_the_limit_whole_runs_are_the_rules_own(name, belief, engine):
    bandit, prior, rule = cb.GaussianBandit(TRUTH, 1.0), BELIEFS[belief], RULES[name]
    players = {"itself": rule} | {limit: LIMITS[limit](rule) for limit, other in PAIRS if other == name}
    trace = cb.simulate({who: (policy, prior) for who, policy in players.items()}, bandit, 40, 3, engine=engine)
    for who in players:
        np.testing.assert_array_equal(trace.arms.sel(policy=who), trace.arms.sel(policy="itself"))
        np.testing.assert_array_equal(trace.initialisation.sel(policy=who), trace.initialisation.sel(policy="itself"))


@pytest.mark.parametrize("limit", LIMITS)
def test_what_a_rule_is_besides_its_choice_is_kept(limit):
    for rule in (cb.UCL(a=2.0), cb.Gittins(30)):
        wrapper, times = LIMITS[limit](rule), np.arange(1, 20)
        assert wrapper.ordered == rule.ordered
        np.testing.assert_array_equal(wrapper.schedule(times, 9), rule.schedule(times, 9))
        assert wrapper == LIMITS[limit](rule)
        assert hash(wrapper) == hash(LIMITS[limit](rule))


@pytest.mark.parametrize("limit", LIMITS)
def test_a_rule_goes_around_a_rule(limit):
    with pytest.raises(TypeError, match=r"goes around a rule such as UCL\(\), got 'UCL'"):
        LIMITS[limit]("UCL")


@pytest.mark.parametrize("limit", [limit for limit in LIMITS if limit in OF_INDICES])
def test_what_compares_indices_goes_around_a_rule_that_has_one(limit):
    with pytest.raises(TypeError, match="compares the indices of a rule, but Thompson has none"):
        LIMITS[limit](cb.Thompson())


def test_rules_go_around_rules_that_go_around_rules():
    bandit = cb.GaussianBandit(TRUTH, 1.0)
    rule = cb.Blocked(cb.Safe(cb.Softmax(cb.UCL(), temperature=0.5), floor=-1.0), length=4)
    trace = cb.simulate({"a": (rule, BELIEFS["joint"])}, bandit, 60, 2)
    changes = np.flatnonzero(np.diff(trace.arms.values[0], axis=1).any(axis=0)) + 2  # at these times
    assert (changes % 4 == 1).all()
