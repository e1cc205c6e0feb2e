"""A witness of beliefs on drifting means: one Gaussian over all arms at all times, conditioned at once."""

import numpy as np


def joint(prior, scale, steps, now):
    """Mean and covariance of all arms at a time, by the joint law of every reward and every arm now.

    `steps` are (time, arm, reward). The covariance of arm i at time s and arm j at time t is S0_ij exp(-|s-t| / scale).
    """
    times, arms, rewards = (np.array(column) for column in zip(*steps, strict=True)) if steps else np.zeros((3, 0))
    arms = arms.astype(int)
    S0 = np.array([prior.covariance_with(arm) for arm in range(prior.arms)])
    seen = S0[np.ix_(arms, arms)] * np.exp(-np.abs(np.subtract.outer(times, times)) / scale)
    seen += np.diag(prior.noise_variance[arms])
    cross = S0[:, arms] * np.exp(-np.abs(now - times) / scale)
    gain = np.linalg.solve(seen, cross.T).T
    return prior.mean + gain @ (rewards - prior.mean[arms]), S0 - gain @ cross.T


def evidence(prior, scale, steps):
    """Log density of all rewards at once."""
    times, arms, rewards = (np.array(column) for column in zip(*steps, strict=True))
    S0 = np.array([prior.covariance_with(arm) for arm in range(prior.arms)])
    seen = S0[np.ix_(arms, arms)] * np.exp(-np.abs(np.subtract.outer(times, times)) / scale)
    seen += np.diag(prior.noise_variance[arms])
    apart = rewards - prior.mean[arms]
    sign, log_determinant = np.linalg.slogdet(2 * np.pi * seen)
    assert sign == 1
    return -0.5 * (log_determinant + apart @ np.linalg.solve(seen, apart))


def told(belief, steps):
    """The belief after some steps, one by one, at the time of the last."""
    for time, arm, reward in steps:
        belief = belief.after(time).observe(arm, reward)
    return belief


def some_steps(prior, number, seed, *, whole=True, spread=1.0):
    """Steps at whole times one after the other, or at any times, some of them the same."""
    rng = np.random.default_rng(seed)
    times = np.arange(1.0, number + 1) if whole else 1 + np.cumsum(rng.choice([0.0, 0.3, 2.0, 40.0], number))
    arms = rng.integers(prior.arms, size=number)
    rewards = (
        prior.mean[arms] + spread * rng.standard_normal(number) * np.sqrt(prior.variance + prior.noise_variance)[arms]
    )
    return list(zip(times.tolist(), arms.tolist(), rewards.tolist(), strict=True))
