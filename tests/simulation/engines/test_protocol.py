"""What every engine promises, and an engine of another kind that fits: all runs of a batch at once."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits.policies import RULES
from corrbandits.simulation.engines import ENGINES, Engine, Runs, engine_for
from corrbandits.simulation.engines.compiled.loops import LOOPS
from tests.support.engines import BANDITS, BELIEFS, EngineContract, runs_of


class TestEveryEngine(EngineContract):
    @pytest.fixture(params=["compiled", "reference"])
    def engine(self, request):
        return ENGINES[request.param]


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
    with pytest.raises(ValueError, match="engine must be auto, abreast, gpu, gpu-same-noise, compiled or reference"):
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
