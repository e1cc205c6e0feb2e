"""One policy of every rule, for tests that hold all of them to something."""

from corrbandits import Moves
from corrbandits.policies import RULES, UCL


def rule_called(name, *, horizon=50, arms=6):
    """A policy of this rule, for so many decisions among so many arms; a rule around another has UCL in it."""
    needs = {
        "BayesUCB": {"horizon": horizon},
        "KnowledgeGradient": {"horizon": horizon},
        "Blocked": {"rule": UCL(), "length": 3},
        "OnGraph": {"rule": UCL(), "graph": [(arm, arm + 1) for arm in range(arms - 1)]},
        "Softmax": {"rule": UCL(), "temperature": 1.0},
        "Satisficing": {"rule": UCL(), "M": 20.0},
        "Travelling": {"rule": UCL(), "moves": Moves(per_move=0.5)},
        "Safe": {"rule": UCL(), "floor": 10.0},
    }
    return RULES[name](**needs.get(name, {}))
