"""The sentences, from numbers made up."""

import numpy as np
import pytest

from corrbandits.stress import findings as stress_findings
from corrbandits.stress import sentences as stress_words
from corrbandits.stress.settings import settings


def made_up(printed, plain=None, flat=100.0, margin=0.0, **attributes):
    """Return findings and sentences of rows that a function makes: mean regret by accuracy, confidence and length."""
    rows = []
    for setting in settings({"shift": [-2.0, -1.0, 0.0, 1.0, 2.0]}, [0.1, 1.0, 10.0], [0.1, 1.0, 10.0]):
        for name, mean in (("printed", printed), ("plain", plain or printed), ("uninformative", lambda *_: flat)):
            value = float(mean(*setting[1:]))
            rows.append(stress_findings.Row(name, *setting, 10, 5, value, value, value, uninformative_margin=margin))
    about = {"default_kind": "shift", "candidate": "printed", "variance": 10.0, "assumed_length": 2.0, **attributes}
    found = stress_findings.findings(rows, about)
    return found, stress_words.sentences(found, about)


def test_a_break_even_is_found_on_the_straight_line_and_in_logarithms():
    found, sentences = made_up(lambda a, c, n: 50 + 40 * abs(a) * (a < 0) + 100 * abs(np.log10(n)))
    assert found["shift_low"] == pytest.approx(-1.25)
    assert found["shift_high"] is None
    assert found["length_low"] == pytest.approx(10**-0.5)
    assert found["length_high"] == pytest.approx(10**0.5)
    assert sentences[0] == (
        "Your prior helps, and is safe unless its means are lowered by more than 1.25; a length of 0.632 to 6.32 is "
        "safe, with one thing wrong at a time."
    )
    assert "Neither index is to be preferred" in " ".join(sentences)


def test_a_prior_that_always_helps_and_one_that_never_does():
    found, sentences = made_up(lambda *_: 40.0)
    assert sentences[0] == (
        "Your prior helps, and is safe whatever was tried on its means; a length of 0.2 to 20, all that was tried, is "
        "safe, with one thing wrong at a time."
    )
    assert "It is safe with its means shifted by -2 to 2." in sentences
    assert found["safest_worst"] == 40
    found, sentences = made_up(lambda *_: 250.0)
    start = "Your prior hurts, and is unsafe whatever was tried on its means; a length of 0.2 to 20 is nowhere safe"
    assert sentences[0] == f"{start}, with one thing wrong at a time."
    assert "At t = 10 the regret is 250 with your prior and 100 with the uninformative one: 150 % more." in sentences
    assert any(
        sentence.startswith("Safest against a shift of its means is the uninformative prior, with 100")
        for sentence in sentences
    )


@pytest.mark.parametrize(
    ("level", "margin", "said"),
    [
        (60.0, 5.0, "would lose 60, 50 % more: what you know is worth saying."),
        (20.0, 5.0, "would lose 20, 50 % less: prefer it to your policy with your prior."),
        (40.4, 0.1, "would lose 40.4, 1 % more: that makes no difference."),
        (60.0, 25.0, "would lose 60, 50 % more: there is no verdict, since chance may have decided it."),
    ],
)
def test_what_is_lost_if_nothing_is_told(level, margin, said):
    rows, about = [], {"default_kind": "shift", "candidate": "printed"}
    for setting in settings({"shift": [-1.0, 0.0]}, [0.1, 1.0], [1.0, 10.0]):
        for name, value in (("printed", 40.0), ("plain", 40.0), ("uninformative", 100.0), ("vague", level)):
            rows.append(stress_findings.Row(name, *setting, 10, 5, value, value, value, vague_margin=margin))
    sentences = stress_words.sentences(stress_findings.findings(rows, about), about)
    assert f"Told nothing beforehand, the recommended rule {said}" in sentences
    assert ("told nothing, the recommended rule would lose less" in sentences[0]) == ("prefer it" in said)


def test_a_prior_that_makes_no_difference():
    found, sentences = made_up(lambda *_: 101.0)
    assert found["verdict"] == "makes no difference"
    assert sentences[0].startswith("Your prior makes no difference; ")
    assert not any("unless" in sentence for sentence in sentences)
    assert made_up(lambda *_: 0.0, flat=0.0)[0]["verdict"] == "makes no difference"


def test_a_prior_that_hurts_as_given_may_be_safe_elsewhere():
    found, sentences = made_up(lambda a, c, n: 150.0 if n < 10 else 50.0)
    assert found["length_best"] == 10
    assert found["length_low"] == pytest.approx(10**0.5)
    assert "a length of 6.32 to 20, the most that was tried, is safe" in sentences[0]


def test_the_index_to_prefer_costs_less_at_most_than_the_other():
    found, sentences = made_up(lambda a, *_: 50 + 30 * (a == 1), lambda a, *_: 50 + 90 * (a == -1))
    assert (found["printed_excess"], found["plain_excess"], found["prefer"]) == (30, 90, "printed")
    assert sentences[0].endswith("prefer the printed index.")
    found, sentences = made_up(lambda a, *_: 50 + 90 * (a == 1), lambda a, *_: 50.0)
    assert found["prefer"] == "plain"
    assert "costs at most 90 more than the plain one and the plain at most 0 more" in " ".join(sentences)


def test_the_index_to_prefer_and_the_safest_do_not_contradict_each_other():
    found, sentences = made_up(lambda a, c, n: 50 + 10 * abs(a), lambda a, c, n: 40.0 + 100 * (c == n == 1))
    assert (found["prefer"], found["safest_candidate"]) == ("printed", "plain")
    assert sentences[0].endswith("prefer the printed index where you are unsure what is wrong.")
    advice = (
        "prefer the printed index where you are unsure what is wrong, the plain one against a shift of its means alone."
    )
    assert any(sentence.endswith(advice) for sentence in sentences)
    assert any(
        sentence.startswith("Safest against a shift of its means is the plain index with ") for sentence in sentences
    )


def rows_of(means, candidate="printed"):
    """Return rows of means by setting, and the uninformative candidate's 100."""
    flat = [stress_findings.Row("uninformative", "shift", 0.0, 1.0, 1.0, 10, 5, 100.0, 100.0, 100.0)]
    one = [stress_findings.Row(candidate, *at, 10, 5, m, m, m) for at, m in means.items()]
    return one + flat


ABOUT = {"default_kind": "shift", "candidate": "printed", "policy": "CorrelatedUCL(K=4.13)"}
GIVEN, ONE_MEAN = ("shift", 0.0, 1.0, 1.0), ("scale", 0.0, 1.0, 1.0)
TENTH, MUCH = ("shift", 0.0, 0.1, 1.0), ("shift", 0.0, 10.0, 1.0)


def said_of(rows, **attributes):
    about = {**ABOUT, **attributes}
    return stress_words.sentences(stress_findings.findings(rows, about), about)


def test_what_single_means_are_worth_is_said():
    sentences = said_of(rows_of({GIVEN: 36.4, ONE_MEAN: 32.8}))
    assert (
        "With one mean for all arms the regret is 32.8, against 36.4 with your means: your expectations of single arms "
        "add nothing; the gain is from correlation."
    ) in sentences
    assert "; your expectations of single arms add nothing" in sentences[0]
    sentences = said_of(rows_of({GIVEN: 36.0, ONE_MEAN: 60.0}))
    assert any(sentence.endswith("your expectations of single arms save 24.") for sentence in sentences)
    assert "single arms" not in sentences[0]
    assert "from correlation" not in " ".join(said_of(rows_of({GIVEN: 150.0, ONE_MEAN: 120.0})))
    assert "one mean" not in " ".join(said_of(rows_of({GIVEN: 36.0, ONE_MEAN: 36.0}), means_alike=1))
    assert "one mean" not in " ".join(said_of(rows_of({GIVEN: 36.0})))


def test_initialisation_is_said_where_there_is_any():
    rows = [row for row in rows_of({TENTH: 20.0, GIVEN: 40.0, MUCH: 60.0}) if row.candidate == "printed"]
    flat = rows_of({})
    assert "nitialisation" not in " ".join(said_of(rows + flat))
    longer = [row._replace(initial=steps) for row, steps in zip(rows, (0.0, 4.0, 9.5), strict=True)]
    sentences = said_of(longer + flat)
    assert (
        "Of 10 decisions, 4 are initialisation with your prior, 0 at 0.1 times its variance, 9.5 at 10 times its "
        "variance; a smaller nu shortens it."
    ) in sentences
    why = "0.1 times was best, by skipping initialisation, which takes 4 decisions with yours."
    assert any(sentence.endswith(why) for sentence in sentences)
    assert "nu" not in " ".join(said_of(longer + flat, policy="GPUCB()")).split()
    some = [row._replace(initial=steps) for row, steps in zip(rows, (1.5, 4.0, 4.0), strict=True)]
    assert "was best, with 1.5 decisions of initialisation instead of 4." in " ".join(said_of(some + flat))


def test_what_survivors_cost_at_the_other_corners_is_said():
    corners_at = [("shift", x, 1.0, n) for x in (-1.0, 1.0) for n in (0.5, 2.0)]
    rows = rows_of(
        {("shift", x, 1.0, 1.0): 40.0 for x in (-1.0, 0.0, 1.0)}
        | dict(zip(corners_at, (900.0, 50.0, 60.0, 70.0), strict=True))
    )
    of_survivors = {
        "fixed": (300.0, 50.0, 60.0, 70.0),  # in their runs
        "elimination": (200.0, 90.0, 60.0, 50.0),
        "refitting": (210.0, 50.5, 66.0, 50.0),
    }
    for name, means in of_survivors.items():
        rows += rows_of(dict(zip(corners_at, means, strict=True)), name)[:-1]
    assert said_of(rows)[-1] == (
        "At the worst of the 4 corners the regret is 300 with the prior held fixed, 200 with elimination and 210 with "
        "refitting: elimination and refitting save regret; at the other corners they cost up to 40 more."
    )
    cheap = [row._replace(mean=50.0) if row.candidate in ("elimination", "refitting") else row for row in rows]
    assert said_of(cheap)[-1].endswith("save regret.")


def test_where_chance_may_have_decided_nothing_is_said_to_help():
    _, sentences = made_up(lambda *_: 40.0, margin=70.0)
    assert sentences[0] == "Your prior has no verdict at t = 10, since chance may have decided it: play more runs."
    assert not {"helps", "safe", "no difference"} & set(" ".join(sentences).replace(",", "").split())
    assert made_up(lambda *_: 40.0, margin=50.0)[1][0].startswith("Your prior helps")
    assert made_up(lambda *_: 99.0, margin=50.0)[1][0].startswith("Your prior makes no difference")


def test_where_no_time_has_a_verdict_that_is_not_no_difference():
    rows = [row._replace(time=t) for t in (1, 10) for row in rows_of({GIVEN: 90.0})]
    sentences = said_of([row._replace(uninformative_margin=20.0) for row in rows])
    assert "At t = 1, 10 there is no verdict, since chance may have decided it." in sentences
    assert "no difference" not in " ".join(sentences)
