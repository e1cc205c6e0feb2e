"""The folder of games: what is written there stays, and what does not belong together is refused."""

import json
import threading
from pathlib import Path

import pytest

from corrbandits.arena.problems import TUNING, VERSION
from corrbandits.arena.results import Game, Results, reporting_seed

GAME = Game("chain", 0, 50, "Gittins", "nothing", 12.5, 0.1 + 0.2, 1e-4)


def test_games_come_back_bit_for_bit(tmp_path):
    odd = GAME._replace(rule='a, "b"\nc', number=1)
    Results(tmp_path, 7).add([GAME])
    Results(tmp_path).add([odd])
    assert Results(tmp_path).games() == [GAME, odd]
    assert Results(tmp_path).seed == 7


def test_what_a_kill_has_left_of_a_row_is_not_counted_and_goes(tmp_path):
    results = Results(tmp_path, 7)
    results.add([GAME, GAME._replace(number=1)])
    place = tmp_path / "games.csv"
    whole = place.read_bytes()
    for cut in (1, 20, len(whole) - whole.index(b"\n") - 2):
        place.write_bytes(whole[:-cut])
        assert results.games() == ([GAME] if cut < 60 else [])
        results.add([GAME._replace(number=2)])
        assert results.games()[-1].number == 2
        assert place.read_bytes().count(b"\n") == len(results.games()) + 1


def test_a_game_that_was_played_twice_counts_once(tmp_path):
    results = Results(tmp_path, 7)
    results.add([GAME])
    results.add([GAME._replace(regret=99.0)])
    assert results.games() == [GAME]


def test_several_writers_lose_nothing(tmp_path):
    results = Results(tmp_path, 7)

    def write(first):
        for number in range(first, first + 20):
            results.add([GAME._replace(number=number)])

    writers = [threading.Thread(target=write, args=(100 * k,)) for k in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(game.number for game in results.games()) == [100 * k + n for k in range(4) for n in range(20)]


@pytest.mark.parametrize("seed", [TUNING[0], TUNING[-1], 1_234])
def test_seeds_that_rules_are_tuned_on_are_refused(seed, tmp_path):
    with pytest.raises(ValueError, match=f"tuned on, got {seed}. Take another"):
        Results(tmp_path, seed)
    assert not (tmp_path / "arena.json").exists()
    assert reporting_seed(TUNING[-1] + 1) == TUNING[-1] + 1


def test_a_seed_that_is_left_out_is_drawn_and_written_down(tmp_path):
    seeds = [Results(tmp_path / name).seed for name in "abc"]
    assert len(set(seeds)) == 3
    assert [Results(tmp_path / name).seed for name in "abc"] == seeds
    assert not any(seed in TUNING for seed in seeds)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"format": "corrbandits arena 1", "problems": VERSION - 1, "seed": 7}, "do not compare"),
        ({"format": "corrbandits arena 1", "problems": VERSION, "seed": 8}, "of seed 8, got 7"),
        ({"format": "something else"}, "must be written by corrbandits"),
        ([], "must be written by corrbandits"),
    ],
)
def test_a_folder_of_other_games_is_refused(content, message, tmp_path):
    (tmp_path / "arena.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Results(tmp_path, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "must have the columns family, number"),
        (",".join(Game._fields) + "\nchain,0,50\n", "line 2: expected a game"),
        (",".join(Game._fields) + "\nchain,0,50,Gittins,nothing,much,0,0\n", "line 2: expected a game"),
        (",".join(Game._fields) + "\nchain,0,50,Gittins,nothing,1,1,1,1\n", "line 2: expected a game"),
        *(
            (f"{','.join(Game._fields)}\nchain,0,50,'a\n b',nothing,1,1,1\n".replace("'", '"') + row, message)
            for row, message in [
                ("chain,0,50,G,nothing,nan,0,0\n", r"games.csv, line 4: regret must be a finite number.*got nan"),
                ("chain,0,50,G,nothing,inf,0,0\n", "line 4: regret must be a finite number, 0 or more, got inf"),
                ("chain,0,50,G,nothing,-1,0,0\n", "line 4: regret must be a finite number, 0 or more, got -1.0"),
                ("chain,0,50,G,nothing,1,-0.5,0\n", "line 4: simple_regret must be .* got -0.5"),
                ("chain,0,50,G,nothing,1,0,nan\n", "line 4: seconds must be .* got nan"),
                ("chain,-1,50,G,nothing,1,0,0\n", "line 4: number must be 0 or more"),
                ("chain,0,0,G,nothing,1,0,0\n", "line 4: number must be 0 or more and horizon 1 or more, got 0 and 0"),
            ]
        ),
    ],
)
def test_a_file_that_holds_no_games_is_refused(text, message, tmp_path):
    results = Results(tmp_path, 7)
    (tmp_path / "games.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        results.games()


def test_games_without_a_description_are_refused(tmp_path):
    (tmp_path / "games.csv").write_text("anything\n", encoding="utf-8")
    with pytest.raises(ValueError, match="but no arena"):
        Results(tmp_path, 7)


def test_bytes_that_are_no_text_are_refused_with_file_and_line(tmp_path):
    results = Results(tmp_path, 7)
    results.add([GAME])
    with (tmp_path / "games.csv").open("ab") as file:
        file.write(b"ch\xffin,0,50,G,nothing,1,1,1\n")
    with pytest.raises(ValueError, match=r"games.csv, line 3 must be text in UTF-8, got the byte 0xff"):
        results.games()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_names_the_file(tmp_path):
    results = Results(tmp_path, 7)
    (tmp_path / "games.csv").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"games.csv cannot be written: "):
        results.add([GAME])


def test_a_field_that_has_changed_is_refused(tmp_path):
    results = Results(tmp_path, 7)
    results.see_fields({"field meadow": "ab"})
    results.see_fields({"field meadow": "ab", "field hill": "cd"})
    with pytest.raises(ValueError, match="has games of 'field hill', but its file has changed since"):
        Results(tmp_path).see_fields({"field hill": "ef"})
    results.see_fields({})
