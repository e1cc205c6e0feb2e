"""Experiment files: one whole, and one to be filled in."""

EXAMPLE = """\
[arms]
grid = [10, 10]                     # or: csv = "sites.csv" with columns name, x, y
[truth]
landscape = "two_peaks"             # or: means = [...], column = "yield", or draw = { kernel = "matern52", ... }
noise_variance = 10.0
[priors.smooth]
mean = 30.0                         # or: column = "prior_mean"
kernel = { name = "exponential", length = 4.0, variance = 10.0 }
[priors.flat]
variance = inf
[policies.correlated]
rule = "CorrelatedUCL"
prior = "smooth"
a = 3.284
nu = 1.0
[policies.uninformative]
rule = "UCL"
prior = "flat"
a = 3.284
[run]
horizon = 10000
runs = 100
seed = 0
"""

SITES = """\
name,x,y,yield,prior_mean,prior_variance
"meadow, low",0.0,0.0,3.5,3,1.0
ridge,0.5,2.0,7.25,5,4.0
ford,1.5,1.0,5.0,4,2.5
"""

SMALL = """\
[arms]
{arms}
[truth]
{truth}
[priors.p]
{prior}
[policies.mine]
{policy}
[run]
horizon = 50
"""

PLAIN = {
    "arms": "count = 3",
    "truth": "means = [1.0, 2.0, 3.0]\nnoise_variance = 4.0",
    "prior": "variance = 1.0",
    "policy": 'rule = "Greedy"\nprior = "p"',
}

A_CSV = 'csv = "sites.csv"'
BERNOULLI = 'means = [0.2, 0.5, 0.9]\nrewards = "bernoulli"'


def nine_arms(*, variance: float, horizon: int, runs: int) -> str:
    """Return an experiment with two policies on nine arms, one with a kernel of this variance."""
    return f"""\
[arms]
grid = [3, 3]
[truth]
means = [0, 1, 2, 3, 4, 5, 4, 3, 2]
noise_variance = 1.0
[priors.flat]
variance = inf
[priors.smooth]
mean = 2.0
kernel = {{ name = "exponential", length = 2.0, variance = {variance} }}
[policies.one]
rule = "UCL"
prior = "flat"
a = 1.5
[policies.two]
rule = "CorrelatedUCL"
prior = "smooth"
a = 1.5
[run]
horizon = {horizon}
runs = {runs}
seed = 3
"""
