"""Which reward is named where one was mistyped: the wrong one, also of two that only contradict each other."""

import numpy as np
import pytest

import corrbandits as cb

ARMS = 6
PRIORS = {
    "told nothing": cb.Vague(coordinates=range(ARMS)),
    "told the noise": cb.Vague(coordinates=range(ARMS), noise_sd=0.5),
    "without places": cb.Vague(arms=ARMS),
    "correlated": cb.Correlated(mean=30.0, kernel=9 * cb.Matern32(4.0), coordinates=range(ARMS), noise_variance=0.25),
    "nothing known of the means": cb.Independent(noise_variance=0.25, arms=ARMS),
}


@pytest.mark.parametrize("each", [2, 3])
@pytest.mark.parametrize("name", PRIORS)
def test_a_reward_with_its_point_in_the_wrong_place_is_named_first(begin, name, each):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        means = 30 + 3 * np.sin(np.arange(ARMS) / 2 + rng.uniform(0, 6)) + 0.5 * rng.standard_normal(ARMS)
        arms = [int(arm) for _ in range(each) for arm in rng.permutation(ARMS)]
        rewards = (means[arms] + 0.5 * rng.standard_normal(len(arms))).round(1)
        wrong = int(rng.integers(len(arms)))
        rewards[wrong] *= 10.0 if seed % 2 else 0.1
        study = begin(f"{name} {seed}", prior=PRIORS[name], policy=cb.UCL(), arms=None)
        for arm, reward in zip(arms, rewards.tolist(), strict=True):
            study.observe(arm, reward)
        assert study.surprises()[0].trial == wrong + 1
        assert study.surprises()[0].rewards == 1
