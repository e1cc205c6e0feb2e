"""What the tests of the Optuna sampler share."""

import subprocess
import sys

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import TrialState

import corrbandits as cb
from corrbandits.adapters import CorrelatedUCLSampler

SURFACE = cb.landscapes.two_peaks()
LINE = np.arange(8.0)
SMOOTH = 20 * cb.SquaredExponential(2.0)
TRUTH = np.array([3.0, 5.0, 4.0, 9.0, 12.0, 7.0, 1.0, 2.0])


def line_sampler(**options):
    return CorrelatedUCLSampler.from_kernel({"x": range(8)}, SMOOTH, mean=5.0, noise_variance=2.0, **options)


def line_prior(sign=1.0):
    return cb.Correlated(mean=sign * 5.0, kernel=SMOOTH, coordinates=LINE, noise_variance=2.0)


def study_of(sampler, direction="maximize", **options):
    return optuna.create_study(direction=direction, sampler=sampler, **options)


def ask(study, space):
    return study.ask({name: CategoricalDistribution(list(values)) for name, values in space.items()})


def noisy(number):
    return float(np.random.default_rng(number).standard_normal())


def chosen(study, name="x"):
    return [trial.params[name] for trial in study.trials]


def told(x, value, state=TrialState.COMPLETE):
    kind = {"x": IntDistribution(0, 7)}
    return optuna.create_trial(params={"x": x}, distributions=kind, value=value, state=state)


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
