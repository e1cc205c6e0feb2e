"""What the rewards come from: arms with mean rewards, fixed or changing with time, and noise.

Noise is drawn ahead, one number per time step, and turned into a reward once the arm is known. So all policies meet
the same noise, and run k of a simulation is the same whatever runs beside it.
"""

from corrbandits.environments.bandits import BernoulliBandit, GaussianBandit, NoisyBandit, StudentBandit
from corrbandits.environments.base import Environment, gaps_of, reward_at
from corrbandits.environments.changing import ChangingBandit

__all__ = [
    "BernoulliBandit",
    "ChangingBandit",
    "Environment",
    "GaussianBandit",
    "NoisyBandit",
    "StudentBandit",
    "gaps_of",
    "reward_at",
]
