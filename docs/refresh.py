"""Write anew what the documents show of the program: the output of its commands, and Figure 2.

python docs/refresh.py
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent


def refreshed(block: re.Match[str]) -> str:
    """Return a console block with its command's present output; one that elides some of it stays as it is."""
    command = block["command"]
    if "\n..." in block["output"]:
        return block[0]
    program, *arguments = shlex.split(command)
    printed = subprocess.check_output([BIN / program, *arguments], text=True, env={"COLUMNS": "100"})
    return f"```console\n$ {command}\n{printed.rstrip()}\n```"


def main() -> None:
    for page in sorted(HERE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        pattern = r"^```console\n\$ (?P<command>.*?)\n(?P<output>.*?)^```$"
        page.write_text(re.sub(pattern, refreshed, text, flags=re.MULTILINE | re.DOTALL), encoding="utf-8")
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([BIN / "corrbandits", "reproduce", "--out", out], check=True)
        shutil.copy(Path(out) / "figure2.png", HERE / "figure2.png")


if __name__ == "__main__":
    main()
