"""Who made an event: kept with it, read again, carried into copies and exports; and events without it stay readable."""

import json

import pytest

import corrbandits as cb
from corrbandits.study.events import parsed


@pytest.fixture
def study(tmp_path):
    with cb.Study.create(tmp_path / "a.db", "meadow", arms=["brook", "hill", "wood"], rounds=9, by="Anna") as found:
        yield found


def makers(study):
    return [parsed(body).get("by") for body in study._replica.events()]


def test_every_event_says_who_made_it(study):
    ben = study.signed("Ben")
    first, second = ben.ask(2)
    ben.tell(first, 1.0)
    study.amend(first, 2.0)
    ben.retract(first)
    study.cancel(second)
    ben.observe("wood", 3.0)
    study.signed(None).observe("hill", 3.0)
    assert makers(study) == ["Anna", "Ben", "Ben", "Ben", "Anna", "Ben", "Anna", "Ben", None]
    entries = study.snapshot().ledger.trials
    assert [(entry.asked_by, entry.told_by) for entry in entries] == [
        ("Ben", "Anna"),
        ("Ben", None),
        (None, "Ben"),
        (None, None),
    ]
    assert study.snapshot().ledger.created_by == "Anna"


def test_it_is_read_again_and_goes_with_copies_and_exports(study, tmp_path):
    trial = study.signed("Ben").ask()
    study.tell(trial, 1.0)
    study.amend(trial, 2.0)
    study.export(tmp_path / "study.jsonl")
    copies = [
        cb.Study.open(tmp_path / "a.db", "meadow", by="Cem"),
        cb.Study.import_(tmp_path / "b.db", tmp_path / "study.jsonl"),
        study.copy("second"),
        study.copy("third", policy=cb.Greedy()),
    ]
    for copy in copies:
        entry = copy.snapshot().ledger.entry(1)
        assert (entry.asked_by, entry.told_by, entry.reward) == ("Ben", "Anna", 2.0)
    copies[0].observe("wood", 1.0)
    assert makers(study)[-1] == "Cem"
    for copy in copies:
        copy.close()


def test_a_study_that_says_nothing_of_its_makers_is_as_it_was(tmp_path):
    with cb.Study.create(tmp_path / "a.db", "meadow", arms=["brook", "hill"], rounds=9) as study:
        study.tell(study.ask(), 1.0)
        assert not any({"by", "unit"} & json.loads(body).keys() for body in study._replica.events())


@pytest.mark.parametrize("by", ["", " Anna", "a\nb", "x" * 201, "\x1b[2J"])
def test_a_name_that_cannot_be_shown_is_refused(study, by):
    with pytest.raises(ValueError, match="who makes events"):
        study.signed(by)
    with pytest.raises(ValueError, match="who made an event"):
        study.snapshot().ledger.draft(
            [json.dumps({"event": "observed", "trial": 1, "arm": 0, "reward": 1, "at": 1, "by": by})]
        )


def test_the_unit_of_rewards_is_kept(tmp_path):
    with cb.Study.create(tmp_path / "a.db", "meadow", arms=["brook", "hill"], rounds=9, unit="dt/ha"):
        pass
    with cb.Study.open(tmp_path / "a.db", "meadow") as study:
        assert study.settings.unit == "dt/ha"
    with pytest.raises(ValueError, match="unit"):
        cb.Study.create(tmp_path / "a.db", "other", arms=["brook", "hill"], unit="\n")
