"""What a stress test refuses, before any work."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits import stress
from corrbandits.stress import playing as stress_play
from tests.support.stress_cases import KERNEL, SURFACE, stressed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kernel": None}, "either kernel"),
        ({"covariance": np.eye(16)}, "either kernel"),
        ({"kernel": lambda x, y: x @ y.T}, "length can be varied"),
        ({"kernel": None, "covariance": np.eye(3)}, "3"),
        ({"kernel": None, "covariance": -np.eye(16)}, "negative|variance|definite"),
        ({"mean": [1.0, 2.0]}, "mean must be one number or 16"),
        ({"noise_variance": 0.0}, "noise_variance must be above 0"),
        ({"kinds": []}, "kinds must be some of"),
        ({"kinds": ["shift", "shift"]}, "each once"),
        ({"kinds": ["tilt"]}, "kinds must be some of shift, scale, noise, swap"),
        ({"accuracy": []}, "accuracy must be a list"),
        ({"accuracy": {"tilt": [1.0]}}, "accuracy must be of the kinds"),
        ({"accuracy": [np.nan]}, "accuracy must be finite"),
        ({"kinds": ["noise"], "accuracy": [-1.0]}, "at least 0 for the kind noise"),
        ({"kinds": ["swap"], "accuracy": [2.0]}, "from 0 to 1 for the kind swap"),
        ({"confidence": [0.0, 1.0]}, "confidence must be factors above 0"),
        ({"length": [-1.0]}, "length must be factors above 0"),
        ({"length": 3.0}, "length must be a list"),
        ({"times": [100]}, "times must be whole numbers from 1 to 60"),
        ({"times": [1.5]}, "times must be whole numbers"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"survivors": "yes"}, "survivors must be True or False"),
        ({"truth": []}, "truth must be an Environment"),
        ({"truth": [SURFACE, cb.GaussianBandit([1.0], 1.0)]}, "the same arms"),
        ({"truth": cb.GaussianBandit(np.arange(16.0), 1.0)}, "coordinates"),
    ],
)
def test_bad_input_is_refused_before_any_work(options, said, monkeypatch):
    monkeypatch.setattr(stress_play, "simulate", lambda *_, **__: pytest.fail("work has begun"))
    with pytest.raises((ValueError, TypeError), match=said):
        stressed(**options)


def test_a_policy_that_is_none_or_cannot_play_is_refused(monkeypatch):
    monkeypatch.setattr(stress_play, "simulate", lambda *_, **__: pytest.fail("work has begun"))
    with pytest.raises(TypeError, match="policy must be a Policy"):
        stress.run("UCL", SURFACE, 10, kernel=KERNEL)
    with pytest.raises(ValueError, match="alpha_t"):
        stress.run(cb.CorrelatedUCL(K=0.5), SURFACE, 10, kernel=KERNEL)
