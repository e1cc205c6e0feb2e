"""`corrbandits token`: what it prints lets a person in, and the code on the screen is the link."""

import re

import segno

from corrbandits.cli.serve import _blocks
from corrbandits.web.service.tokens import Tokens, new_token
from tests.support.commands import corrbandits
from tests.support.serving import Process

LIGHT = {"█": (False, False), "▀": (False, True), "▄": (True, False), " ": (True, True)}


def test_the_token_that_is_printed_is_the_one_that_is_known(tmp_path):
    done = corrbandits("token", "Anna", "--token-file", "tokens", "--url", "https://field.example.org/", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    secret = re.search(r"^token  (\S+)$", done.stdout, re.MULTILINE)[1]
    assert f"link   https://field.example.org/signin#{secret}\n" in done.stdout
    person = Tokens(tmp_path / "tokens").person(secret)
    assert (person.name, person.role) == ("Anna", "tell")
    assert secret not in (tmp_path / "tokens").read_text()


def test_the_code_on_the_screen_is_that_of_the_link():
    dark = [[bool(cell) for cell in row] for row in segno.make("https://field.example.org/signin#abc").matrix]
    pairs = [[LIGHT[mark] for mark in line] for line in _blocks(dark)]
    rows = [[pair[k] for pair in line] for line in pairs for k in (0, 1)]
    assert [row[4 : 4 + len(dark)] for row in rows[4 : 4 + len(dark)]] == dark
    assert not any(any(row) for row in rows[:4] + rows[4 + len(dark) :])


def test_a_second_token_of_a_name_is_refused(tmp_path):
    codes = [corrbandits("token", "Anna", "--token-file", "tokens", cwd=tmp_path).returncode for _ in range(2)]
    assert codes == [0, 2]
    assert corrbandits("token", "#x", "--token-file", "tokens", cwd=tmp_path).returncode == 2


def test_a_server_without_any_token_says_that_nobody_can_sign_in(tmp_path):
    file = tmp_path / "tokens"
    file.write_text("# nobody yet\n")
    with Process(tmp_path / "survey.db", "--token-file", str(file)) as server:
        _, (_, errors) = server.terminate()
    assert "nobody can sign in. Make one by `corrbandits token`" in errors.decode()
    new_token(file, "Anna", "tell")
    with Process(tmp_path / "survey.db", "--token-file", str(file)) as server:
        _, (_, errors) = server.terminate()
    assert "nobody" not in errors.decode()


def test_a_file_of_tokens_that_is_not_there_is_said_so(tmp_path):
    done = corrbandits("serve", "--db", "survey.db", "--token-file", "nosuch", cwd=tmp_path)
    assert done.returncode == 2
    assert "nosuch must be a file of tokens, but there is no such file. `corrbandits token` makes one." in done.stderr
