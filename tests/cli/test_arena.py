"""The command `corrbandits arena`."""

import csv
import re

import pytest

from corrbandits.arena.reference import reference
from corrbandits.arena.results import Results
from tests.support.commands import corrbandits

SMALL = ("--horizons", "10", "--problems", "1", "--seed", "7", "--threads", "1")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    rows = [f"{x},{y},{20 + x - y + (x * y) % 3}" for x in range(5) for y in range(6)]
    (folder / "fields").mkdir()
    (folder / "fields" / "meadow.csv").write_text("\n".join(["x,y,yield", *rows]) + "\n", encoding="utf-8")
    asked = ("--families", "chain, field meadow", "--fields", "fields", "--out", "out")
    return folder, corrbandits("arena", *asked, *SMALL, cwd=folder)


def test_it_writes_a_table_a_page_and_figures_and_says_who_lost_least(played):
    folder, done = played
    assert done.returncode == 0, done.stderr
    assert "After 10 decisions, Gittins told nothing has lost" in done.stdout
    assert "1 real field" in done.stdout
    said = " ".join(done.stdout.split())
    for where in ("family", "field"):
        assert f"There is no verdict yet, with 1 problem of each {where}" in said
    assert "seed 7" in done.stdout
    made = {path.name for path in (folder / "out").iterdir()}
    pictures = {f"arena-{name}.{end}" for name in ("leaderboard", "families", "wrongly") for end in ("png", "pdf")}
    assert made == {"arena.json", "games.csv", "fields.csv", "arena.csv", "arena.html", *pictures}
    with (folder / "out" / "arena.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert {row["family"] for row in table} == {"all families", "all fields", "chain", "field meadow"}
    assert re.search(r"^Gittins +nothing +\d", done.stdout, re.MULTILINE)


def test_only_rules_that_are_told_so_play(tmp_path):
    asked = ("--families", "chain", "--out", "out", *SMALL)
    done = corrbandits("arena", "--told", "nothing", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {game.told for game in Results(tmp_path / "out").games()} == {"nothing"}


def test_only_rules_that_are_named_play(tmp_path):
    asked = ("--families", "chain", "--out", "out", *SMALL)
    done = corrbandits("arena", "--rules", "Gittins, UCL a=1", "--told", "everything,nothing", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {(game.rule, game.told) for game in Results(tmp_path / "out").games()}
    named = {(rule, told) for rule in ("Gittins", "UCL a=1") for told in ("everything", "nothing")}
    assert found == named | {reference("chain", 10)}  # ratios are to that one
    assert "plays no games" not in done.stdout
    assert re.search(r"^Gittins +nothing +\d", done.stdout, re.MULTILINE)


def test_rules_that_were_named_and_cannot_play_are_said(tmp_path):
    named = ("--rules", "Gittins,CorrelatedUCL", "--families", "chain", "--problems", "1")
    asked = ("--told", "nothing", "--horizons", "10,60", "--seed", "7", "--threads", "1", "--out", "out")
    done = corrbandits("arena", *named, *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    missing = "CorrelatedUCL, told nothing, plays no games of 10 or 60 decisions: it cannot"
    assert missing in " ".join(done.stdout.split())
    done = corrbandits("arena", "--rules", "CorrelatedUCL", *named[2:], *asked[:-1], "none", cwd=tmp_path)
    assert done.returncode == 2
    assert f"none in none. {missing}" in " ".join(done.stderr.split())


@pytest.mark.parametrize("told", ["wrongly", "nothing"])
def test_a_report_without_ratios_is_made_without_pictures_of_them(tmp_path, told):
    asked = ("--families", "chain", "--rules", "Gittins", "--told", told, "--out", "out", *SMALL)
    done = corrbandits("arena", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert made == {"arena.json", "games.csv", "arena.csv", "arena.html"}
    assert "Random" not in done.stdout
    assert re.search(r"^Gittins +(nothing|length x 4) +– ", done.stdout, re.MULTILINE)
    assert 'class="chart' not in (tmp_path / "out" / "arena.html").read_text(encoding="utf-8")


def test_games_that_another_program_added_are_reported(played):
    folder, _ = played
    results = Results(folder / "out")
    results.add([results.games()[0]._replace(rule="A peer", told="nothing", regret=1.0)])
    done = corrbandits("arena", "--problems", "0", "--horizons", "10", "--out", "out", cwd=folder)
    assert re.search(r"^A peer +nothing +\S", done.stdout, re.MULTILINE)
    assert "A peer, told nothing" in (folder / "out" / "arena.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--seed", "1500"), "the seed of a report must not be from 1000 to 1999, which rules are tuned on, got 1500"),
        (("--families", "chian"), "got 'chian'. Did you mean 'chain'?"),
        (("--rules", "gitins"), "got 'gitins'. Did you mean 'Gittins'?"),
        (("--told", "all"), "--told must be of everything, nothing, wrongly, got 'all'"),
        (("--horizons", "5"), "--horizons must be whole numbers from 10, got '5'"),
        (("--horizons", "50;200"), "got '50;200'. Put commas between several, as in 50,200"),
        (("--fields", "nowhere"), "fields must be a folder of CSV files, got 'nowhere'"),
        (("--problems", "0"), "a report needs games, but there are none in out"),
    ],
)
def test_a_slip_is_refused_with_what_to_do(asked, message, tmp_path):
    done = corrbandits("arena", *asked, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "out" / "games.csv").exists()


def test_another_seed_is_not_mixed_in(played):
    folder, _ = played
    done = corrbandits("arena", "--seed", "8", "--out", "out", cwd=folder)
    assert done.returncode == 2
    assert "out has games of seed 7, got 8. Leave the seed out, or name another folder." in " ".join(
        done.stderr.split()
    )


def test_a_field_alone_is_played_and_once_changed_refused(played):
    folder, _ = played
    asked = ("--families", "field meadow", "--fields", "fields", "--out", "alone", *SMALL)
    done = corrbandits("arena", *asked, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "alone" / "arena-families.png").exists()
    with (folder / "fields" / "meadow.csv").open("a", encoding="utf-8") as file:
        file.write("9,9,30\n")
    done = corrbandits("arena", *asked, cwd=folder)
    assert done.returncode == 2
    assert "alone has games of 'field meadow', but its file has changed since" in " ".join(done.stderr.split())


@pytest.fixture
def roads(tmp_path):
    (tmp_path / "series").mkdir()
    rows = [",".join([f"r{k}", *(str((7 * k + t) % 5) for t in range(30))]) for k in range(4)]
    head = ",".join(["name", *(f"t{t}" for t in range(30))])
    (tmp_path / "series" / "speeds.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return tmp_path


def test_series_alone_are_played_as_long_as_they_last(roads):
    asked = ("--series", "series", "--families", "series", "--horizons", "10,50", *SMALL[2:], "--out", "out")
    done = corrbandits("arena", *asked, cwd=roads)
    assert done.returncode == 0, done.stderr
    with (roads / "out" / "arena.csv").open(encoding="utf-8", newline="") as file:
        assert {row["family"] for row in csv.DictReader(file)} == {"all series", "series speeds"}
    assert "series speeds has 30 times: it was played for up to 10 decisions." in done.stdout
    assert "Regret is in standard deviations of a problem's mean rewards. Random is cb.Uniform." in done.stdout


def test_series_too_short_for_every_horizon_are_refused(roads):
    asked = ("--series", "series", "--families", "series", "--horizons", "50", *SMALL[2:], "--out", "out")
    done = corrbandits("arena", *asked, cwd=roads)
    assert done.returncode == 2
    assert "but series speeds has 30 times and the shortest is 50" in done.stderr
    assert not (roads / "out").exists()


@pytest.mark.parametrize("group", ["series", "fields"])
def test_groups_of_families_need_their_folder(tmp_path, group):
    done = corrbandits("arena", "--families", group, *SMALL, "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert f"Name it: --{group} FOLDER." in done.stderr
