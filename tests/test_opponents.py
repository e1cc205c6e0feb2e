"""Other libraries play as they should: each is told the truth, in its own units, and nothing more."""

import doctest

import numpy as np
import pytest
from benchmarks import arena, opponents
from benchmarks.opponents import player, trials
from benchmarks.opponents.bandits import Bandit
from benchmarks.opponents.surrogates import ScikitLearn

from corrbandits import Matern52
from corrbandits._core.single_thread import one_thread
from corrbandits.arena.playing import play_step_by_step
from corrbandits.arena.problems import problem
from corrbandits.arena.results import Game, Key, Results
from corrbandits.environments import landscapes

HERE = arena.installed(opponents.PEERS)
SITES = np.random.default_rng(3).random((9, 2)) * [10.0, 200.0]


def play(peer, coordinates, rewards, *, of=lambda reward: reward):
    """Return the arms that a peer takes when each arm's rewards are its own list's, and the arm it names."""
    someone = opponents.PEERS[peer](coordinates, 7, 5)
    arms = []
    with one_thread():
        for t in range(7):
            arms.append(someone.choose())
            someone.tell(arms[-1], of(rewards[t, arms[-1]]))
        return arms, someone.best()


def test_examples():
    for module in (player, trials, arena):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("peer", HERE)
@pytest.mark.parametrize(
    "coordinates", [landscapes.grid(3, 3), SITES, np.arange(9.0)[:, None]], ids=["grid", "sites", "chain"]
)
def test_a_peer_takes_arms_that_exist_the_same_ones_for_the_same_seed(peer, coordinates):
    rewards = np.random.default_rng(1).standard_normal((9, 9))
    arms, best = play(peer, coordinates, rewards)
    assert set(arms) | {best} <= set(range(9))
    assert play(peer, coordinates, rewards) == (arms, best)


@pytest.mark.parametrize("peer", HERE)
def test_units_of_rewards_tell_a_peer_nothing(peer):
    rewards = np.random.default_rng(2).standard_normal((9, 9))
    assert play(peer, SITES, rewards, of=lambda reward: 2.0**20 * reward) == play(peer, SITES, rewards)


def test_the_first_arms_are_spread_out_and_differ():
    where = landscapes.grid(10, 10) / 9
    quarters = where[player.spread(where, 4, seed=0)] > 0.5
    assert len(np.unique(quarters, axis=0)) == 4  # one in each, as Sobol points are
    assert len(set(player.spread(where, 100, seed=0))) == 100


def test_a_trial_has_the_place_of_the_arm_that_was_taken():
    optuna = opponents.PEERS["Optuna TPE"](SITES, 9, 5)
    arm = optuna.choose()
    optuna.tell(arm, 1.5)
    (trial,) = optuna._study.get_trials(states=[1])
    low, high = SITES.min(axis=0), SITES.max(axis=0)
    np.testing.assert_allclose([trial.params["x0"], trial.params["x1"]], (SITES[arm] - low) / (high - low))
    assert trial.value == 1.5


def test_the_deviation_of_scikit_learn_is_that_of_mean_rewards():
    rng = np.random.default_rng(4)
    someone = ScikitLearn(SITES, 9, 5)
    for arm, reward in zip([0, 1, 2, 0, 1, 5, 7], 40 + 3 * rng.standard_normal(7), strict=True):
        someone.tell(arm, reward)
    model = someone.fitted()
    scale, noise = np.std(someone.rewards), model.kernel_.k2.noise_level
    kernel = model.kernel_.k1.k1.constant_value * Matern52(model.kernel_.k1.k2.length_scale)
    K, k = kernel(someone._where[someone.arms]), kernel(someone._where, someone._where[someone.arms])
    explained = np.einsum("ij,ji->i", k, np.linalg.solve(K + noise * np.eye(7), k.T))
    deviation = scale * np.sqrt(model.kernel_.k1.k1.constant_value - explained)
    np.testing.assert_allclose(
        someone.scores(model) - someone.means(model), 1.96 * deviation, rtol=1e-5, atol=1e-6 * scale
    )


def test_a_library_of_bandits_is_told_rewards_in_units_of_the_first_five():
    told = []

    class Recorder(Bandit):
        def learn(self, arm, value):
            told.append((arm, value))

        def _decide(self):
            return 0

        best = _decide

    someone, rewards = Recorder(SITES, 9, 5), [3.0, 5.0, 4.0, 6.0, 7.0, 9.0, 5.0]
    for reward in rewards:
        someone.tell(someone.choose(), reward)
    arms, values = zip(*told, strict=True)
    assert list(arms) == someone.arms
    np.testing.assert_allclose(values, (np.array(rewards) - 5.0) / np.sqrt(2.5))


def test_games_are_played_once_and_are_those_of_the_same_player_on_the_same_noise(tmp_path, capsys):
    command = ["--results", str(tmp_path), "--seed", "7", "--families", "chain", "--problems", "2"]
    command += ["--horizons", "12", "--peers", "Optuna TPE"]
    assert arena.main(command) == 0
    before = {game.key: game for game in Results(tmp_path).games()}
    assert [(key.rule, key.told) for key in before] == 2 * [
        ("Gittins", "nothing"),
        ("Gittins", "everything"),
        ("Optuna TPE", "nothing"),
    ]
    key = Key("chain", 1, 12, "Optuna TPE", "nothing")
    given = problem("chain", 7, 1)
    someone = opponents.PEERS["Optuna TPE"](given.coordinates, 12, given.stream % 2**32)
    assert before[key].regret == play_step_by_step(given, someone, 12).regret
    lines = (tmp_path / "games.csv").read_text().splitlines(keepends=True)
    (tmp_path / "games.csv").write_text("".join(lines[:-1]) + lines[-1][:20])  # killed while it wrote
    assert arena.main(command) == 0
    after = {game.key: game for game in Results(tmp_path).games()}
    assert {key: game.regret for key, game in after.items()} == {key: game.regret for key, game in before.items()}
    assert "Optuna TPE" in capsys.readouterr().out


def test_a_peer_that_fails_ends_its_own_game_alone(monkeypatch):
    def broken(*_):
        raise RuntimeError("no convergence")

    monkeypatch.setitem(opponents.PEERS, "Optuna TPE", broken)
    said = arena.game_of((Key("chain", 0, 12, "Optuna TPE", "nothing"), 7, None))
    assert said == "Optuna TPE gave up on chain 0, 12 decisions: RuntimeError('no convergence')"


def test_real_fields_are_played_too(tmp_path):
    (tmp_path / "meadow.csv").write_text("x,y,yield\n" + "".join(f"{k % 6},{k // 6},{k % 7}\n" for k in range(36)))
    outcome = arena.game_of((Key("field meadow", 0, 12, "Optuna TPE", "nothing"), 7, tmp_path))
    assert isinstance(outcome, Game)
    assert outcome.regret > 0
    with pytest.raises(SystemExit):
        arena.main(["--results", str(tmp_path / "new"), "--families", "field wood", "--fields", str(tmp_path)])


def test_a_seed_that_rules_are_tuned_on_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        arena.main(["--results", str(tmp_path / "new"), "--seed", "1500"])
    assert ended.value.code == 2
    assert "tuned on, got 1500" in capsys.readouterr().err


def test_families_count_the_same_however_many_problems_they_have():
    ours = [("a", 0, 10.0), ("a", 1, 30.0), ("b", 0, 5.0)]
    theirs = [("a", 0, 40.0), ("a", 1, 40.0), ("b", 0, 2.5), ("b", 1, 99.0)]  # 2 and 1/2; nobody to compare with
    games = [Game(f, n, 40, "Gittins", "nothing", regret, 0.0, 0.1) for f, n, regret in ours]
    games += [Game(f, n, 40, "PyMAB UCB1", "nothing", regret, 0.0, 0.2) for f, n, regret in theirs]
    row = arena.table(games, [40]).splitlines()[-1].split()
    assert row == ["40", "PyMAB", "UCB1", "3", "1.00", "1", "of", "2", "2.00", "0.2"]
