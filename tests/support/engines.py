"""What every engine promises."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import simulate
from corrbandits.policies import RULES
from corrbandits.simulation.engines import ENGINES, Engine, Runs
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


def runs_of(policy="UCL", belief="flat", bandit="gaussian", first=0, last=4, times=None, horizon=90):
    return Runs(POLICIES[policy], BELIEFS[belief], BANDITS[bandit], horizon, 3, first, last, times)


def played(engine, runs):
    """What an engine records of some runs, and how many steps it said it made."""
    recorded, steps = runs.room(), []
    engine.play(runs, recorded, steps.append)
    return recorded, sum(steps)


class EngineContract:
    """Tests of an engine, the fixture `engine`; a slow one plays fewer steps."""

    horizon = 90
    policies: tuple[str, ...] = ("UCL", "Thompson", "EpsilonGreedy")
    bandits: tuple[str, ...] = tuple(BANDITS)

    def runs_of(self, *args, **kwargs):
        return runs_of(*args, **kwargs, horizon=self.horizon)

    def test_is_known_by_its_name_and_says_what_it_can_play(self, engine):
        assert ENGINES[engine.name] is engine
        assert isinstance(engine, Engine)
        assert engine.refuses(self.runs_of()) == ""

    @pytest.mark.parametrize("belief", BELIEFS)
    def test_records_in_full_and_in_summary_what_is_consistent(self, engine, belief):
        times = np.array([1, 7, self.horizon // 2 + 1, self.horizon])
        for bandit in self.bandits:
            full, steps = played(engine, self.runs_of("Thompson", belief, bandit))
            brief, _ = played(engine, self.runs_of("Thompson", belief, bandit, times=times))
            assert steps == 4 * self.horizon
            assert set(full) == {"arms", "rewards", "counts", "initialisation"}
            assert set(brief) == {"regret", "counts", "initialisation"}
            for row in range(4):
                np.testing.assert_array_equal(full["counts"][row], np.bincount(full["arms"][row], minlength=6))
            regret = np.cumsum(BANDITS[bandit].gaps[full["arms"]], axis=1)
            np.testing.assert_array_equal(brief["regret"], regret[:, times - 1])
            for name in ("counts", "initialisation"):
                np.testing.assert_array_equal(brief[name], full[name])

    def test_plays_a_run_alike_whatever_batch_it_is_in(self, engine):
        for policy in self.policies:
            whole, _ = played(engine, self.runs_of(policy, "joint"))
            for first, last in ((0, 1), (1, 4)):
                some, steps = played(engine, self.runs_of(policy, "joint", first=first, last=last))
                assert steps == self.horizon * (last - first)
                for name, array in some.items():
                    np.testing.assert_array_equal(array, whole[name][first:last])

    def test_stops_when_the_callback_raises(self, engine):
        def stop(steps):
            raise InterruptedError

        with pytest.raises(InterruptedError):
            engine.play(self.runs_of(), self.runs_of().room(), stop)

    @pytest.mark.parametrize("runs", [1, 511, 513, 10**6])
    def test_wants_batches_of_at_least_one_run(self, engine, runs):
        assert 1 <= engine.batch_size(self.runs_of(last=runs)) <= runs

    def test_is_named_in_checkpoints_and_in_the_message_about_a_wrong_name(self, engine, tmp_path):
        players = {"a": (cb.UCL(), BELIEFS["flat"])}
        simulate(players, BANDITS["gaussian"], 5, engine=engine.name, checkpoint=tmp_path)
        assert f'"engine of \'a\'": "{engine.name}"' in (tmp_path / "simulation.json").read_text()
        with pytest.raises(ValueError, match=rf"engine must be auto, .*{engine.name}.*got 'steam'\."):
            simulate(players, BANDITS["gaussian"], 5, engine="steam")
