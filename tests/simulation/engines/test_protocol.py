"""What every engine promises, and an engine of another kind that fits: all runs of a batch at once."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits.policies import RULES
from corrbandits.simulation.engines import ENGINES, Engine, Runs, engine_for
from corrbandits.simulation.engines.compiled.loops import LOOPS
from tests.support.rules import rule_called

WHERE = cb.landscapes.grid(2, 3)
BANDITS = {
    "gaussian": cb.GaussianBandit(np.linspace(0, 2, 6), 1.0),
    "heavy tails": cb.StudentBandit(np.linspace(0, 2, 6), 1.0),
    "binary": cb.BernoulliBandit(np.full(6, 0.4)),
}
BELIEFS = {
    "flat": cb.Independent(noise_variance=1.0, arms=6),
    "joint": cb.Correlated(kernel=4 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.0),
}
POLICIES = {name: rule_called(name, horizon=90) for name in RULES}
TIMES = np.array([1, 7, 40, 90])


def runs_of(policy="UCL", belief="flat", bandit="gaussian", first=0, last=4, times=None):
    return Runs(POLICIES[policy], BELIEFS[belief], BANDITS[bandit], 90, 3, first, last, times)


def played(engine, runs):
    """What an engine records of some runs, and how many steps it said it made."""
    recorded, steps = runs.room(), []
    engine.play(runs, recorded, steps.append)
    return recorded, sum(steps)


@pytest.fixture(params=ENGINES)
def engine(request):
    return ENGINES[request.param]


class TestEveryEngine:
    def test_is_known_by_its_name_and_says_what_it_can_play(self, engine):
        assert ENGINES[engine.name] is engine
        assert isinstance(engine, Engine)
        assert engine.refuses(runs_of()) == ""

    @pytest.mark.parametrize("belief", BELIEFS)
    @pytest.mark.parametrize("bandit", BANDITS)
    def test_records_in_full_and_in_summary_what_is_consistent(self, engine, belief, bandit):
        full, steps = played(engine, runs_of("Thompson", belief, bandit))
        brief, _ = played(engine, runs_of("Thompson", belief, bandit, times=TIMES))
        assert steps == 4 * 90
        assert set(full) == {"arms", "rewards", "counts", "initialisation"}
        assert set(brief) == {"regret", "counts", "initialisation"}
        for row in range(4):
            np.testing.assert_array_equal(full["counts"][row], np.bincount(full["arms"][row], minlength=6))
        regret = np.cumsum(BANDITS[bandit].gaps[full["arms"]], axis=1)
        np.testing.assert_array_equal(brief["regret"], regret[:, TIMES - 1])
        for name in ("counts", "initialisation"):
            np.testing.assert_array_equal(brief[name], full[name])

    @pytest.mark.parametrize("policy", ["UCL", "Thompson", "EpsilonGreedy"])
    def test_plays_a_run_alike_whatever_batch_it_is_in(self, engine, policy):
        whole, _ = played(engine, runs_of(policy, "joint"))
        for first, last in ((0, 1), (1, 4)):
            some, steps = played(engine, runs_of(policy, "joint", first=first, last=last))
            assert steps == 90 * (last - first)
            for name, array in some.items():
                np.testing.assert_array_equal(array, whole[name][first:last])

    def test_stops_when_the_callback_raises(self, engine):
        def stop(steps):
            raise InterruptedError

        with pytest.raises(InterruptedError):
            engine.play(runs_of(), runs_of().room(), stop)

    @pytest.mark.parametrize("runs", [1, 511, 513, 10**6])
    def test_wants_batches_of_at_least_one_run(self, engine, runs):
        assert 1 <= engine.batch_size(runs_of(last=runs)) <= runs

    def test_is_named_in_checkpoints_and_in_the_message_about_a_wrong_name(self, engine, tmp_path):
        players = {"a": (cb.UCL(), BELIEFS["flat"])}
        simulate(players, BANDITS["gaussian"], 5, engine=engine.name, checkpoint=tmp_path)
        assert f'"engine of \'a\'": "{engine.name}"' in (tmp_path / "simulation.json").read_text()
        with pytest.raises(ValueError, match=rf"engine must be auto, .*{engine.name}.*got 'steam'\."):
            simulate(players, BANDITS["gaussian"], 5, engine="steam")


def test_the_last_engine_plays_whatever_the_others_refuse():
    class Own(cb.Policy):
        def _choose(self, belief, t, rng, arms):
            return 2

    runs = Runs(Own(), BELIEFS["flat"], BANDITS["gaussian"], 90, 0, 0, 2)
    *others, last = ENGINES.values()
    assert all(engine.refuses(runs) for engine in others)
    assert engine_for(runs) is last
    with pytest.raises(ValueError, match="the compiled engine cannot play this because Own is not one of UCL"):
        engine_for(runs, "compiled")


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_compiled_or_the_table_says_why_not(name):
    assert RULES[name] in LOOPS, f"give {name} a loop in engines/compiled/loops.py, or a reason why it has none"
    why_not = LOOPS[RULES[name]]
    assert ENGINES["compiled"].refuses(runs_of(name, "joint")) == (why_not if isinstance(why_not, str) else "")


def test_a_rule_that_is_not_compiled_says_why(monkeypatch):
    monkeypatch.setitem(LOOPS, cb.Thompson, "nobody has written its loop")
    runs = runs_of("Thompson")
    assert ENGINES["compiled"].refuses(runs) == "nobody has written its loop"
    assert engine_for(runs) is ENGINES["reference"]
    with pytest.raises(ValueError, match="the compiled engine cannot play this because nobody has written its loop"):
        engine_for(runs, "compiled")


class AllAtOnce(Engine):
    """Greedy choice on independent arms, all runs of a batch side by side: how an engine on a GPU would go about it."""

    name = "abreast"

    def refuses(self, runs):
        return "" if type(runs.policy) is cb.Greedy and type(runs.belief) is cb.Independent else "it is for Greedy"

    def batch_size(self, runs):
        return min(len(runs), 1000)

    def play(self, runs, into, advanced):
        noise = np.stack([runs.environment.noise(rng, runs.horizon) for rng, _ in runs.generators()])
        rows, belief, regret = np.arange(len(runs)), runs.belief, np.zeros(len(runs))
        mean, variance = (np.tile(array, (len(runs), 1)) for array in (belief.mean, belief.variance))
        for t in range(1, runs.horizon + 1):
            pending = variance > runs.policy.threshold(belief)
            first = pending.any(axis=1)
            arms = np.where(first, np.where(pending, variance, -np.inf).argmax(axis=1), mean.argmax(axis=1))
            rewards = runs.environment.means[arms] + np.sqrt(runs.environment.noise_variance[arms]) * noise[:, t - 1]
            share = 1 / (1 + belief.noise_variance[arms] / variance[rows, arms])
            mean[rows, arms] += share * (rewards - mean[rows, arms])
            variance[rows, arms] = belief.noise_variance[arms] * share
            into["counts"][rows, arms] += 1
            into["initialisation"] += first
            regret += runs.environment.gaps[arms]
            if runs.times is None:
                into["arms"][:, t - 1], into["rewards"][:, t - 1] = arms, rewards
            elif t in runs.times:
                into["regret"][:, np.searchsorted(runs.times, t)] = regret
            advanced(len(runs))


@pytest.fixture
def abreast():
    """The new engine in the table, before the others."""
    before = dict(ENGINES)
    try:
        ENGINES.clear()
        ENGINES.update({AllAtOnce.name: AllAtOnce(), **before})
        yield
    finally:
        ENGINES.clear()
        ENGINES.update(before)


@pytest.mark.usefixtures("abreast")
@pytest.mark.parametrize("record", ["full", "summary"])
@pytest.mark.parametrize("way", [{"threads": 2}, {"map": map}], ids=["threads", "map"])
def test_an_engine_that_plays_all_runs_of_a_batch_at_once_fits(tmp_path, record, way):
    players = {"greedy": (cb.Greedy(), BELIEFS["flat"]), "UCL": (cb.UCL(), BELIEFS["flat"])}
    ask = {"environment": BANDITS["gaussian"], "horizon": 40, "runs": 1200, "seed": 5, "record": record}
    ours, new = simulate(players, **ask, engine="compiled"), simulate(players, **ask, checkpoint=tmp_path, **way)
    for name in ours.data.data_vars:
        np.testing.assert_allclose(new.data[name], ours.data[name], rtol=1e-12, atol=1e-12)
    assert '"engine of \'greedy\'": "abreast"' in (tmp_path / "simulation.json").read_text()
    assert sorted(path.name for path in tmp_path.glob("0-*")) == ["0-0-1000.npz", "0-1000-1200.npz"]
    assert len(list(tmp_path.glob("1-*"))) == 400  # the compiled engine wants batches of 3
    with pytest.raises(ValueError, match="the abreast engine cannot play this because it is for Greedy"):
        simulate(players, **ask, engine="abreast")
    with pytest.raises(ValueError, match="engine must be auto, abreast, compiled or reference"):
        simulate(players, **ask, engine="steam")


def test_an_engine_that_records_nothing_is_an_error(monkeypatch):
    class Idle(Engine):
        name = "idle"

        def refuses(self, runs):
            return ""

        def play(self, runs, into, advanced):
            advanced(len(runs) * runs.horizon)

    monkeypatch.setitem(ENGINES, "idle", Idle())
    with pytest.raises(RuntimeError, match="the idle engine must count 20 decisions in each run, got 0"):
        simulate({"idle": (cb.UCL(), BELIEFS["flat"])}, BANDITS["gaussian"], 20, runs=2, engine="idle")
