"""What a belief told nothing takes for likely before any reward, as it is documented."""

import numpy as np


def log_prior(belief):
    """Return how likely each part is: a noise ratio below 1/30 with probability 1/12, of which a quarter are."""
    told, ratios = belief.prior_arguments(), belief.parts.ratios
    if told["sd"] is not None and told["noise_sd"] is not None:
        return np.zeros(ratios.size)
    return np.log(np.where(ratios < 1 / 30, (1 / 12) / (1 / 4), (11 / 12) / (3 / 4)))
