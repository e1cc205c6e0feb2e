"""A witness: the likelihood of choices written plainly, trial by trial, from beliefs and indices of the package."""

import numpy as np
from scipy.special import logsumexp

import corrbandits as cb
from corrbandits import choices

GRID = cb.landscapes.grid(4, 5).astype(float)


def somebody(seed=0, rounds=3, trials=11, given=1, where=GRID, scale=20.0):
    """Returns a person who chose at random, some arms again and again."""
    rng = np.random.default_rng(seed)
    arms = [rng.integers(min(len(where), 8) if k else len(where), size=trials) for k in range(rounds)]
    played = [choices.Round(a, 50.0 + scale * rng.standard_normal(trials), given=given) for a in arms]
    return choices.Person(played, coordinates=where, name=seed)


def belief_of(person, kernel, values):
    """The prior by the package's own classes."""
    variance = values["prior_sd"] ** 2
    noise = values["noise"] ** 2 * variance
    if kernel is None:
        return cb.Independent(
            mean=values["prior_mean"], variance=variance, noise_variance=noise, arms=len(person.coordinates)
        )
    stretched = variance * kernel.stretched(values["length"])
    return cb.Correlated(
        mean=values["prior_mean"], kernel=stretched, coordinates=person.coordinates, noise_variance=noise
    )


def each(person, values, *, kernel=None, rule=None, cooling=False, prior=None):
    """The log probability of each choice."""
    found = []
    for played in person.rounds:
        belief = (prior or belief_of)(person, kernel, values)
        index = rule(played.horizon) if isinstance(rule, type) else rule
        for t, (arm, reward) in enumerate(zip(played.arms, played.rewards, strict=True)):
            belief = belief.after(t + 1)
            choice = t - played.given + 1
            if choice >= 1:
                limits = belief.mean + belief.deviation if index is None else index.index(belief, choice)
                value = belief.mean + values["exploration"] * (limits - belief.mean)
                u = value * (np.log(choice) if cooling else 1.0) / values["temperature"]
                if t:
                    last = played.arms[t - 1]
                    u[last] += values["stickiness"]
                    u -= values["distance"] * np.hypot(*(person.coordinates - person.coordinates[last]).T)
                law = np.exp(u - logsumexp(u))
                found.append(np.log((1 - values["lapse"]) * law[arm] + values["lapse"] / u.size))
            belief = belief.observe(int(arm), float(reward))
    return np.array(found)
