"""What the tests of studies share."""

import json

import numpy as np

import corrbandits as cb

LINE = np.arange(6.0)


def related(**changes):
    given = {"mean": 30.0, "kernel": 10 * cb.Exponential(2.0), "coordinates": LINE, "noise_variance": 4.0}
    return cb.Correlated(**(given | changes))


def events(study):
    return [json.loads(body) for body in study._journal.read(study._replica.study, 0)]


def bits(belief):
    return belief.mean.tobytes() + belief.variance.tobytes() + getattr(belief, "covariance", np.zeros(0)).tobytes()
