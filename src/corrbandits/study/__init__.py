"""Durable ask and tell: a study is a prior, a policy and a journal of events.

study        the verbs: create, open, ask, tell, observe, amend, ...
snapshot     a study at one moment, from one read
replica      this process's copy of the events, kept up to date; appends what follows from them
ledger       what the events add up to; draft: what more of them would change; events: as JSON
batch        many rewards in one go
trial, arms, settings, recipe (how the prior is made), codec (priors and policies as JSON), extend (more arms)
turns        who asks next, if there is a throng
choosing     what to try next, and why
exchange     tables and files
checking     whether studies are whole
journal/     where events are kept
report/      what is said of a study
setup/       from a file of arms to a prior
"""

import importlib
from typing import Any

from corrbandits.study.batch import BadRowError
from corrbandits.study.explaining import Alternative, Explanation
from corrbandits.study.snapshot import Snapshot
from corrbandits.study.study import Study
from corrbandits.study.trial import Trial

__all__ = ["Alternative", "BadRowError", "Best", "Explanation", "NoiseCheck", "Snapshot", "Study", "Surprise", "Trial"]

_LATER = {"Best": "inference", "NoiseCheck": "inference", "Surprise": "surprises"}


def __getattr__(name: str) -> Any:
    """Load what `report` offers when it is first used: to tell a reward, it is not."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"corrbandits.study.report.{_LATER[name]}"), name)
