"""What tests of teams share: problems, and players who share as the words say, step by step, without the package."""

import numpy as np

import corrbandits as cb
from corrbandits import policies
from tests.support.rules import rule_called

WHERE = [[0.0, 0.1], [0.2, 1.0], [0.0, 2.3], [1.1, 0.0], [1.0, 1.4], [0.8, 2.0]]
BANDITS = {
    "gaussian": cb.GaussianBandit([0.3, 0.1, 1.2, 0.8, 2.0, 1.7], [1.0, 0.5, 2.0, 1.0, 1.5, 1.0]),
    "binary": cb.BernoulliBandit([0.2, 0.5, 0.4, 0.7, 0.6, 0.1]),
}
BELIEFS = {
    "flat": cb.Independent(noise_variance=1.0, arms=6),
    "apart": cb.Independent(mean=1.0, variance=[0.5, 1.0, 2.0, 1.5, 3.0, 0.0], noise_variance=[1.0, 0.5, 2, 1, 1.5, 1]),
    # no two arms are alike: on a regular grid some tie, and rounding would decide
    "joint": cb.Correlated(
        mean=[1.0, 1.15, 0.9, 1.2, 0.85, 1.05], kernel=2 * cb.Exponential(2.0), coordinates=WHERE, noise_variance=1.3
    ),
}
RULES = {name: rule_called(name, horizon=60) for name in policies.RULES}


def streams(seed, run, player):
    """The noise and the choices of one player, as the documentation says where they come from."""
    keys = [(run, 2 * player), (run, 2 * player + 1)]
    return [np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key)) for key in keys]


def alone(policy, belief, bandit, horizon, seed, run, player):
    """The arms and rewards of a player that hears nobody."""
    noise, rng = streams(seed, run, player)
    arms, rewards = [], []
    for t, eps in enumerate(bandit.noise(noise, horizon).tolist(), start=1):
        arms.append(policy.choose(belief, t, rng=rng))
        rewards.append(bandit.reward(arms[-1], eps))
        belief = belief.observe(arms[-1], rewards[-1])
    return arms, rewards


def merged(policy, prior, bandit, horizon, seed, run, heard):
    """The arms of players whose beliefs merge with those of whom they hear after every step, (M, T)."""
    players = len(heard)
    drawn = [streams(seed, run, player) for player in range(players)]
    noise = [bandit.noise(eps, horizon).tolist() for eps, _ in drawn]
    own, arms = [prior] * players, [[] for _ in heard]
    for t in range(1, horizon + 1):
        known = []
        for hears in heard:
            belief = prior
            for other in hears:
                belief = belief.merge(own[other])
            known.append(belief)
        for player in range(players):
            arm = policy.choose(known[player], t, rng=drawn[player][1])
            own[player] = own[player].observe(arm, bandit.reward(arm, noise[player][t - 1]))
            arms[player].append(arm)
    return np.array(arms)
