"""Small stress tests, and an experiment file that describes one."""

import corrbandits as cb
from corrbandits import stress
from tests.support.experiment_files import nine_arms

RULE = cb.CorrelatedUCL(a=1.5)
KERNEL = 4 * cb.Exponential(2.0)
SURFACE = cb.landscapes.draw(KERNEL, cb.landscapes.grid(4, 4), noise_variance=4.0, seed=1, mean=20.0, shape=(4, 4))
FEW = {"confidence": [0.1, 1.0, 10.0], "length": [0.3, 1.0, 3.0], "runs": 6, "survivors": False}

FILE = (
    nine_arms(variance=1.0, horizon=30, runs=3)
    + """\
[stress]
kinds = ["shift", "swap"]
accuracy = [-1.0, 1.0]
confidence = [0.1, 1.0]
length = [0.5, 2.0]
horizons = [10, 30]
"""
)


def stressed(mean=SURFACE.means, **options):
    """Return a stress test of a small problem, in what the options do not say."""
    options = {"kernel": KERNEL, **FEW, **options}
    return stress.run(RULE, options.pop("truth", SURFACE), options.pop("horizon", 60), mean=mean, **options)
