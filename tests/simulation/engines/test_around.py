"""Rules around another rule: the compiled engine makes the decisions of the reference, whatever is around what."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits.simulation.engines import ENGINES, Runs
from corrbandits.simulation.engines.compiled.around_loops import VALUES, within_of
from corrbandits.simulation.engines.compiled.around_mixed import mixed_limits
from corrbandits.simulation.engines.compiled.around_state import layers_of
from corrbandits.simulation.engines.compiled.drifting_state import drifting_state
from corrbandits.simulation.engines.compiled.state import PROGRESS, Steps, record, state_of

ARMS = 12
WHERE = np.random.default_rng(4).uniform(0, 5, (ARMS, 2))
MEAN = np.random.default_rng(5).normal(0, 1, ARMS)
BANDIT = cb.GaussianBandit(np.random.default_rng(6).normal(0, 2, ARMS), 1.0, WHERE)
GRAPH = [(arm, (arm + 1) % ARMS) for arm in range(ARMS)] + [(0, 5, 2.0), (3, 9, 1.5)]
MOVES = cb.Moves(per_move=0.5, per_distance=0.3, coordinates=WHERE)

KNOWN = cb.Independent(mean=MEAN, variance=4.0, noise_variance=1.0)
FIELD = cb.Correlated(mean=MEAN, kernel=4 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0)
LASTING = {
    "independent": KNOWN,
    "flat": cb.Independent(noise_variance=1.0, arms=ARMS),
    "half known": cb.Independent(mean=MEAN, variance=[np.inf, 4.0, 0.0, 1.0] * 3, noise_variance=1.0),
    "correlated": FIELD,
    "seen": FIELD.observe([3, 3, 7], [1.0, 2.0, 0.5]),
}
FORGETTING = {
    "window": cb.Windowed(prior=FIELD, window=30),
    "window apart": cb.Windowed(prior=LASTING["flat"], window=(2.0, 0.6)),
    "discount apart": cb.Discounted(prior=LASTING["half known"], factor=0.95),
}
UNTOLD = {"told nothing": cb.Vague(coordinates=WHERE), "nor of places": cb.Vague(arms=ARMS)}


def around_any(rule):
    """Rules around any rule."""
    return {
        "blocked": cb.Blocked(rule, length=4),
        "blocks within blocks": cb.Blocked(cb.Blocked(rule, length=6)),
        "on a graph": cb.OnGraph(rule, GRAPH),
        "on a graph, asked anew": cb.Blocked(cb.OnGraph(rule, GRAPH, length=2), length=2),
    }


def around_index(rule):
    """Rules around a rule with an index."""
    return {
        "soft": cb.Softmax(rule, temperature=0.5),
        "cooling": cb.Softmax(rule),
        "enough": cb.Satisficing(rule, M=1.5),
        "enough, else soft": cb.Satisficing(cb.Softmax(rule, temperature=0.3), M=2.5),
        "travelling": cb.Travelling(rule, MOVES, horizon=150),
        "travelling, soft at first": cb.Travelling(cb.Softmax(rule), MOVES),
    }


def around_safe(rule):
    """Rules with a floor, inside and outside of others."""
    return {
        "safe": cb.Safe(rule, floor=-2.0, delta=0.2),
        "safe blocks": cb.Safe(cb.Blocked(rule), floor=-1.0),
        "twice safe": cb.Safe(cb.Safe(rule, floor=-4.0, delta=0.1), floor=-2.0, delta=0.2),
        "a safe way": cb.Safe(cb.OnGraph(rule, GRAPH, length=2), floor=-3.0, delta=0.3),
        "a way to what is safe": cb.OnGraph(cb.Safe(cb.Blocked(rule, length=3), floor=-2.0, delta=0.2), GRAPH),
        "nothing is safe": cb.Safe(rule, floor=50.0),
    }


def all_around(rule):
    everything = {**around_any(rule), **around_index(rule), **around_safe(rule)}
    enough = cb.Travelling(cb.Satisficing(rule, M=1.0), MOVES)
    return {**everything, "four deep": cb.Blocked(cb.Safe(enough, floor=-3.0, delta=0.3), length=3)}


def same_runs(policy, belief, bandit=BANDIT, horizon=150):
    fast, plain = (
        simulate({"a": (policy, belief)}, bandit, horizon, 3, seed=6, engine=engine, progress=False)
        for engine in ("compiled", "reference")
    )
    np.testing.assert_array_equal(fast.arms, plain.arms)
    np.testing.assert_allclose(fast.rewards, plain.rewards, rtol=1e-14)
    np.testing.assert_array_equal(fast.initialisation, plain.initialisation)
    return fast


@pytest.mark.parametrize("kind", LASTING)
@pytest.mark.parametrize("name", all_around(cb.UCL()))
def test_both_engines_give_the_same_runs(name, kind):
    same_runs(all_around(cb.UCL(a=2.0))[name], LASTING[kind])


WITHIN = {
    "printed": cb.CorrelatedUCL(a=2.0, nu=0.5),
    "horizon": cb.HorizonUCL(150),
    "Gittins": cb.Gittins(150),
    "gradient": cb.KnowledgeGradient(150),
    "UCB1": cb.UCB1(),
}


@pytest.mark.parametrize(  # every pair is compiled anew: all rules on one kind of arms, one that differs on the other
    ("rule", "kind"), [*((rule, "half known") for rule in WITHIN), ("printed", "correlated")]
)
@pytest.mark.parametrize("name", ["blocked", "cooling", "enough", "travelling", "safe", "four deep"])
def test_around_every_index(name, rule, kind):
    same_runs(all_around(WITHIN[rule])[name], LASTING[kind])


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (cb.Thompson(), "correlated"),
        (cb.Thompson(), "half known"),
        (cb.EpsilonGreedy(0.2), "half known"),
        (cb.Uniform(), "half known"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["blocked", "on a graph", "safe", "a safe way"])
def test_around_rules_that_draw(name, rule, kind):
    same_runs({**around_any(rule), **around_safe(rule)}[name], LASTING[kind])


@pytest.mark.parametrize("rule", [cb.CorrelatedUCL(a=2.0, nu=0.5), cb.Gittins(150)], ids=repr)
@pytest.mark.parametrize("name", ["blocked", "on a graph", "cooling", "safe", "four deep"])
def test_on_beliefs_that_drift(name, rule):
    same_runs(all_around(rule)[name], cb.Drifting(prior=FIELD, scale=40.0))


@pytest.mark.parametrize(  # both kinds of independent arms are played by one loop
    ("rule", "kind"),
    [
        (cb.CorrelatedUCL(a=2.0, nu=0.5), "window"),
        (cb.UCL(a=2.0), "window apart"),
        (cb.UCL(a=2.0), "discount apart"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", all_around(cb.UCL()))
def test_on_beliefs_that_forget(name, rule, kind):
    same_runs(all_around(rule)[name], FORGETTING[kind])


@pytest.mark.parametrize("name", [*around_any(cb.UCL()), "cooling", "enough", "travelling"])
def test_on_a_drift_whose_scale_is_not_known(name):
    same_runs(all_around(cb.Gittins(150))[name], cb.Drifting(prior=FIELD, scale=(5.0, 500.0), parts=4))


def values_of(rule, value, belief, state, t):
    """What the part of a loop that gives values to arms writes, alone."""
    layers, within = layers_of(rule, belief, recurs=False), within_of(rule, belief, np.random.default_rng(3))
    room = np.zeros(ARMS), belief.sums, record(PROGRESS), np.zeros(1), np.zeros(1, dtype=np.int32), np.zeros(1)
    steps = Steps(BANDIT.means, 0, np.ones(ARMS), False, np.ones(ARMS), *room, done=t - 1, before=7)
    value(state, steps, layers, within, float(rule.schedule(np.array([t]), ARMS)[0]))
    return layers.values


@pytest.mark.parametrize("kind", ["lasting", "drifting"])
@pytest.mark.parametrize("rule", [cb.UCL(a=2.0), cb.Gittins(150), cb.UCB1(), cb.EpsilonGreedy(0.0)], ids=repr)
def test_values_of_correlated_arms_are_the_rules_indices(rule, kind):
    """The one part of a loop that differs from rule to rule: whole loops of few of them are compiled here."""
    belief = {"lasting": FIELD, "drifting": cb.Drifting(prior=FIELD, scale=40.0)}[kind].observe(
        [3, 3, 7], [1.0, 2.0, 0.5]
    )
    state = state_of(belief) if kind == "lasting" else drifting_state(belief, np.inf, printed=False)
    expected = belief.mean if isinstance(rule, cb.EpsilonGreedy) else rule.index(belief, 120)
    np.testing.assert_allclose(values_of(rule, VALUES[type(rule)], belief, state, 120), expected, rtol=1e-12)


def test_values_on_a_belief_told_nothing_are_the_rules_indices():
    """After steps of another rule, whose loop takes in the same rewards."""
    belief, rule = UNTOLD["told nothing"], cb.HorizonUCL(150)
    runs = Runs(cb.Blocked(cb.Gittins(150), length=4), belief, BANDIT, 90, seed=0, first=0, last=1)
    run = ENGINES["compiled"].begin(runs, np.random.default_rng(3))
    arms, rewards = np.empty(20, dtype=np.int32), np.empty(20)
    run.advance(np.random.default_rng(9).standard_normal(20), arms, rewards)
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        belief = belief.observe(arm, reward)
    found = values_of(rule, mixed_limits, belief, run._state, 21)
    np.testing.assert_allclose(found, rule.index(belief, 21), rtol=1e-9)


@pytest.mark.parametrize("kind", UNTOLD)
@pytest.mark.parametrize("name", [*around_any(cb.UCL()), "soft", "enough", "travelling"])
def test_on_beliefs_told_nothing(name, kind):
    same_runs(all_around(cb.Gittins(150))[name], UNTOLD[kind], horizon=60)


@pytest.mark.parametrize("name", [*around_any(cb.UCL()), "travelling"])
def test_an_opening_that_does_not_end_goes_from_arm_to_arm(name):
    """Rewards that are all equal say nothing of a scale, so that every arm is tried, however one is led about."""
    level = cb.BernoulliBandit(np.ones(ARMS), WHERE)
    trace = same_runs(all_around(cb.Gittins(150))[name], UNTOLD["told nothing"], level, horizon=150)
    assert (trace.initialisation == 150).all()


@pytest.mark.parametrize("name", all_around(cb.UCL()))
@pytest.mark.parametrize("kind", ["flat", "correlated"])
def test_where_a_run_is_cut_changes_no_bit(name, kind):
    noise, played = np.random.default_rng(9).standard_normal(90), []
    for cuts in ([90], [1] * 90, [7, 60, 1, 22]):
        runs = Runs(all_around(cb.UCL())[name], LASTING[kind], BANDIT, 90, seed=0, first=0, last=1)
        run = ENGINES["compiled"].begin(runs, np.random.default_rng(3))
        arms, rewards, done = np.empty(90, dtype=np.int32), np.empty(90), 0
        for n in cuts:
            run.advance(noise[done : done + n], arms[done : done + n], rewards[done : done + n])
            done += n
        played.append((arms.tobytes(), rewards.tobytes(), run.initialisation))
    assert played[0] == played[1] == played[2]


def test_rules_that_change_nothing_are_the_rule_within_bit_for_bit():
    rule = cb.CorrelatedUCL()
    idle = cb.Safe(cb.Satisficing(cb.Softmax(rule, temperature=0.0), M=np.inf), floor=-np.inf)
    for policy in (idle, cb.Travelling(rule, cb.Moves()), cb.Blocked(rule, length=1)):
        players = {"around": (policy, FIELD), "itself": (rule, FIELD)}
        trace = simulate(players, BANDIT, 200, 3, seed=1, engine="compiled", progress=False)
        np.testing.assert_array_equal(trace.arms.sel(policy="around"), trace.arms.sel(policy="itself"))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("name", ["soft", "cooling", "enough", "safe", "travelling"])
def test_rewards_at_the_edge_of_what_squares(name, scale):
    """Everything in another unit: the same arms, bit for bit, as far as variances are doubles."""
    moves = cb.Moves(per_move=0.5 * scale)
    rules = {
        "soft": cb.Softmax(cb.UCL(), temperature=0.5 * scale),
        "cooling": cb.Softmax(cb.UCL()),
        "enough": cb.Satisficing(cb.UCL(), M=1.5 * scale),
        "safe": cb.Safe(cb.UCL(), floor=-2.0 * scale, delta=0.2),
        "travelling": cb.Travelling(cb.UCL(), moves),
    }
    prior = cb.Independent(mean=MEAN * scale, variance=4.0 * scale**2, noise_variance=scale**2)
    same_runs(rules[name], prior, cb.GaussianBandit(BANDIT.means * scale, scale**2))


@pytest.mark.parametrize("name", ["soft", "cooling", "enough", "safe", "travelling", "blocked"])
def test_one_arm(name):
    one = cb.Independent(mean=0.0, variance=1.0, noise_variance=1.0, arms=1)
    rules = {**all_around(cb.UCL()), "travelling": cb.Travelling(cb.UCL(), cb.Moves(per_move=1.0))}
    assert not same_runs(rules[name], one, cb.GaussianBandit([1.0], 1.0), 20).arms.any()


@pytest.mark.parametrize(
    ("policy", "belief", "words"),
    [
        (cb.OnGraph(cb.Safe(cb.OnGraph(cb.UCL(), GRAPH), 1.0), GRAPH), FIELD, "OnGraph goes around another OnGraph"),
        (cb.Safe(cb.Gittins(90), 1.0), UNTOLD["told nothing"], "Safe asks for a quantile of a mixture"),
        (cb.Safe(cb.Gittins(90), 1.0), cb.Drifting(prior=FIELD, scale=(5, 9)), "Safe asks for a quantile of a mixture"),
        (cb.Blocked(cb.InformationDirected()), FIELD, "InformationDirected compares many draws of the belief"),
        (cb.Softmax(cb.UCL()), UNTOLD["told nothing"], "UCL needs more of a Vague belief than means and variances"),
        (
            cb.Travelling(cb.UCL(), cb.Moves(per_move=1.0)),
            cb.Independent(noise_variance=1.0, arms=6_000),
            "the costs of moves between 6,000 arms take too much memory",
        ),
    ],
)
def test_what_is_not_compiled_says_why(policy, belief, words):
    bandit = cb.GaussianBandit(np.zeros(belief.arms), 1.0)
    assert ENGINES["compiled"].refuses(Runs(policy, belief, bandit, 90, 0, 0, 1)) == words


def test_a_graph_or_moves_between_other_arms_are_refused_as_the_reference_does():
    for policy, words in (
        (cb.OnGraph(cb.UCL(), [(0, 1), (1, 2)]), "OnGraph needs a graph of the 12 arms there are"),
        (cb.Travelling(cb.UCL(), cb.Moves(per_distance=1.0, coordinates=WHERE[:5])), "between the 12 arms there are"),
    ):
        for engine in ("compiled", "reference"):
            with pytest.raises(ValueError, match=words):
                simulate({"a": (policy, KNOWN)}, BANDIT, 30, engine=engine)
