"""Write anew what the documents show of the program: the output of its commands, the errata, counts and figures.

python docs/refresh.py
"""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from corrbandits.arena.fields import FIELD
from corrbandits.arena.reliability import apart
from corrbandits.kernels import KERNELS
from corrbandits.paper.errata import ERRATA

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
EVERYWHERE = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}
"""Instructions that processors of every kind have, for pages on arms that mirror each other: there rounding decides
which of two is taken first, and the results would not be those of another kind of processor."""

MIRRORED = "stress-testing.md"
"""Such a page."""

PICTURES = {
    "results/peaks-stress-grids.png": "stress-grids.png",
    "results/catch-stress-curves.png": "stress-drift.png",
}
"""Which pictures of a page's commands are kept, and under which name."""


def refreshed(block: re.Match[str], folder: str, environment: dict[str, str]) -> str:
    """Return a console block with its command's present output; one that elides some of it stays as it is."""
    command = block["command"]
    if "\n..." in block["output"]:
        return block[0]
    program, *arguments = shlex.split(command)
    printed = subprocess.check_output([BIN / program, *arguments], text=True, env=environment, cwd=folder)
    return f"```console\n$ {command}\n{printed.rstrip()}\n```"


def surroundings(page: str) -> dict[str, str]:
    """Return the environment that the commands of a page are run in."""
    return {"COLUMNS": "100"} | (EVERYWHERE if page == MIRRORED else {})


def with_output(text: str, page: str) -> str:
    """Return a page with every command's present output; commands find the page's TOML files, and leave pictures."""
    pattern = re.compile(r"^```console\n\$ (?P<command>.*?)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        for name, table in re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            (Path(folder) / name).write_text(table, encoding="utf-8")
        text = pattern.sub(lambda block: refreshed(block, folder, surroundings(page)), text)
        for made, kept in PICTURES.items():
            if (Path(folder) / made).exists():
                shutil.copy(Path(folder) / made, HERE / kept)
    return text


def with_session(text: str, _: str) -> str:
    """Return the page on studies with what its commands print now, the last ones on a PostgreSQL of this moment."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import session
    from tests.support.postgres import Server

    server = Server()
    try:
        with tempfile.TemporaryDirectory() as folder, server.database() as url:
            blocks = iter([*session.outputs(text, Path(folder), url)])

            def shown(_: re.Match[str]) -> str:
                command, _, printed, _ = next(blocks)
                return f"```console\n$ {command}\n{printed.rstrip()}\n```"

            text = session.COMMAND.sub(shown, text)
            shutil.copy(Path(folder) / "results" / "meadow-map.png", HERE / "study-map.png")
    finally:
        server.end()
    return text


def with_people(text: str, page: str) -> str:
    """Return the page on people with what its command prints now of the table that its first lines make."""
    block = r"^```text\n\$ (?P<command>corrbandits fit .*?)\n(?P<output>.*?)^```$"
    pattern = re.compile(block, re.MULTILINE | re.DOTALL)
    made = doctest.script_from_examples(text.split("```python\n")[1].split("```")[0])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", made], check=True, cwd=folder)
        about = surroundings(page)
        return pattern.sub(lambda block: refreshed(block, folder, about).replace("```console", "```text", 1), text)


def findings() -> str:
    """Return the errata as text of a page."""
    lines = []
    for record in ERRATA:
        where, printed, corrected, evidence = (
            re.sub(r"([\\*_$<>|^`~])", r"\\\1", text)
            for text in (record.where, record.printed, record.corrected, record.evidence)
        )
        lines.append(
            f"**{record.number}. {where}**\n: *Printed:* {printed}\n: *Right:* {corrected}\n: *Shown by:* {evidence}\n"
        )
    return "\n".join(lines)


def kernels() -> str:
    """Return what kernels are called in files and on the command line."""
    *most, last = (f"`{name}`" for name in KERNELS)
    return f"Kernels are {', '.join(most)} and {last}.\n"


def calibration() -> str:
    """Return what statements amounted to when they were last compared with the truth, from docs/calibration.json."""
    sys.path.insert(0, str(HERE.parent))
    from benchmarks.calibration import FEWEST, ratio_in_words

    from corrbandits.arena.reliability import demands

    data = json.loads((HERE / "calibration.json").read_text(encoding="utf-8"))
    said = {when: "said to be enough" if when == "enough" else f"{when} rewards" for when in data["together"]}
    heads = "stated cost | true cost | ratio | covered, all arms | covered, named best | log score | told everything"
    lines = [f"| when | problems | {heads} |", "|---|" + "--:|" * 8]
    for when, one in data["together"].items():
        ratio = ratio_in_words(one)
        costs = (
            f"{one['cost']:.2f} | {one['true_cost']:.2f} | {ratio} | {one['covered']:.2f} | {one['best_covered']:.2f}"
        )
        scores = f"{one['score']:.2f} | {one['informed_score']:.2f}"
        lines.append(f"| {said[when]} | {one['statements']:,} | {costs} | {scores} |")
    lines += ["", "| when | said: came true ± standard error |", "|---|---|"]
    for when, one in data["together"].items():
        cells = (f"{b['probability']:.2f}: {b['frequency']:.2f} ± {b['error']:.2f}" for b in one["bins"])
        lines.append(f"| {said[when]} | {', '.join(cells)} |")
    missed = [
        f"- After {said[when]}: {demand}." if when != "enough" else f"- Where it was {said[when]}: {demand}."
        for when, one in data["together"].items()
        for demand, met in demands(one).items()
        if not met
    ]
    lines += [
        "",
        "Of what is demanded below, this was not met:" if missed else "All that is demanded below was met.",
        "",
        *missed,
    ]
    lines += [
        "",
        f"| stated / true cost; covered, all arms | {' | '.join(said.values())} |",
        "|---|" + "--:|" * len(said),
    ]
    for name, times in data["families"].items():
        if apart(name):
            cells = [
                f"{ratio_in_words(one)}; {one['covered']:.2f}" if one and one["statements"] >= FEWEST else "too few"
                for one in map(times.get, said)
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", _on_fields(data["families"], FEWEST)]
    return "\n".join(lines) + f"\n\nSeed {data['seed']}, version {data['problems']} of the problems.\n"


def _on_fields(families: dict, fewest: int) -> str:
    """Return in a sentence what stopping cost on real fields, in parts of what was said."""
    fields = {name: times for name, times in families.items() if name.startswith(FIELD)}
    told = {
        (name, when): 1 / one["cost_ratio"]
        for name, times in fields.items()
        for when, one in times.items()
        if one["statements"] >= fewest
    }
    before = [cost for (_, when), cost in told.items() if when != "enough"]
    enough = [f"{cost:.1f} times in {name}" for (name, when), cost in told.items() if when == "enough"]
    said = f"On the {len(fields)} real fields stopping has cost {min(before):.1f} to {max(before):.1f} times what was"
    after = f", and, where it was said to be enough, {' and '.join(enough)}" if enough else ""
    return f"{said} said after so many rewards{after}."


def changing() -> str:
    """Return what the arena found on problems that change, from docs/changing.json."""
    sys.path.insert(0, str(HERE))
    import changing

    return changing.shown()


def parts() -> dict[str, Callable[[], str]]:
    """Return what makes the parts of pages that stand between marks, such as <!-- map --> and <!-- end of map -->."""
    sys.path.insert(0, str(HERE / "counts"))
    import house

    made = {"findings": findings, "kernels": kernels, "calibration": calibration, "changing": changing}
    return {**made, "map": house.layer_map, "counts": house.counts}


def with_parts(text: str) -> str:
    """Return a page with what stands between its marks written anew."""
    for name, made in parts().items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        if begin in text:
            before, rest = text.split(begin)
            text = f"{before}{begin}\n{made()}\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    for page in [HERE.parent / "CONTRIBUTING.md", *sorted(HERE.glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        ways = {"ask-and-tell.md": with_session, "people.md": with_people}
        page.write_text(with_parts(ways.get(page.name, with_output)(text, page.name)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([BIN / "corrbandits", "reproduce", "--out", out], check=True)
        shutil.copy(Path(out) / "figure2.png", HERE / "figure2.png")
    drawings = ("factor.py", "remarks.py", "architecture.py", "change.py", "company.py", "people.py", "recovered.py")
    for drawing in drawings:
        subprocess.run([sys.executable, HERE / drawing], check=True, env=os.environ | EVERYWHERE)


if __name__ == "__main__":
    main()
