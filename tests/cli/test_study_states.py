"""Every command of `corrbandits study` says one state of the study, from one read."""

import functools
import inspect
import subprocess
import sys
from collections import Counter

import pytest

import corrbandits as cb
from corrbandits.cli.study import trials
from corrbandits.cli.study.commands import app_for
from corrbandits.cli.study.plain import plain_call
from corrbandits.study.journal import Journal
from tests.support.shell import CREATE, SITES, default_database, environment, forked


@pytest.fixture
def reads(monkeypatch):
    """How often commands read the journal; `happens` is called after each read, with its number."""
    whole, seen = Journal.read, Counter()

    def read(journal, study, after, known=None):
        found = whole(journal, study, after, known)
        seen["reads"] += 1
        if read.happens is not None:
            happens, read.happens = read.happens, None  # what it does reads too
            happens(seen["reads"])
            read.happens = happens
        return found

    read.happens, read.seen = None, seen
    monkeypatch.setattr(Journal, "read", read)
    return read


OPENING, WRITING, SNAPSHOT = 1, 1, 1
COMMANDS = {
    ("show", "meadow"): OPENING + SNAPSHOT,
    ("best", "meadow"): OPENING + SNAPSHOT,
    ("history", "meadow"): OPENING + SNAPSHOT,
    ("plot", "meadow"): OPENING + SNAPSHOT,
    ("explain", "meadow", "1"): OPENING + SNAPSHOT,
    ("export", "meadow"): OPENING + 1,
    ("tell", "meadow", "1", "31.2"): OPENING + WRITING + SNAPSHOT,
    ("amend", "meadow", "2", "31.2"): OPENING + WRITING + SNAPSHOT,
    ("cancel", "meadow", "1"): OPENING + WRITING + SNAPSHOT,
    ("retract", "meadow", "2"): OPENING + WRITING + SNAPSHOT,
    ("ask", "meadow"): OPENING + WRITING + SNAPSHOT,
    ("observe", "meadow", "p11", "3"): OPENING + 2 * WRITING + SNAPSHOT,  # which arm, and then whether it is there
    ("delete", "meadow", "--yes"): OPENING + WRITING,  # what others have appended meanwhile
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_reads_are_counted(ok, reads, command, as_json):
    ok(*CREATE)
    ok("ask", "meadow")
    ok("observe", "meadow", "p00", "30")
    reads.seen.clear()
    ok(*command[:1], *(["--json"] if as_json else []), *command[1:])
    assert reads.seen["reads"] == COMMANDS[command]


@pytest.mark.parametrize("at", range(1, 6))
def test_another_writer_between_two_reads_cannot_mix_two_states(ok, answer, reads, tmp_path, at):
    """A mistyped reward is told; another amends it at some moment: the reward said and the warning go together."""
    ok(*CREATE, "--prior-mean", "30", "--prior-sd", "5")
    ok("ask", "meadow")

    def amend(number):
        if number == before + at:
            with cb.Study.open(default_database(tmp_path), "meadow") as other:
                if other.reward(1) is not None:
                    other.amend(1, 30.4)

    before = reads.seen["reads"]
    reads.happens = amend
    told = answer("tell", "meadow", "1", "304")
    assert (told["reward"] == 304) == (told["surprise"] is not None)
    reads.happens = None
    assert answer("tell", "meadow", "1", "304")["reward"] in (304, 30.4)


@pytest.mark.parametrize("at", range(1, 4))
def test_the_numbers_of_show_belong_together(ok, answer, reads, tmp_path, at):
    ok(*CREATE)
    ok("ask", "meadow", "-n", "2")
    before = reads.seen["reads"]

    def work(number):
        if number == before + at:
            with cb.Study.open(default_database(tmp_path), "meadow") as other:
                other.tell(1, 31.0)
                other.ask(3)

    reads.happens = work
    shown = answer("show", "meadow")
    counts = shown["trials"]
    assert shown["t"] == 1 + counts["told"] + counts["open"]
    assert counts["open"] == len(shown["open"])
    assert sum(one["rewards"] for one in shown["top"]) == counts["told"]


def test_copies_say_the_prior_of_all_arms_also_of_those_added_later(ok, answer, tmp_path):
    ok(*CREATE, "--prior-mean", "30", "--prior-sd", "5")
    (tmp_path / "more.csv").write_text("name,x,y,prior_mean\nq,900,900,50\n")
    assert answer("add-arms", "meadow", "--arms", "more.csv") == {"study": "meadow", "arms": 13, "added": 1}
    expected = "exponential kernel of length 300, mean 30 to 50 ± 5; noise ± 2"
    assert answer("show", "meadow")["prior"] == expected
    copied = answer("copy", "meadow", "again")
    assert (copied["prior"], copied["arms"]) == (expected, 13)
    assert expected in ok("copy", "meadow", "said")
    ok("export", "meadow")
    imported = answer("import", "meadow.jsonl", "--name", "imported")
    assert (imported["prior"], imported["arms"]) == (expected, 13)
    other = answer("copy", "meadow", "noisier", "--noise-sd", "3")
    assert other["prior"] == "exponential kernel of length 300, mean 30 to 50 ± 5; noise ± 3"


LOADED = """
import sys
sys.argv = {arguments!r}
from corrbandits.cli import entry
try:
    entry.main()
finally:
    libraries = {{"scipy", "rich", "pandas", "matplotlib", "xarray", "numba", "pydantic"}}
    heavy = {{name.split(".")[0] for name in sys.modules}} & libraries
    ours = {{name for name in sys.modules if name.startswith(("corrbandits.environments", "corrbandits.simulation",
             "corrbandits.theory", "corrbandits.cli.experiments", "corrbandits.cli.study.studies",
             "corrbandits.study.report.overview", "corrbandits.study.report.inference", "corrbandits.study.setup"))}}
    print(sorted(heavy | ours), file=sys.stderr)
"""


def test_telling_a_reward_loads_only_what_it_needs(tmp_path):
    (tmp_path / "sites.csv").write_text(SITES)
    for command in (CREATE, ("ask", "meadow"), ("ask", "meadow")):
        assert forked("study", *command, cwd=tmp_path).returncode == 0
    for command, warned in ((("tell", "meadow", "1", "31.2"), False), (("tell", "meadow", "2", "3e5"), True)):
        code = LOADED.format(arguments=["corrbandits", "study", *command])
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert ("WARNING" in done.stdout) is warned
        unneeded = "[]" if not warned else "['corrbandits.study.report.inference']"  # for the words of the warning
        assert done.stderr.strip() == unneeded, command


LINES = [
    "tell meadow 1 3.5",
    "tell meadow 1 3.5 --json",
    "tell --json meadow 1 -3.5",
    "tell meadow 1 -.5e1 --db other.db",
    "tell --db other.db meadow 1 3",
    "amend meadow 2 -7",
    "cancel meadow 1",
    "retract --json meadow 2",
]
NOT_PLAIN = [
    "",
    "tell",
    "tell meadow 1",
    "tell meadow 1 2 3",
    "tell --help",
    "tell meadow 1 2 --jsn",
    "tell meadow 1 2 --db",
    "tell meadow 1 2 --db --json",
    "tell meadow 1 2 --db=other.db",
    "tell -- meadow 1 2",
    "tell -meadow 1 2",
    "cancel meadow -1",
    "observe meadow p00 3",
    "show meadow",
]


@pytest.mark.parametrize("variable", [None, "", "variable.db"])
@pytest.mark.parametrize("line", LINES)
def test_a_plain_line_is_understood_as_typer_does(monkeypatch, line, variable):
    monkeypatch.delenv("CORRBANDITS_DB", raising=False)
    if variable is not None:
        monkeypatch.setenv("CORRBANDITS_DB", variable)
    said = []
    for name in ("tell", "amend", "cancel", "retract"):
        function = getattr(trials, name)

        @functools.wraps(function)
        def note(*arguments, _function=function, **options):
            bound = inspect.signature(_function).bind(*arguments, **options)
            bound.apply_defaults()
            said.append((_function.__name__, bound.arguments))

        monkeypatch.setattr(trials, name, note)
    plain_call(line.split())()
    app_for(line.split())(line.split(), standalone_mode=False)
    assert said[0] == said[1]


@pytest.mark.parametrize("line", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_typer(line):
    assert plain_call(line.split()) is None
