"""Nothing but an ExperimentError is ever raised because of a wrong file."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corrbandits.experiment import ExperimentError, load
from corrbandits.experiment.truth import A_DRAW
from corrbandits.policies import RULES
from tests.support.experiment_files import BERNOULLI, EXAMPLE, PLAIN, SITES, SMALL

WITHIN = {
    "Blocked": 'of = "UCL"\nlength = 3',
    "OnGraph": 'of = { rule = "UCL", a = 2.0 }\ngraph = [[0, 1], [1, 2, 2.5]]',
    "Softmax": 'of = "Gittins"\ntemperature = 0.5',
    "Satisficing": 'of = "HorizonUCL"\nM = 3.0',
    "Travelling": 'of = "UCL"',
    "Safe": 'of = { rule = "Blocked", of = "Thompson" }\nfloor = -inf\ndelta = 0.1',
}
RICH = f"""\
[arms]
csv = "sites.csv"
[truth]
column = "yield"
noise_variance = [1.0, 2.0, 3.0]
[priors.a]
column = "prior_mean"
kernel = {{ name = "rational_quadratic", length = [1.0, 2.0], variance = 2.0, distance = "euclidean", alpha = 2.0 }}
noise_variance = 3.0
[priors.b]
mean = [1.0, 2.0, 3.0]
variance_column = "prior_variance"
[priors.c]
covariance = [[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]
{
    "".join(
        f'''
[policies.{name}]
rule = "{name}"
{WITHIN.get(name, "")}
prior = "{prior}"'''
        for name, prior in zip(RULES, itertools.cycle("abc"), strict=False)
    )
}
[moves]
per_move = 0.5
per_distance = 0.1
[run]
horizon = 20
runs = 3
seed = 1
"""
DRAWN = f"""\
[arms]
grid = [2, 3]
[truth]
{A_DRAW}
noise_variance = 1.0
{EXAMPLE[EXAMPLE.index("[priors.smooth]") :]}"""
COINS = SMALL.format(**{**PLAIN, "truth": BERNOULLI, "prior": "successes = 1.0\nfailures = [1.0, 2.0, 1.5]"})
VALID = [EXAMPLE, RICH, DRAWN, COINS]

ODD = ["true", "-1", "0", "1e308", "nan", "-inf", "9" * 30, '""', '"UCL"', "[]", "[1, [2]]", '["a"]', "{}", "{ x = 1 }"]
ODD += ["1979-05-27", "07:32:00", '"\\u0000"', "[[1.0, 2.0], [2.0, 1.0]]", "1e-320", "[true]", '"sites.csv"']


def only_refused(read, text):
    """Return whether the text is refused; assert that the refusal names a line that it has."""
    try:
        read(text)
    except ExperimentError as error:
        message = str(error)
    else:
        return False
    found = re.search(r"experiment\.toml, line (\d+): \S", message)
    assert found, message
    assert 1 <= int(found[1]) <= text.count("\n") + 1
    return True


@pytest.mark.parametrize("text", VALID)
def test_a_line_left_out_or_misspelt_or_of_another_type_is_refused_or_harmless(read, text):
    assert not only_refused(read, text)
    rows = text.splitlines(keepends=True)
    for k, row in enumerate(rows):
        only_refused(read, "".join(rows[:k] + rows[k + 1 :]))
        if row.strip():
            misspelt = re.sub(r"(\w)(\w|(?=\W))", r"\2\1x", row, count=1)
            assert only_refused(read, "".join([*rows[:k], misspelt, *rows[k + 1 :]])), misspelt


@pytest.mark.parametrize("text", VALID)
def test_no_odd_value_does_more_than_be_refused(read, text):
    for found in re.finditer(r"(?<== )(\"[^\"\n]*\"|[\w.]+|\[[^{}\n]*\](?=[\s,])|\{[^{}\n]*\})", text):
        for odd in ODD:
            only_refused(read, text[: found.start()] + odd + text[found.end() :])


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_change_of_characters_does_more_than_be_refused(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "changed"
    folder.mkdir(exist_ok=True)
    (folder / "sites.csv").write_text(SITES)
    text = data.draw(st.sampled_from(VALID))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        until = at + data.draw(st.integers(0, 5))
        text = text[:at] + data.draw(st.text(alphabet='[]{}="\n#., -0a1e', max_size=3)) + text[until:]

    def read(changed):
        (folder / "experiment.toml").write_bytes(changed.encode())
        return load(folder / "experiment.toml")

    only_refused(read, text)
