"""What is kept of a study, and what leaves it: priors, files, copies, tables, names."""

import json

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.kernels import WithDeviations
from corrbandits.study import Study, asking, replica
from corrbandits.study.journal import Journal
from tests.support.contracts import FIVE, GAUSSIAN_PRIORS
from tests.support.studies import LINE, bits, events, related

CHORDAL = cb.Matern52(700.0, distance="chordal")


PRIORS = GAUSSIAN_PRIORS | {
    "globe": cb.Correlated(kernel=2.5 * CHORDAL, coordinates=[[51.5, -0.1], [48.9, 2.4]], noise_variance=0.1),
    "sums and products": cb.Implicit(
        mean=[0.1, 0.2, 0.3, 0.4, 1 / 3],
        kernel=3 * cb.Matern32((2.0, 1.0))
        + 0.5 * cb.Exponential(4.0, distance="cityblock") * cb.RationalQuadratic(1.0),
        coordinates=FIVE,
        noise_variance=[0.5, 1.0, 2.0, 4.0, 0.1],
    ),
    "a kernel of one's own": related(kernel=lambda x, y: np.minimum(x, y.T)),
    "deviations": related(kernel=WithDeviations(cb.Exponential(2.0)), coordinates=np.stack([LINE, 1 + LINE], axis=1)),
    "beta": cb.Beta(successes=[1.0, 2.5], failures=0.3),
    "elimination": cb.Elimination([related(), related(mean=0.0)], delta=0.1),
    "refitting": cb.Refitting(mean=3.0, kernel=2 * cb.Exponential(1.5), coordinates=LINE, noise_variance=0.2),
}


@pytest.mark.parametrize("name", PRIORS)
def test_a_prior_comes_back_to_the_last_bit(begin, name):
    prior = PRIORS[name]
    policy = cb.BayesUCB(horizon=50) if name == "beta" else cb.UCL()
    study = begin(prior=prior, policy=policy)
    again = begin.also(Study.open(begin.url, "meadow"))
    assert type(again.settings.prior) is type(prior)
    assert again.settings.policy == policy
    for k, reward in ((0, 1.0), (prior.arms - 1, 0.0), (0, 1.0)):
        study.observe(k, reward)
        prior = prior.observe_all(np.eye(prior.arms, dtype=int)[k], reward * np.eye(prior.arms)[k])
    assert bits(again.belief) == bits(prior)
    copied = begin.also(again.copy("copy"))
    assert study.ask() == copied.ask()


def test_everything_in_the_database_is_plain_json(begin):
    def refuse(constant):
        raise AssertionError(constant)

    study = begin(prior=cb.Independent(variance=[np.inf, 2.0], noise_variance=1.0), policy=cb.UCL())
    study.tell(study.ask(), 0.1 + 0.2)
    bodies = study._journal.read(study._replica.study, 0)
    read = [json.loads(body, parse_constant=refuse) for body in bodies]
    assert read[0]["prior"]["variance"] == ["inf", 2.0]
    assert read[2]["reward"] == 0.1 + 0.2
    assert all(body.isascii() and "\n" not in body for body in bodies)


def test_what_cannot_be_written_down_is_refused_before_anything_is_made(begin, tmp_path):
    class Own(type(cb.Greedy()).__mro__[1]):
        def width(self, t, arms):
            return 0.0

    own = cb.Implicit(kernel=lambda x, y: np.exp(-abs(x - y.T)), coordinates=LINE, noise_variance=1.0)
    refused = [
        ({"policy": Own()}, "one of UCL"),
        ({"prior": own}, "writes its kernel down"),
        ({"prior": related().observe(0, 1.0)}, "has seen nothing"),
        ({"prior": related().assume([0])}, "has seen nothing"),
        ({"prior": "flat"}, "is a belief"),
        ({"prior": cb.Correlated(covariance=np.eye(2001), noise_variance=1.0)}, "kernel="),
        ({"prior": cb.Beta(arms=3)}, "Gaussian belief"),
        ({"goal": "more"}, '"max" or "min"'),
        ({"repeat": 1}, "True or False"),
        ({"timeout": 0.0}, "timeout"),
        ({"seed": -1}, "seed"),
        ({"arms": ["a"]}, "6 names"),
        ({"arms": list("abcdee")}, "different names"),
        ({"arms": {"name": list("abcdef"), "x": [1.0]}}, "6 entries"),
        ({"arms": {"name": list("abcdef"), "note": [object()] * 6}}, "attribute"),
        ({"arms": {"name": [*"abcde", "\x1b[31m"]}}, "printable"),
        ({"arms": "abcdef"}, "must be names"),
    ]
    for settings, message in refused:
        with pytest.raises((ValueError, TypeError), match=message):
            begin(**settings)
    assert not (tmp_path / "survey.db").exists()


def test_a_study_goes_to_a_file_and_into_another_database(begin, tmp_path):
    study = begin(arms={"name": list("abcdef"), "y": LINE, "x": LINE, "soil": ["loam", None, 3, True, 2.5, "=x"]})
    study.ask(3)
    study.tell(2, 1 / 3)
    study.amend(2, 0.1)
    study.export(tmp_path / "meadow.jsonl")
    other = begin.also(Study.import_(f"sqlite:///{tmp_path}/other.db", tmp_path / "meadow.jsonl"))
    assert (other.name, other.arms.attributes) == ("meadow", study.arms.attributes)
    assert bits(other.belief) == bits(study.belief)
    assert other.history().equals(study.history())
    assert other.ask(2) == study.ask(2)
    renamed = begin.also(Study.import_(begin.url, tmp_path / "meadow.jsonl", name="meadow 2"))
    assert Study.list(begin.url) == ("meadow", "meadow 2")
    renamed.delete()
    assert Study.list(begin.url) == ("meadow",)
    with pytest.raises(ValueError, match="deleted"):
        renamed.ask()
    with pytest.raises(ValueError, match="name of its own"):
        Study.import_(begin.url, tmp_path / "meadow.jsonl")


def test_a_copy_with_another_prior_has_all_trials_as_they_stand(begin, monkeypatch):
    clock = [1000.0]
    for module in (replica, asking):
        monkeypatch.setattr(module, "now", lambda: clock[0])
    study = begin(arms=list("abcdef"), timeout=60.0)
    late, *_ = study.ask(5)
    clock[0] += 61
    study.ask()
    study.tell(3, 31.0)
    study.tell(1, 29.0)
    study.amend(1, 29.5)
    study.cancel(2)
    study.observe("e", 40.0, key="notebook 7")
    study.retract(study.observe("e", 400.0))
    prior = related(noise_variance=9.0)
    other = begin.also(study.copy("noisier", prior=prior, policy=cb.UCL(a=3.0)))
    arms = study.history()["arm"].tolist()
    expected = prior.observe([arms[0], arms[2], 4], [29.5, 31.0, 40.0])
    assert bits(other.belief) == bits(expected)
    assert other.settings.policy == cb.UCL(a=3.0)
    same = ["trial", "arm", "status", "first_reward", "asked"]
    assert other.history()[same].equals(study.history()[same])
    assert sorted(set(other.history()["status"])) == [
        "cancelled", "expired", "observed", "open", "retracted", "told",
    ]  # fmt: skip
    assert other.open_trials == study.open_trials
    assert other.observe("e", 40.0, key="notebook 7").number == 7  # it is known there too
    with pytest.raises(ValueError, match="a copy of"):
        other.explain(late)
    trial = other.ask()
    assert trial.number == 9
    assert other.explain(trial).replayed == trial.arm
    with pytest.raises(ValueError, match="as many as the prior's 2"):
        study.copy("fewer", prior=cb.Independent(noise_variance=1.0, arms=2))
    with pytest.raises(ValueError, match="0 or 1"):
        study.copy("unfit", prior=cb.Beta(arms=6))


def test_a_file_that_is_cut_changed_or_no_study_is_refused_and_nothing_is_made(begin, tmp_path):
    study = begin()
    study.tell(study.ask(), 31.0)
    path = tmp_path / "meadow.jsonl"
    study.export(path)
    head, created, *rest = path.read_text().splitlines()
    told = json.loads(rest[1])
    changed = {
        "cut": [head, created, rest[0]],
        "no study": ['{"a": 1}', created],
        "empty": [],
        "text": ["name,x,y", "a,1,2"],
        "newer": [head.replace('"format":1', '"format":2'), created, *rest],
        "an event of another kind": [head, created, rest[0], json.dumps(told | {"event": "__init__"})],
        "told twice": [head.replace('"events":3', '"events":4'), created, *rest, rest[1]],
        "told before it was asked": [head, created, rest[1], rest[0]],
        "no number": [head, created, rest[0], json.dumps(told | {"reward": "31"})],
        "not finite": [head, created, rest[0], rest[1].replace("31.0", "NaN")],
        "a list": [head, created, rest[0], "[1]"],
        "deep": [head, created, rest[0], "[" * 100_000],
        "another class": [head, created.replace('"Correlated"', '"Popen"'), *rest],
        "another rule": [head, created.replace('"CorrelatedUCL"', '"eval"'), *rest],
        "an argument too many": [head, created.replace('"a":2.0', '"a":2.0,"b":1'), *rest],
        "an arm too far": [head, created, rest[0].replace('"arm":0', '"arm":6'), rest[1]],
        "no seed": [head, created.replace('"seed":0', '"seed":"x"'), *rest],
        "no time": [head, created, rest[0].replace('"at":', '"at":1e300,"was":'), rest[1]],
        "allowed is text": [head, created, rest[0].replace('"arm":0', '"arm":0,"allowed":"abc"'), rest[1]],
        "allowed is too far": [head, created, rest[0].replace('"arm":0', '"arm":0,"allowed":[0,99]'), rest[1]],
        "the future was seen": [head, created, rest[0].replace('"arm":0', '"arm":0,"seen":7'), rest[1]],
        "axes that are none": [head, created.replace('"axes":["x"]', '"axes":["\\u001b]0;x"]'), *rest],
        "a kernel in a kernel": [
            head,
            created.replace('"of":{', '"of":{"kernel":"Scaled","variance":1,"of":' * 480),
            *rest,
        ],
        "a rule that cannot choose from the prior": [
            head,
            '{"event":"created","format":1,"seed":0,"goal":"max","repeat":true,"timeout":null,"prior":{"belief":"Beta",'
            '"successes":1.0,"failures":1.0,"arms":6},"policy":{"rule":"CorrelatedUCL"},"arms":{"count":6},"at":1.0}',
            rest[0],
            rest[1].replace("31.0", "1.0"),
        ],
        "a time before 1970": [head, created, rest[0].replace('"at":', '"at":-1,"was":'), rest[1]],
        "no prior": [head, created.replace('"prior":{', '"prior":[],"was":{'), *rest],
        "a name that is no name": [head.replace('"meadow"', '"\\u001b[2J"'), created, *rest],
    }
    for name, lines in changed.items():
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises((ValueError, TypeError)) as raised:
            Study.import_(f"sqlite:///{tmp_path}/other.db", path)
        assert len(str(raised.value)) > 20, name
    with pytest.raises(OSError, match="cannot be read"):
        Study.import_(begin.url, tmp_path / "nowhere.jsonl")
    assert not (tmp_path / "other.db").exists() or Study.list(f"sqlite:///{tmp_path}/other.db") == ()
    assert Study.list(begin.url) == ("meadow",)


def test_names_and_values_from_outside_are_data(begin, tmp_path):
    nasty = [
        "'; DROP TABLE corrbandits_events; --",
        "=cmd|' /C calc'!A0",
        "../../etc/passwd",
        "%s {0} \\x00",
        "+1",
        "é☃",
    ]
    for name in nasty:
        study = begin(name, arms=nasty)
        study.tell(study.ask(allowed=[name]), 1.0)
        assert begin.also(Study.open(begin.url, name)).history()["name"].tolist() == [name]
    assert Study.list(begin.url) == tuple(sorted(nasty))
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("survey.db")] == []
    text = study.to_csv(tmp_path / "history.csv")
    assert (tmp_path / "history.csv").read_text() == text
    study.observe("=cmd|' /C calc'!A0", -3.5)
    last = study.to_csv().splitlines()[-1]
    assert ",'=cmd|' /C calc'!A0,observed,-3.5," in last
    assert begin("نامه\u200cها").name == "نامه\u200cها"  # a sign that joins letters is for reading
    for name in ("", " a", "a\n", "a\x07", "a\u2028b", "x" * 201, "\ud800", 7):
        with pytest.raises((ValueError, TypeError), match="name"):
            begin(name)


def test_what_is_not_there_is_said(begin, tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        Study.open(f"sqlite:///{tmp_path}/none.db", "meadow")
    assert not (tmp_path / "none.db").exists()
    begin("meadow")
    with pytest.raises(ValueError, match=r"no study 'wood'.*meadow"):
        Study.open(begin.url, "wood")
    with pytest.raises(ValueError, match="name of its own"):
        begin("meadow")


def test_a_study_of_a_newer_format_is_refused_in_words(begin):
    study = begin()
    body = json.dumps(events(study)[0] | {"format": 2})
    journal = Journal(begin.url)
    journal.enrol("newer", [body])
    journal.close()
    with pytest.raises(ValueError, match="newer corrbandits"):
        Study.open(begin.url, "newer")


def test_the_history_is_a_labelled_table(begin):
    study = begin(arms=list("abcdef"))
    empty = study.history()
    columns = ["trial", "arm", "name", "status", "reward", "first_reward", "asked", "told", "measured"]
    assert list(empty.columns) == columns
    first, second, third = study.ask(3)
    study.tell(first, 31.0)
    study.amend(first, 32.0)
    study.cancel(second)
    study.observe("f", 12.5)
    table = study.history().set_index("trial")
    assert table["status"].tolist() == ["told", "cancelled", "open", "observed"]
    assert table.loc[1, ["reward", "first_reward"]].tolist() == [32.0, 31.0]
    assert table["reward"].isna().tolist() == [False, True, True, False]
    assert table.loc[4, "name"] == "f"
    assert table["asked"].isna().tolist() == [False, False, False, True]
    assert (table.loc[1, "told"] - table.loc[1, "asked"]).total_seconds() >= 0
    assert table.dtypes.astype(str).tolist()[-2:] == ["datetime64[ms, UTC]"] * 2
    assert third.number == 3


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (None, "expected a study with one event at least, got none"),
        ("{created}", r"event 2 cannot be read: an event after the first must be one of asked, .*, got 'created'"),
        (
            '{"event":"observed","trial":1,"arm":0,"reward":1.0,"reward":2.0,"at":5.0}',
            "event 2 cannot be read: each name must come once, got 'reward' twice",
        ),
    ],
)
def test_a_file_that_is_no_history_is_refused_with_the_reason(begin, tmp_path, more, words):
    path = tmp_path / "meadow.jsonl"
    begin().export(path)
    created = path.read_text().splitlines()[1]
    bodies = [] if more is None else [created, more.replace("{created}", created)]
    head = {"corrbandits": "study", "format": 1, "name": "other", "events": len(bodies)}
    path.write_text("\n".join([json.dumps(head), *bodies]) + "\n")
    with pytest.raises(ValueError, match=words):
        Study.import_(begin.url, path)
    assert "other" not in Study.list(begin.url)


def test_a_file_of_which_no_choice_could_be_made_is_refused(begin, tmp_path):
    study = begin(prior=cb.Independent(noise_variance=1.0, arms=2), policy=cb.UCL())
    study.observe(0, 1.5e308)
    study.observe(1, 2.5)
    path = tmp_path / "meadow.jsonl"
    study.export(path)
    head, *lines = path.read_text().splitlines()
    plain = {name: value for name, value in json.loads(head).items() if name != "digest"}
    path.write_text("\n".join([json.dumps(plain), *lines]).replace("2.5", "-1.5e308") + "\n")
    with pytest.raises(ValueError, match="could not be compared"):
        Study.import_(f"sqlite:///{tmp_path}/other.db", path)


def test_an_arms_name_in_another_normal_form_is_the_same_arm(tmp_path):
    """As some systems type it; of two arms that differ by it alone each is found by its own."""
    sites = {"name": ["M\u00fchle", "Fu\u0308rt", "caf\u00e9", "cafe\u0301"], "x": [0.0, 1.0, 2.0, 3.0]}
    with cb.Study.create(tmp_path / "s.db", "s", arms=sites, rounds=9) as study:
        told = ["Mu\u0308hle", "F\u00fcrt", "caf\u00e9", "cafe\u0301"]
        assert [study.observe(name, 1.0).arm for name in told] == [0, 1, 2, 3]


def test_a_name_in_another_normal_form_is_the_same_study(tmp_path):
    composed, apart = "pr\u00e9", "pre\u0301"
    where = tmp_path / "s.db"
    with cb.Study.create(where, apart, arms=["a", "b"], rounds=9) as study:
        assert study.name == composed
        trial = study.ask()
    for name in (composed, apart):
        with cb.Study.open(where, name) as again:
            assert (again.name, again.open_trials) == (composed, [trial])
    with pytest.raises(ValueError, match="needs a name of its own"):
        cb.Study.create(where, composed, arms=["a", "b"], rounds=9)
    assert cb.Study.list(where) == (composed,)


def test_studies_of_old_are_reached_by_the_names_they_have(tmp_path):
    composed, apart = "pr\u00e9", "pre\u0301"
    with cb.Study.create(tmp_path / "s.db", "x", arms=["a", "b"], rounds=9) as study:
        body = study._replica.events()[0]
    journal = Journal(str(tmp_path / "s.db"))
    journal.enrol(apart, [body])
    assert Study.open(journal, composed).name == apart
    with pytest.raises(ValueError, match="needs a name of its own, but there is a 'pre\u0301'"):
        Study.create(journal, composed, arms=["a", "b"])
    journal.enrol(composed, [body])  # as there may be from before
    for name in (composed, apart):
        found = Study.open(journal, name)
        found.ask()
        assert (found.name, found.t) == (name, 2)
    assert set(Study.list(journal)) == {"x", composed, apart}
    journal.close()
