"""Run the commands that a page shows one after the other, as its reader would: in one folder, at one home."""

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.commands import corrbandits

HERE = Path(__file__).parent
COMMAND = re.compile(r"^```console\n\$ (?P<command>corrbandits .*?)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = "<!-- from here on: postgresql -->\n"
"""Where a page's studies move to another database, which its reader is shown under the name SHOWN."""

SHOWN = "postgresql://survey:***@db.example.org/survey"


def outputs(text: str, folder: Path, database: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield each command of a page, what the page shows of it, what it prints now, and its exit code."""
    for file in HERE.glob("*.csv"):
        shutil.copy(file, folder)
    with tempfile.TemporaryDirectory() as home:  # a short path, as homes have: long ones are folded in tables
        for part, elsewhere in zip(text.split(ELSEWHERE), ({}, {"CORRBANDITS_DB": database}), strict=False):
            environment = os.environ | {"COLUMNS": "100", "PATH": "", "HOME": home, **elsewhere}
            for block in COMMAND.finditer(part):
                _, *arguments = shlex.split(block["command"])
                done = corrbandits(*arguments, cwd=folder, env=environment)
                if done.stderr:
                    raise RuntimeError(f"{block['command']}: {done.stderr}")
                yield block["command"], block["output"], _as_shown(done.stdout, home), done.returncode


def _as_shown(printed: str, home: str) -> str:
    """Return what a command prints with the home, the server and the seconds as a reader may have them."""
    text = re.sub(r"postgresql://\S+", SHOWN, printed.replace(home, "/home/you"))
    return re.sub(r"[\d.]+ m?s ago", lambda age: "3 s ago".rjust(len(age[0])), text)
