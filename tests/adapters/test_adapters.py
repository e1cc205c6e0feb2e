"""The package of adapters: each loads its library when it is asked for."""

import json

import pytest

import corrbandits as cb
from tests.support.samplers import run


def test_neither_library_loads_before_its_name_is_asked_for():
    done = run(
        "import sys, json, corrbandits, corrbandits.adapters as adapters\n"
        "print(json.dumps([[name in sys.modules for name in ('gymnasium', 'optuna')], dir(adapters)]))"
    )
    assert json.loads(done.stdout) == [[False, False], ["BanditEnv", "CorrelatedUCLSampler"]]


@pytest.mark.parametrize(
    ("missing", "name", "other"),
    [("gymnasium", "BanditEnv", "CorrelatedUCLSampler"), ("optuna", "CorrelatedUCLSampler", "BanditEnv")],
)
def test_a_missing_library_is_named_with_its_remedy_and_the_other_adapter_works(missing, name, other):
    hide = f"import sys; sys.modules[{missing!r}] = None\n"
    done = run(hide + f"from corrbandits.adapters import {other}; print({other}.__name__)")
    assert done.stdout.strip() == other, done.stderr
    done = run(hide + f"from corrbandits.adapters import {name}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {name} needs {missing}")
    assert f"pip install '.[{missing}]'" in last


def test_no_other_name_is_offered():
    with pytest.raises(AttributeError, match="has no attribute 'Sampler'"):
        _ = cb.adapters.Sampler
