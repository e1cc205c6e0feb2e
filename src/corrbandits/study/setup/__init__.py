"""From a file of arms and what is known beforehand to the prior and the policy of a study.

What is not said is chosen, and remarks say how. A message names a value that its reader can change by the name of the
argument here, in backticks: `noise_sd`. Whoever asks the reader for it says instead what it is called there: the shell
`--noise-sd`, a page the label of a field.
"""

from corrbandits.study.setup.changing import changed
from corrbandits.study.setup.planning import Plan, more_arms, plan, plan_of_zeros_and_ones
from corrbandits.study.setup.rewards import Rewards, read_history, read_rewards
from corrbandits.study.setup.roads import read_roads
from corrbandits.study.setup.rules import kernel_called, minds_rounds, policy_called, with_rounds
from corrbandits.study.setup.sheet import PRIOR, Sheet, read_sheet

__all__ = [
    "PRIOR",
    "Plan",
    "Rewards",
    "Sheet",
    "changed",
    "kernel_called",
    "minds_rounds",
    "more_arms",
    "plan",
    "plan_of_zeros_and_ones",
    "policy_called",
    "read_history",
    "read_rewards",
    "read_roads",
    "read_sheet",
    "with_rounds",
]
