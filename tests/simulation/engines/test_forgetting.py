"""The compiled engine on windowed and discounted beliefs, against the reference: state by state, and in runs."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.policies import RULES
from corrbandits.simulation.engines import ENGINES, Runs
from corrbandits.simulation.engines.compiled import changing_loops
from corrbandits.simulation.engines.compiled import forgetting_update as update
from corrbandits.simulation.engines.compiled.forgetting_state import FEWEST_BETWEEN, forgetting_state
from tests.simulation.engines.test_drifting import CORRELATED, INDEPENDENT, POLICIES, WAVES
from tests.support.overlaps import watch

FLAT = cb.Independent(noise_variance=1.0, arms=12)
BELIEFS = {
    "window, correlated": cb.Windowed(prior=CORRELATED, window=30),
    "window, independent": cb.Windowed(prior=INDEPENDENT, window=30.5),
    "window, nothing known": cb.Windowed(prior=FLAT, window=20),
    "growing window, correlated": cb.Windowed(prior=CORRELATED, window=(2.0, 0.6)),
    "longest window, correlated": cb.Windowed(prior=CORRELATED, window=1e300),
    "shortest window, correlated": cb.Windowed(prior=CORRELATED, window=1),
    "discounted, independent": cb.Discounted(prior=INDEPENDENT, factor=0.95),
    "discounted, nothing known": cb.Discounted(prior=FLAT, factor=0.5),
    "discounted by 1": cb.Discounted(prior=INDEPENDENT, factor=1.0),
    "discounted, correlated": cb.Discounted(prior=CORRELATED, factor=0.95),
    "discounted by 1, correlated": cb.Discounted(prior=CORRELATED, factor=1.0),
    "discounted by much, correlated": cb.Discounted(prior=CORRELATED, factor=1e-3),
}
ANEW = list(BELIEFS)[-3:]
FEW = ("UCL", "printed", "Gittins")
PLAYED = [
    (name, kind)
    for name in POLICIES
    for kind in BELIEFS
    if name != "Thompson" and (name in FEW[: 2 if kind in ANEW else 3] or kind in list(BELIEFS)[:3])
]


@pytest.mark.parametrize(("name", "kind"), PLAYED)
def test_both_engines_give_the_same_runs(name, kind):
    players = {"policy": (POLICIES[name], BELIEFS[kind])}
    fast, plain = (cb.simulate(players, WAVES, 200, 2, seed=6, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.initialisation, plain.initialisation)


@pytest.mark.parametrize("noise", [1.0, 0.04])  # the least that is compiled is a hundredth of the prior variance
@pytest.mark.parametrize("length", [2.0, 20.0])
@pytest.mark.parametrize("window", [5, 200])
def test_every_state_of_a_long_run_is_that_of_the_prior_and_the_rewards_in_the_window(noise, length, window):
    prior = cb.Correlated(kernel=4 * cb.Exponential(length), coordinates=cb.landscapes.grid(3, 4), noise_variance=noise)
    state = forgetting_state(cb.Windowed(prior=prior, window=window), 10**6, np.inf)
    rng, steps = np.random.default_rng(2), []
    for t in range(1, 1500):
        update.forget_joint(state)
        if t % 7 == 0 or state.memory["back"] == FEWEST_BETWEEN:  # when most was taken back, too
            lately = steps[max(t - 1 - window, 0) :]
            witness = prior.observe(*map(list, zip(*lately, strict=True))) if lately else prior
            np.testing.assert_allclose(state.mu, witness.mean, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(state.d, witness.variance, rtol=1e-9)
        arm = int(rng.integers(12) if rng.random() < 0.5 else 3)
        steps.append((arm, float(rng.normal(50.0, 3.0))))
        update.observe_windowed(state, *steps[-1], noise)


def test_rewards_that_are_as_good_as_forgotten_are_forgotten():
    players = {"greedy": (cb.Greedy(), cb.Discounted(prior=cb.Independent(noise_variance=1.0, arms=3), factor=0.5))}
    bandit = cb.GaussianBandit([0.0, 1.0, 2.0], noise_variance=1.0)
    fast, plain = (cb.simulate(players, bandit, 2_500, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)
    assert (fast.counts > 3).all()  # after some 330 steps without a reward an arm is tried anew


@pytest.mark.parametrize("prior", [CORRELATED, INDEPENDENT, FLAT], ids=["correlated", "independent", "nothing known"])
def test_a_huge_reward_leaves_nothing_behind(prior):
    path = np.random.default_rng(3).normal(size=(120, 12))
    path[7] *= 1e15
    bandit = cb.ChangingBandit(path, noise_variance=1.0)
    players = {"ucl": (cb.UCL(), cb.Windowed(prior=prior, window=20))}
    fast, plain = (cb.simulate(players, bandit, 120, seed=2, engine=engine) for engine in ("compiled", "reference"))
    np.testing.assert_array_equal(fast.arms, plain.arms)


@pytest.mark.parametrize("kind", [kind for kind in BELIEFS if "," in kind])
def test_loops_compiled_for_arrays_that_are_distinct_are_given_such(kind, monkeypatch):
    watched = watch(monkeypatch, changing_loops, "limits_of")
    cb.simulate({"ucl": (cb.UCL(), BELIEFS[kind])}, WAVES, 20, engine="compiled")
    assert watched[0].calls
    assert not watched[0].found


@pytest.mark.parametrize(
    "kind", ["window, correlated", "window, independent", "discounted, nothing known", "discounted, correlated"]
)
def test_where_a_run_is_cut_into_blocks_changes_no_bit(kind):
    noise, played = np.random.default_rng(9).standard_normal(200), []
    for cuts in ([200], [1] * 200, [7, 60, 1, 132]):
        runs = Runs(cb.UCL(), BELIEFS[kind], WAVES, 200, seed=0, first=0, last=1)
        run = ENGINES["compiled"].begin(runs, np.random.default_rng(3))
        arms, rewards, done = np.empty(200, dtype=np.int32), np.empty(200), 0
        for n in cuts:
            run.advance(noise[done : done + n], arms[done : done + n], rewards[done : done + n])
            done += n
        played.append((arms.tobytes(), rewards.tobytes(), run.initialisation))
    assert played[0] == played[1] == played[2]


@pytest.mark.parametrize(
    ("policy", "belief", "reason"),
    [
        (cb.Thompson(), BELIEFS["window, correlated"], "Thompson has no compiled loop on a Windowed belief"),
        (cb.Thompson(), BELIEFS["discounted, correlated"], "Thompson has no compiled loop on a Discounted belief"),
        (
            cb.UCL(),
            cb.Discounted(prior=cb.Correlated(covariance=np.eye(12), noise_variance=1e-9), factor=0.9),
            "differences would lose their digits",
        ),
        (cb.UCL(), BELIEFS["window, correlated"].observe(0, 1.0), "has seen or awaits rewards"),
        (
            cb.UCL(),
            cb.Windowed(prior=cb.Correlated(covariance=np.eye(12), noise_variance=1e-3), window=9),
            "rewards taken back would lose their digits",
        ),
    ],
)
def test_what_is_not_compiled_says_why(policy, belief, reason):
    assert reason in ENGINES["compiled"].refuses(Runs(policy, belief, WAVES, 9, 0, 0, 1))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_that_is_compiled_is_tried_here(name):
    tried = {type(POLICIES[policy]) for policy, _ in PLAYED} | {cb.Thompson}
    assert (RULES[name] in changing_loops.ON_CHANGING) == (RULES[name] in tried)
