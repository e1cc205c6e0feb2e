"""A witness for populations: likelihoods on a grid of two parameters, integrated numerically."""

import numpy as np
from scipy.interpolate import RectBivariateSpline
from scipy.special import logsumexp
from scipy.stats import norm

import corrbandits as cb
from corrbandits import choices
from corrbandits.choices import Model

MODEL = Model(prior_mean=1.0, prior_sd=2.0, noise=0.5)
"""Free are the exploration, on its own line, and the temperature, on that of its logarithm."""

TRUE = choices.Population.of_law(MODEL, mean=[0.6, -0.4], covariance=np.diag([0.4, 0.4]) ** 2)
ARMS = [cb.GaussianBandit([0.0, 1.0, 2.0, 1.5], 1.0), cb.GaussianBandit([2.0, 0.0, 1.0, 2.5], 1.0)]
EXPLORATION = np.linspace(-1.0, 2.4, 35)
LOG_TEMPERATURE = np.linspace(-1.8, 1.2, 51)


def people(number=8, rounds=6, horizon=15):
    """Returns people drawn from TRUE."""
    drawn = TRUE.draw(number, seed=1)
    arms = [ARMS[k % 2] for k in range(rounds)]
    return [choices.simulate(MODEL, one, arms, horizon=horizon, seed=k, name=k) for k, one in enumerate(drawn)]


def surface(person):
    """Returns the log likelihood on the grid."""
    temperatures = np.exp(LOG_TEMPERATURE)
    return np.array(
        [
            [choices.log_likelihood(person, MODEL, {"exploration": e, "temperature": t}) for t in temperatures]
            for e in EXPLORATION
        ]
    )  # fmt: skip


def smooth(values):
    """Returns the log likelihood between the points of the grid: a function of exploration and log temperature."""
    spline = RectBivariateSpline(EXPLORATION, LOG_TEMPERATURE, values)
    return lambda e, z: spline.ev(e, z)


def evidence(values, m, sd):
    """Returns the log of the integral of the likelihood over people who are spread normally."""
    cell = (EXPLORATION[1] - EXPLORATION[0]) * (LOG_TEMPERATURE[1] - LOG_TEMPERATURE[0])
    law = norm.logpdf(EXPLORATION, m[0], sd[0])[:, None] + norm.logpdf(LOG_TEMPERATURE, m[1], sd[1])[None, :]
    return logsumexp(values + law) + np.log(cell)


def evidence_at(values, temperature, m, sd):
    """Returns the same with a temperature that all share: the log of the integral over the exploration."""
    spline = RectBivariateSpline(EXPLORATION, LOG_TEMPERATURE, values)
    column = spline(EXPLORATION, [np.log(temperature)])[:, 0]
    return logsumexp(column + norm.logpdf(EXPLORATION, m, sd)) + np.log(EXPLORATION[1] - EXPLORATION[0])


def errors(down, x, h=1e-3):
    """Returns standard errors from the curvature of minus a log likelihood at its smallest point, by differences."""
    e = h * np.eye(len(x))
    H = [[down(x + a + b) - down(x + a - b) - down(x - a + b) + down(x - a - b) for b in e] for a in e]
    return np.sqrt(np.linalg.inv(np.array(H) / (4 * h * h)).diagonal())
