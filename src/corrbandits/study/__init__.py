"""Durable ask and tell: a study is a prior, a policy and a journal of events."""

from corrbandits.study.choosing import Alternative, Explanation
from corrbandits.study.report.inference import Best, NoiseCheck, Surprise
from corrbandits.study.study import Study, Trial

__all__ = ["Alternative", "Best", "Explanation", "NoiseCheck", "Study", "Surprise", "Trial"]
