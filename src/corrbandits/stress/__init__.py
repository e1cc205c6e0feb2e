"""What a wrong prior costs: the regret of a policy whose prior is made wrong, one way at a time and in pairs.

::

    name        meaning
    setting     one wrong prior: a kind of inaccuracy and its amount, factors on the variance and on the length; the
                kind drift is a factor on the scale with which the means drift
    candidate   who plays it: "printed" and "plain" (`CorrelatedUCL` with and without the factor sqrt(sum rho^2)),
                "uninformative" (`UCL` on a flat prior), "independent" (the same on independent arms of the mean and
                deviation that the true means have) and "vague" (the recommended rule, told nothing but where arms lie),
                all three the same in every setting, and at the corners of the grid of accuracy and length the beliefs
                that may survive a bad prior, "elimination" and "refitting"; where the prior drifts, "independent" arms
                drift with its scale, "vague" learns how fast, and the last two, for means that stay, do not play
    truth       one surface, or a family of plausible ones over which the runs are spread: run r meets surface r mod F

Any other rule than `CorrelatedUCL` plays as it is, under the name "plain", and also the flat prior.
"""

from corrbandits.stress.result import StressTest, run

__all__ = ["StressTest", "run"]
