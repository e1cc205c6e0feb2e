"""A campaign: the same outcomes however it is divided, stopped or gone on with."""

import dataclasses
import math
import os
import signal
import subprocess
import time

import numpy as np
import pytest

from corrbandits import choices
from corrbandits.choices import Model, Person, Round
from corrbandits.fits import campaign
from corrbandits.fits.campaign import run
from corrbandits.fits.models import named
from corrbandits.fits.outcomes import Outcome, Outcomes, digest, fitted
from tests.support.choosers import somebody, table
from tests.support.commands import PROGRAM

MODELS = named(["greedy", "independent"])


@pytest.fixture(scope="module")
def people():
    return [somebody(name, rounds=2, horizon=6, seed=seed) for seed, name in enumerate(("Anna", "Ben", "Carla"))]


@pytest.fixture(scope="module")
def whole(people, tmp_path_factory):
    return run(people, MODELS, Outcomes(tmp_path_factory.mktemp("whole") / "fit.jsonl"))


def test_everybody_is_fitted_by_every_model_in_order(people, whole):
    assert [(one.model, one.person) for one in whole] == [(name, p.name) for name in MODELS for p in people]
    for one, person in zip(whole, people * 2, strict=True):
        alone, left_out = choices.fit(person, MODELS[one.model]), choices.leave_one_round_out(person, MODELS[one.model])
        assert (one.values, one.log_likelihood) == (alone.values, alone.log_likelihood)
        assert (one.aic, one.bic) == (alone.aic, alone.bic)
        laws = [
            choices.choice_probabilities(ahead, MODELS[one.model], each.values)[
                range(ahead.choices), ahead.rounds[0].arms[1:]
            ]
            for each, (_, ahead) in zip(left_out.fits, person.left_out(), strict=True)
        ]
        guarded = [np.log(0.999 * law + 0.001 / 16).sum() for law in laws]
        assert one.predicted == pytest.approx(guarded, rel=1e-10)
        assert one.share_explained == pytest.approx(1 + sum(guarded) / (one.choices * math.log(16)), rel=1e-10)


def test_any_number_of_threads_gives_the_same_bits(people, whole, tmp_path):
    assert run(people, MODELS, Outcomes(tmp_path / "fit.jsonl"), threads=3) == whole


def test_what_is_kept_is_read_to_the_last_bit(people, whole, tmp_path, monkeypatch):
    place = tmp_path / "fit.jsonl"
    run(people, MODELS, Outcomes(place))
    monkeypatch.setattr(campaign, "fitted", None)  # nobody is fitted again
    assert run(people, MODELS, Outcomes(place)) == whole


def test_lapses_that_are_fitted_are_foreseen_as_they_are(people):
    model = MODELS["greedy"].fixing({"lapse": 0.1})
    one = fitted(people[0], "lapsing", model)
    assert one.predicted == pytest.approx(choices.leave_one_round_out(people[0], model).rounds.tolist(), rel=1e-10)


def test_rounds_are_left_out_if_that_is_wanted(people, tmp_path):
    place = Outcomes(tmp_path / "fit.jsonl")
    (quick,) = run(people[:1], named(["greedy"]), place, leave_out=False)
    (full,) = run(people[:1], named(["greedy"]), place)
    assert (quick.predicted, len(full.predicted)) == ((), 2)
    assert quick.values == full.values


def test_an_error_keeps_what_was_done_and_the_same_again_goes_on(people, whole, tmp_path, monkeypatch):
    place, count, again = tmp_path / "fit.jsonl", [], []

    def failing(*part, **options):
        count.append(part)
        if len(count) == 3:
            raise MemoryError
        return fitted(*part, **options)

    monkeypatch.setattr(campaign, "fitted", failing)
    with pytest.raises(MemoryError):
        run(people, MODELS, Outcomes(place))
    done = list(Outcomes(place).known().values())
    assert 2 <= len(done) < len(whole)
    assert all(one in whole for one in done)
    monkeypatch.setattr(campaign, "fitted", lambda *part, **options: again.append(part) or fitted(*part, **options))
    assert run(people, MODELS, Outcomes(place)) == whole
    assert len(again) == len(whole) - len(done)


def test_only_who_has_changed_is_fitted_anew(people):
    anna, model = people[0], MODELS["greedy"]
    key = digest(anna, model)
    first, *rest = anna.rounds
    for other in (
        dataclasses.replace(first, rewards=first.rewards + np.eye(first.rewards.size)[2]),
        dataclasses.replace(first, arms=first.arms[::-1]),
        dataclasses.replace(first, given=2),
        dataclasses.replace(first, horizon=99),
    ):
        assert digest(dataclasses.replace(anna, rounds=[other, *rest]), model) != key
    assert digest(dataclasses.replace(anna, coordinates=anna.coordinates * 2), model) != key
    assert digest(anna, model.fixing({"lapse": 0.1})) != key
    assert digest(dataclasses.replace(anna), model) == key


def test_one_round_is_fitted_and_nothing_is_left_out():
    one = fitted(somebody("Anna", rounds=1), "greedy", MODELS["greedy"])
    assert one.predicted == ()
    assert math.isnan(one.foreseen)
    assert one.share_explained == pytest.approx(1 + one.log_likelihood / (one.choices * math.log(16)))


def test_a_line_that_is_none_is_refused_and_one_cut_short_by_a_kill_is_not_counted(whole, tmp_path):
    place = tmp_path / "fit.jsonl"
    Outcomes(place).add(whole[0])
    with place.open("a", encoding="utf-8") as file:
        file.write('{"person": "B')
    assert Outcomes(place).known() == {whole[0].digest: whole[0]}
    Outcomes(place).add(whole[1])
    assert list(Outcomes(place).known().values()) == whole[:2]
    with place.open("a", encoding="utf-8") as file:
        file.write("{}\n")
    with pytest.raises(ValueError, match=r"fit.jsonl, line 3: expected a fit that this program has written, got '{}'"):
        Outcomes(place).known()


def test_ends_that_are_not_known_are_kept_too(tmp_path):
    one = Outcome("A", "m", "d", 3, 2, ("noise",), {"noise": 0.1}, {"noise": math.inf}, -1.0, (-1.0,), ("note.",))
    Outcomes(tmp_path / "fit.jsonl").add(one)
    assert Outcomes(tmp_path / "fit.jsonl").known() == {"d": one}


def lines(place):
    """Return how many lines of a file have ended."""
    return place.read_bytes().count(b"\n") if place.exists() else 0


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_after_a_kill_or_an_interrupt_the_same_command_goes_on(end, tmp_path):
    people = [somebody(number, rounds=2, horizon=6, seed=number) for number in range(1, 41)]
    (tmp_path / "choices.csv").write_text("\n".join(table(people)) + "\n", encoding="utf-8")
    words = [PROGRAM, "fit", "choices.csv", "--given", "1", "--models", "greedy", "--threads", "1"]
    place = tmp_path / "results" / "choices-fit.jsonl"
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as begun:
        until = time.monotonic() + 200
        while lines(place) < 2 and begun.poll() is None and time.monotonic() < until:
            time.sleep(0.01)  # the one that is being written when somebody interrupts is not kept
        os.kill(begun.pid, end)
        said = begun.stderr.read()
    done = lines(place)
    if end == signal.SIGINT:
        assert "What was done is saved in results. Run the same again, and it goes on from there." in said
    assert 0 < done < len(people)
    kept = place.read_bytes()
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert place.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert len(Outcomes(place).known()) == len(people)
    assert (tmp_path / "results" / "choices-fit.html").exists()


def test_a_round_that_was_only_shown_is_nothing_to_foresee():
    shown = Round([0], [5.0], given=1)
    rng = np.random.default_rng(1)
    played = [Round(rng.integers(3, size=6), rng.normal(5.0, 1.0, 6), given=1) for _ in range(2)]
    model = Model(prior_mean=5.0)
    without = fitted(Person(played, arms=3), "m", model)
    assert fitted(Person([shown, *played], arms=3), "m", model).predicted == without.predicted
    assert fitted(Person([shown, played[0]], arms=3), "m", model).predicted == ()
