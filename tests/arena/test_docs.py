"""The page on the arena: its numbers are those of the file beside it, which a command writes from a folder of games."""

import json

import numpy as np
import pytest
from matplotlib.image import imread

from corrbandits import plots
from corrbandits.arena import figures
from corrbandits.arena.contestants import contestants
from corrbandits.arena.problems import TUNING, VERSION
from corrbandits.arena.results import Game, Results
from tests.support import ROOT, script

ARENA, FAMILIES, PEERS = script("docs/arena.py"), script("docs/families.py"), script("docs/peers.py")
DATA = json.loads((ROOT / "docs" / "arena.json").read_text(encoding="utf-8"))


def between(mark):
    """A page with something between marks."""
    return f"before\n<!-- {mark} -->\nwhat was there\n<!-- end of {mark} -->\nafter\n"


def test_the_page_shows_what_was_measured(tmp_path):
    for place, text in ((ARENA.PAGE, ARENA.report(DATA)), (ARENA.CHOOSING, ARENA.by_knowledge(DATA))):
        page = place.read_text(encoding="utf-8")
        assert ARENA.written(page, ARENA.MARK, text) == page, "run: python docs/arena.py FOLDER"
    assert DATA["problems"] == VERSION
    assert not {*DATA["seeds"].values()} & {*TUNING}
    plots.save(figures.leaderboard(ARENA.read(DATA)), tmp_path / "drawn.png")
    drawn, kept = imread(tmp_path / "drawn.png"), imread(ROOT / "docs" / "arena-leaderboard.png")
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 0.01  # another build of the same fonts may shift a pixel


def test_the_command_makes_the_page_of_a_folder(tmp_path):
    rng, results = np.random.default_rng(0), Results(tmp_path / "games", seed=7)
    results.add(
        Game(family, number, 50, *one, 5 + 5 * rng.random(), rng.random(), 1e-3)
        for one in [*contestants(50, 100), ("a|peer_", "nothing")]
        for family in ("chain", "trend")
        for number in range(3)
    )
    for page in ("arena.md", "choosing-a-policy.md"):
        (tmp_path / page).write_text(between(ARENA.MARK), encoding="utf-8")
    ARENA.main([str(tmp_path / "games"), "--docs", str(tmp_path)])
    text = (tmp_path / "arena.md").read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "what was there" not in text
    assert str(tmp_path) not in text
    assert "| a\\|peer\\_, told nothing |" in text
    assert "Seed 7, version" in text
    choosing = (tmp_path / "choosing-a-policy.md").read_text(encoding="utf-8")
    assert "after 50 decisions" in choosing
    assert "6 problems" in choosing
    assert [line.split(" | ")[0] for line in choosing.splitlines() if line.startswith("| told")] == [
        "| told everything",
        "| told nothing",
    ]
    data = json.loads((tmp_path / "arena.json").read_text(encoding="utf-8"))
    assert {row[1] for row in data["rows"]} == {"all families", "chain", "trend"}
    assert (tmp_path / "arena-leaderboard.png").exists()
    longer = Results(tmp_path / "longer", seed=8)
    longer.add(game._replace(horizon=90) for game in results.games())
    ARENA.main([str(tmp_path / "longer"), "--keep", "--docs", str(tmp_path)])
    text = (tmp_path / "arena.md").read_text(encoding="utf-8")
    assert "### After 50 decisions" in text
    assert "### After 90 decisions" in text
    assert "Seeds 7 (50 decisions) and 8 (90 decisions), version" in text


def test_the_page_shows_what_was_measured_of_families():
    page = FAMILIES.PAGE.read_text(encoding="utf-8")
    data = json.loads(FAMILIES.DATA.read_text(encoding="utf-8"))
    assert FAMILIES.written(page, FAMILIES.MARK, FAMILIES.report(data)) == page, "run: python docs/families.py FOLDER"
    assert data["problems"] == VERSION
    assert not {*data["seeds"].values()} & {*TUNING}


def test_the_command_compares_rules_family_by_family(tmp_path):
    results = Results(tmp_path / "games", seed=7)
    regrets = {
        ("Gittins", "nothing"): (10.0, 14.4),
        ("Gittins", "everything"): (10.0, 10.0),
        ("HorizonUCL", "nothing"): (15.0, 18.0),
        ("UCL a=1", "everything"): (20.0, 6.0),
        ("CorrelatedUCL", "everything"): (40.0, 40.0),
    }
    results.add(
        Game(family, number, 200, *one, regret + (number % 3) * (one[0] != "Gittins"), 0.1, 1e-3)
        for one, each in regrets.items()
        for family, regret in zip(("independent", "site effects"), each, strict=True)
        for number in range(9)
    )
    results.add([Game("site effects", 1, 200, "seldom", "nothing", 0.1, 0.1, 1e-3)])
    (tmp_path / "arena.md").write_text(between(FAMILIES.MARK), encoding="utf-8")
    FAMILIES.main([str(tmp_path / "games"), "--docs", str(tmp_path)])
    text = (tmp_path / "arena.md").read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    told = "the default has lost 1.2 (1.2 to 1.2) times what the best rule told the right prior has lost"
    assert f"{told}, in geometric mean over 2 families; at most 1.44 times, in site effects" in text
    said = "has lost more than the default in 1 of 2, significantly in 1, and significantly less in 1."
    assert f"UCL a=1, told everything, {said}" in text
    assert "CorrelatedUCL, told everything, has lost more than the default in 2 of 2" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[2][:3] == ["independent", "9", "1 (1 to 1)"]
    assert rows[2][3] == "+110 % (+103 % to +117 %)"
    assert rows[3][5] == "HorizonUCL: +32 %"
    assert "Seed 7, version" in text


def test_the_page_shows_what_peers_lost():
    page = PEERS.PAGE.read_text(encoding="utf-8")
    data = json.loads(PEERS.DATA.read_text(encoding="utf-8"))
    assert PEERS.written(page, PEERS.MARK, PEERS.report(data)) == page, "run: python docs/peers.py FOLDER"
    assert data["problems"] == VERSION
    assert not {*data["seeds"].values()} & {*TUNING}


@pytest.mark.parametrize("length", [40, 200])
def test_what_the_page_says_of_peers_follows_from_the_games_that_are_kept(length):
    results = Results(ROOT / "benchmarks" / "games" / str(length))
    data, found = json.loads(PEERS.DATA.read_text(encoding="utf-8")), PEERS.kept(results.games(), results.seed)
    assert data["seeds"][str(length)] == results.seed
    assert data["behind"][str(length)] == found["behind"][str(length)]
    assert [row for row in data["rows"] if row[0] == length] == found["rows"]


def test_a_folder_that_is_not_there_is_neither_made_nor_shown(tmp_path, capsys):
    with pytest.raises(SystemExit):
        PEERS.main([str(tmp_path / "typo"), "--docs", str(tmp_path)])
    assert "must have games that" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_the_command_compares_peers_on_the_same_problems(tmp_path):
    results = Results(tmp_path / "games", seed=7)
    regrets = {"Gittins": (10.0, 20.0, 30.0), "better": (5.0, 10.1, 14.9), "worse": (21.0, 40.0, 59.0)}
    results.add(
        Game(family, number, 40, rule, "nothing", regret, 0.1, 1e-3)
        for rule, each in regrets.items()
        for family in ("chain", "trend")
        for number, regret in enumerate(2 * each)
        if (rule, family) != ("better", "trend")
    )
    results.add([Game("chain", 9, 40, "Gittins", "nothing", 1e6, 0.1, 1e-3)])  # nobody else has played that problem
    results.add(Game("trend", number, 40, "seldom", "nothing", 0.1, 0.1, 1e-3) for number in range(PEERS.FEWEST - 1))
    told = (("chain", n, (4.0, 10.0, 16.1)[n % 3]) for n in range(6))  # more than `better`, in all
    told = (*told, ("trend", 0, 20.0))
    results.add(Game(*key, 40, "Gittins", "everything", regret, 0.1, 1e-3) for *key, regret in told)
    (tmp_path / "arena.md").write_text(between(PEERS.MARK), encoding="utf-8")
    PEERS.main([str(tmp_path / "games"), "--docs", str(tmp_path)])
    text = (tmp_path / "arena.md").read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "lost less than every peer in 1 of 2 families" in text
    assert "do not count here: seldom." in text
    assert "Told everything, the same rule has lost less than every peer in 1." in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[2][:2] == ["seldom", "4"]
    assert rows[3][:5] == ["better", "6", "0.5", "0.5 (chain)", "0 of 1"]
    assert rows[4][0] == "Gittins, told everything"
    assert rows[5][:5] == ["worse", "12", "2", "2 (chain)", "2 of 2"]
