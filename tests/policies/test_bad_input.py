"""What policies refuse: what was expected, what was given, and nothing else."""

import numpy as np
import pytest

from corrbandits.policies import GPUCB, UCB1, UCL, BayesUCB, CorrelatedUCL, EpsilonGreedy, Greedy, KnowledgeGradient
from tests.support.contracts import BETA_PRIORS, GAUSSIAN_PRIORS

NAN, INF = float("nan"), float("inf")
NOT_NUMBERS = ["3", None, 1j, [1.0, "2"], [[1.0], [2.0, 3.0]], {}, {1.0}, object, np.datetime64("2020-01-01"), b"1"]
HUGE = 10**400


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda x: UCL(K=x), "K must be above 0"),
        (lambda x: UCL(a=x), "a must be above 0"),
        (lambda x: CorrelatedUCL(K=x), "K must be above 0"),
        (lambda x: CorrelatedUCL(a=x), "a must be above 0"),
        (lambda x: CorrelatedUCL(nu=x), "nu must be above 0 and at most 1"),
        (lambda x: GPUCB(delta=x), "delta must be above 0 and at most 1"),
        (lambda x: GPUCB(scale=x), "scale must be above 0"),
        (lambda x: UCB1(scale=x), "scale must be above 0"),
        (lambda x: BayesUCB(horizon=9, c=x - 1e-9), "c must be at least 0"),
        (lambda x: EpsilonGreedy(epsilon=x - 1e-9), "epsilon must be at least 0 and at most 1"),
    ],
)
def test_parameters_have_their_ranges(make, match):
    for value in (0.0, -1.0, NAN, INF, -INF):
        with pytest.raises(ValueError, match=f"{match}( and finite)?, got .*"):
            make(value)


@pytest.mark.parametrize("make", [lambda: CorrelatedUCL(nu=1.5), lambda: GPUCB(delta=1.5), lambda: EpsilonGreedy(1.5)])
def test_shares_are_at_most_1(make):
    with pytest.raises(ValueError, match=r"at most 1, got 1\.5"):
        make()


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
def test_parameters_are_numbers(value):
    for make in (UCL, CorrelatedUCL):
        with pytest.raises(TypeError, match="K must be numbers"):
            make(K=value)
    with pytest.raises(TypeError, match="epsilon must be numbers"):
        EpsilonGreedy(value)
    with pytest.raises(TypeError, match="delta must be numbers"):
        GPUCB(delta=value)


@pytest.mark.parametrize("factor", [0, 1, "false", None])
def test_the_factor_is_on_or_off(factor):
    with pytest.raises(TypeError, match="factor must be True or False, got"):
        CorrelatedUCL(factor=factor)


@pytest.mark.parametrize("rule", [BayesUCB, KnowledgeGradient])
def test_a_horizon_is_a_whole_number_above_0(rule):
    for horizon in (0, -5):
        with pytest.raises(ValueError, match=f"horizon must be at least 1, got {horizon}"):
            rule(horizon=horizon)
    for horizon in (10.0, "10", None, True, [10]):
        with pytest.raises(TypeError, match="horizon must be a whole number"):
            rule(horizon=horizon)
    with pytest.raises(ValueError, match="horizon must be at most 9223372036854775807"):
        rule(horizon=HUGE)


@pytest.mark.parametrize("horizon", [1, 2])
def test_bayes_ucb_needs_log_log_t(horizon):
    with pytest.raises(ValueError, match=f"horizon of at least 3, so that log T is above 1, got {horizon}"):
        BayesUCB(horizon=horizon)


POLICIES = [UCL(), CorrelatedUCL(), BayesUCB(horizon=99), GPUCB(), Greedy(), UCB1(), KnowledgeGradient(horizon=99)]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
class TestTime:
    def test_time_starts_at_1(self, policy):
        for t in (0, -1):
            for call in (policy.choose, policy.index):
                with pytest.raises(ValueError, match=f"t must be at least 1, got {t}"):
                    call(GAUSSIAN_PRIORS["correlated"], t)

    def test_time_is_a_whole_number(self, policy):
        for t in (1.0, 2.5, "1", None, True, NAN, [1], np.array([1, 2])):
            for call in (policy.choose, policy.index):
                with pytest.raises(TypeError, match="t must be a whole number"):
                    call(GAUSSIAN_PRIORS["correlated"], t)

    def test_time_fits(self, policy):
        for call in (policy.choose, policy.index):
            with pytest.raises(ValueError, match="t must be at most 9223372036854775807, got 1000"):
                call(GAUSSIAN_PRIORS["correlated"], HUGE)

    def test_belief_and_time_have_their_places(self, policy):
        with pytest.raises(TypeError, match="t must be a whole number, got <Correlated belief"):
            policy.choose(1, GAUSSIAN_PRIORS["correlated"])

    def test_allowed_arms_are_arms(self, policy):
        belief = GAUSSIAN_PRIORS["correlated"]
        for allowed, error, match in (
            ([], ValueError, "allowed must name at least one arm"),
            ([5], ValueError, "arms must be indices from 0 to 4, got 5"),
            ([-1], ValueError, "arms must be indices from 0 to 4, got -1"),
            ([1.0], TypeError, "arms must be whole numbers"),
            ([True] * 4, TypeError, "arms must be whole numbers"),
            ([False] * 5, ValueError, "allowed must name at least one arm"),
            ("01", TypeError, "arms must be whole numbers"),
            (3, ValueError, "arms must be a list of indices"),
        ):
            with pytest.raises(error, match=match):
                policy.choose(belief, 1, allowed=allowed)


@pytest.mark.parametrize("policy", [CorrelatedUCL(), KnowledgeGradient(horizon=9)], ids=repr)
def test_gaussian_rules_need_gaussian_beliefs(policy):
    with pytest.raises(TypeError, match=f"{type(policy).__name__} needs a Gaussian belief, got a Beta"):
        policy.choose(BETA_PRIORS["uniform"], 1)
