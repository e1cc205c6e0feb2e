"""The compiled engine on drifting beliefs, against the reference: state by state on the same histories, and in runs."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.policies import RULES
from corrbandits.simulation.engines import ENGINES, Runs
from corrbandits.simulation.engines.compiled import changing_loops
from corrbandits.simulation.engines.compiled import drifting_update as update
from corrbandits.simulation.engines.compiled.drifting_state import drifting_state
from tests.simulation.engines.test_compiled import priors
from tests.support.overlaps import overlaps, watch

WHERE = np.random.default_rng(4).uniform(0, 5, (12, 2))  # no two arms are alike, or ties would hang on rounding
MEAN = np.random.default_rng(5).normal(0, 1, 12)
CORRELATED = cb.Correlated(mean=MEAN, kernel=4 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0)
INDEPENDENT = cb.Independent(mean=MEAN, variance=np.linspace(1, 4, 12), noise_variance=1.0)
WAVES = cb.series.drift(4 * cb.Exponential(2.0), WHERE, steps=200, scale=20.0, noise_variance=1.0, seed=5)
POLICIES = {
    "UCL": cb.UCL(a=2.0),
    "printed": cb.CorrelatedUCL(a=2.0, nu=0.2),
    "printed, always initialising": cb.CorrelatedUCL(a=2.0, nu=1.0),
    "plain": cb.CorrelatedUCL(a=2.0, nu=0.2, factor=False),
    "Bayes": cb.BayesUCB(horizon=200, c=1.0),
    "GP": cb.GPUCB(),
    "greedy": cb.Greedy(),
    "horizon": cb.HorizonUCL(horizon=200),
    "Gittins": cb.Gittins(horizon=200),
    "Thompson": cb.Thompson(),
    "epsilon": cb.EpsilonGreedy(0.2),
    "uniform": cb.Uniform(),
}
PLAYED = [
    (name, kind)
    for name in POLICIES
    for kind in ("correlated", "independent")
    if (name, kind) != ("Thompson", "correlated")
]


def drifting(kind, scale=20.0):
    return cb.Drifting(prior=CORRELATED if kind == "correlated" else INDEPENDENT, scale=scale)


@pytest.mark.parametrize("name", priors())
@pytest.mark.parametrize("scale", [1e-3, 3.0, 2000.0, np.inf])
@pytest.mark.parametrize("streaks", [True, False])
def test_every_state_of_a_history_equals_the_reference(name, scale, streaks):
    belief = cb.Drifting(prior=priors()[name], scale=scale)
    rows, printed = (drifting_state(belief, np.inf, printed=one) for one in (False, True))
    rng, arm = np.random.default_rng(1), 0
    for t in range(1, 80):
        belief = belief.after(t)
        update.relax_joint(rows)
        update.relax_printed(printed)
        np.testing.assert_allclose(printed.w, np.sqrt(belief.variance) * belief.spread(), rtol=1e-10, atol=1e-12)
        for state in (rows, printed):
            np.testing.assert_allclose(state.mu, belief.mean, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(state.d, belief.variance, rtol=1e-10, atol=1e-12)
        arm = arm if streaks and rng.random() < 0.7 else int(rng.integers(belief.arms))
        reward = float(rng.normal(5, 4))
        if arm != rows.memory["arm"]:
            update.start_drifting(rows, arm)
        row = rows.memory["a"] * rows.h + rows.memory["b"] * rows.S0[arm]
        np.testing.assert_allclose(row, belief.covariance_with(arm), rtol=1e-10, atol=1e-11)
        update.observe_drifting(rows, arm, reward, belief.noise_variance[arm])
        update.observe_printed(printed, arm, reward, belief.noise_variance[arm])
        belief = belief.observe(arm, reward)


@pytest.mark.parametrize("kind", ["correlated", "independent"])
def test_loops_compiled_for_arrays_that_are_distinct_are_given_such(kind, monkeypatch):
    watched = watch(monkeypatch, changing_loops, "printed_of", "limits_of", "indices_of")
    for name in ("printed", "UCL", "Gittins"):
        cb.simulate({name: (POLICIES[name], drifting(kind))}, WAVES, 20, engine="compiled")
    assert all(loop.calls for loop in watched)
    assert [loop.found for loop in watched] == [[]] * 3


def test_arrays_that_overlap_are_found():
    room = np.zeros(3)
    assert overlaps((room, MEAN), room[1:]) == [(".0.0", ".1")]


@pytest.mark.parametrize(("name", "kind"), PLAYED)
@pytest.mark.parametrize("scale", [5.0, 400.0])
def test_both_engines_give_the_same_runs(name, kind, scale):
    players = {"policy": (POLICIES[name], drifting(kind, scale))}
    fast, plain = (cb.simulate(players, WAVES, 200, 2, seed=6, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.initialisation, plain.initialisation)


UNKNOWN = {
    "correlated": cb.Drifting(prior=CORRELATED, scale=(5.0, 400.0), parts=4),
    "independent": cb.Drifting(prior=INDEPENDENT, scale=(5.0, 400.0), parts=4),
}
SCALED = [(name, "independent") for name in ("horizon", "GP", "greedy", "epsilon", "uniform")]  # all by one loop


@pytest.mark.parametrize(("name", "kind"), [*SCALED, ("Gittins", "correlated")])
def test_where_the_scale_is_not_known_both_engines_give_the_same_runs(name, kind):
    players = {"policy": (POLICIES[name], UNKNOWN[kind])}
    fast, plain = (cb.simulate(players, WAVES, 150, 2, seed=6, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.initialisation, plain.initialisation)


@pytest.mark.parametrize(("name", "kind"), [("Gittins", "correlated"), ("horizon", "independent")])
def test_what_is_learnt_of_the_scale_is_that_of_the_reference(name, kind):
    noise, played, belief = np.random.default_rng(9).standard_normal(150), [], UNKNOWN[kind]
    for cuts in ([150], [7, 60, 1, 82]):
        runs = Runs(POLICIES[name], belief, WAVES, 150, seed=0, first=0, last=1)
        run = ENGINES["compiled"].begin(runs, np.random.default_rng(3))
        arms, rewards, done = np.empty(150, dtype=np.int32), np.empty(150), 0
        for n in cuts:
            run.advance(noise[done : done + n], arms[done : done + n], rewards[done : done + n])
            done += n
        played.append((arms.tobytes(), rewards.tobytes(), run._state.p.tobytes()))
    for t, step in enumerate(zip(arms.tolist(), rewards.tolist(), strict=True), 1):
        belief = belief.after(t).observe(*step)
    np.testing.assert_allclose(run._state.p, belief.weights, rtol=1e-9)
    assert played[0] == played[1]


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("arms", [1, 5])
def test_extremes_where_the_scale_is_not_known(unit, arms):
    prior = cb.Independent(mean=0.0, variance=np.linspace(0, 4, arms) * unit**2, noise_variance=unit**2)
    path = np.random.default_rng(2).normal(size=(60, arms)) * unit
    path[20] *= 100  # a reward that no scale has expected
    players = {"one": (cb.HorizonUCL(60), cb.Drifting(prior=prior, scale=(1e-3, 1e9), parts=5))}
    bandit = cb.ChangingBandit(path, noise_variance=unit**2)
    fast, plain = (cb.simulate(players, bandit, 60, seed=1, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)


@pytest.mark.parametrize("name", ["UCL", "printed", "Gittins", "epsilon"])
@pytest.mark.parametrize("kind", ["correlated", "independent"])
def test_without_an_end_of_the_scale_runs_are_those_of_the_prior(name, kind):
    still = CORRELATED if kind == "correlated" else INDEPENDENT
    ask = {"environment": WAVES, "horizon": 200, "runs": 2, "engine": "compiled"}
    one = cb.simulate({"a": (POLICIES[name], drifting(kind, np.inf))}, **ask)
    other = cb.simulate({"a": (POLICIES[name], still)}, **ask)
    np.testing.assert_array_equal(one.arms, other.arms)


@pytest.mark.parametrize(("name", "kind"), PLAYED)
def test_where_a_run_is_cut_into_blocks_changes_no_bit(name, kind):
    noise, played = np.random.default_rng(9).standard_normal(200), []
    for cuts in ([200], [1] * 200, [7, 60, 1, 132]):
        runs = Runs(POLICIES[name], drifting(kind), WAVES, 200, seed=0, first=0, last=1)
        run = ENGINES["compiled"].begin(runs, np.random.default_rng(3))
        arms, rewards, done = np.empty(200, dtype=np.int32), np.empty(200), 0
        for n in cuts:
            run.advance(noise[done : done + n], arms[done : done + n], rewards[done : done + n])
            done += n
        played.append((arms.tobytes(), rewards.tobytes(), run.initialisation))
    assert played[0] == played[1] == played[2]


@pytest.mark.parametrize("kind", ["correlated", "independent"])
def test_what_was_seen_before_the_first_decision_counts(kind):
    belief = drifting(kind).observe([3, 3, 7], [1.0, 2.0, 0.5])
    for policy in (cb.UCL(), cb.CorrelatedUCL(nu=0.2)):
        fast, plain = (
            cb.simulate({"a": (policy, belief)}, WAVES, 60, engine=engine) for engine in ("compiled", "reference")
        )
        np.testing.assert_array_equal(fast.arms, plain.arms)


@pytest.mark.parametrize(
    ("policy", "belief", "reason"),
    [
        (cb.Thompson(), drifting("correlated"), "needs a root of its covariance at every step"),
        (cb.KnowledgeGradient(9), drifting("correlated"), "KnowledgeGradient has no compiled loop on a Drifting"),
        (cb.UCL(), drifting("correlated").assume([1]), "awaits rewards"),
        (cb.UCL(), UNKNOWN["correlated"], "UCL needs more of a Drifting belief of unknown scale than means"),
        (cb.Greedy(), UNKNOWN["independent"].observe(0, 1.0), "has seen rewards, and the scale of its drift"),
        (cb.UCL(), drifting("correlated").after(2), "time is not that of the first decision"),
        (
            cb.UCL(),
            cb.Drifting(prior=cb.Correlated(covariance=np.eye(12), noise_variance=1e-12), scale=1e12),
            "differences would lose their digits",
        ),
        (
            cb.UCL(),
            cb.Drifting(prior=cb.Correlated(covariance=1e150 * np.eye(12), noise_variance=1.0), scale=9.0),
            "products of two leave the doubles",
        ),
    ],
)
def test_what_is_not_compiled_says_why(policy, belief, reason):
    assert reason in ENGINES["compiled"].refuses(Runs(policy, belief, WAVES, 9, 0, 0, 1))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_that_is_compiled_is_tried_here(name):
    tried = {type(policy) for policy in POLICIES.values()}
    assert (RULES[name] in changing_loops.ON_CHANGING) == (RULES[name] in tried)
