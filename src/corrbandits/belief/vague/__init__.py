"""A belief that is told what its user knows, and learns the rest.

    name     shape      meaning
    A        (k,)       arms seen, k of N; n rewards in all, n_i of arm i
    R        (N, N)     correlation of the arms' mean rewards under a part: (1 - site) K + site I
    ratio    (G,)       noise variance over the variance of the arms' means, lambda; G parts
    z        (k,)       average rewards of the arms seen, less an offset, over a power of 2
    M        (k, k)     R_AA + lambda diag(v_i / n_i), v_i the relative noise variances
    V        (k, N)     L^-1 R_A, with L L' = M: the covariance left is R - V'V
    zeta, o  (k,)       L^-1 z and L^-1 1
    beta     ()         the mean of all arms; tau its scale: the deviation of the arms' means about it

Under a part the rewards are Gaussian given beta and tau, and both are integrated out in closed form where the user
does not state them, under the reference prior 1 / tau. What is left of a part is a Student t with n - 1 degrees of
freedom for each arm, and the density of the rewards, which gives the part its weight.

Who calls whom, from the outside in:

    belief     `Vague` is told, and answers answer in the units of the rewards. learnt says what was learnt.
    state      What follows from rewards: standard takes their units away; evidence is how likely they are under each
               part; components are the weights, beta and tau; factors what is left of the parts, of all or of those
               that the budget allows; mixture what these make of the arms' means, and quantile where they end.
    opening    What is done before there are means and variances.
    prior      What was told: known is a statement on one quantity; lengths, drift and parts follow from these and from
               the places; seasons is what earlier ones say, lent what other fields do.

Where mean rewards change (drift), a reward is of an arm at a time: A are these, R_A is multiplied by what has not faded
since, exp(-time / scale), and V fades on: see fading and factors.
"""

from corrbandits.belief.vague.belief import Vague
from corrbandits.belief.vague.learnt import Learnt

__all__ = ["Learnt", "Vague"]
