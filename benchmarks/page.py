"""How soon the page is to be seen in a browser that has kept nothing, and how quickly the map goes through time.

    python -m benchmarks.page [--quick] [--out docs]

Server and browser run on this machine, and share it. The first visitor of a study waits for what the server computes
then and keeps; of the visits after it the fastest is taken, of the steps of the slider the median.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.web.page.conftest import ARGUMENTS, CHROMIUM
from tests.web.page.serving import Server

from benchmarks.report import DOCS, duration, marked
from benchmarks.timing import load, machine, tell

PAGE, DATA = "page.md", "page-speed.json"
TELEPHONE, DESK = {"width": 360, "height": 780}, {"width": 1200, "height": 800}
FIRST = (
    ("map", 10, "map", "#legend .ramp", 2.0),
    ("map", 100, "map", "#legend .ramp", 4.0),
    ("where to go next", 100, "", "#next h2", 4.0),
)
"""What is looked at, the side of the field, the view, what shows that it is there, and the seconds it may take."""

STEP = 0.1
STEPS = """async ([count, calm]) => {
    const slider = document.getElementById("slider");
    const drawn = () => [...document.querySelectorAll("svg.map > path")].map((n) => n.getAttribute("d")).join("");
    const pause = (ms) => new Promise((done) => setTimeout(done, ms));
    const step = async (k) => {
        const [before, began] = [drawn(), performance.now()];
        slider.value = k;
        slider.dispatchEvent(new Event("input"));
        while (drawn() === before && performance.now() - began < 5000) await pause(1);
        return (performance.now() - began) / 1000;
    };
    for (const k of [29, 28, 27, 26]) { await step(k); await pause(calm); }
    const times = [];
    for (let k = 0; k < count; k++) times.push(await step(27 + (k % 2)));
    return times;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small fields, to see that everything works")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    options = parser.parse_args()
    where = {"executable_path": CHROMIUM} if shutil.which(CHROMIUM) else {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(args=list(ARGUMENTS), **where)
        data = measured(browser, Path(directory), quick=options.quick)
        browser.close()
    print(table(data))
    if options.out:
        (options.out / DATA).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        text = (DOCS / PAGE).read_text(encoding="utf-8")
        (options.out / PAGE).write_text(page(text, data), encoding="utf-8")


def measured(browser: Browser, directory: Path, *, quick: bool) -> dict[str, Any]:
    """Return seconds and targets; quickly, on small fields and once each."""
    before, rows = load(), []
    with Server(directory / "studies.db") as server:
        for side in sorted({12 if quick else side for _, side, *_ in FIRST} | {12 if quick else 32}):
            server.large(f"side {side}", side=side, rewards=30)
        for what, usual, view, sign, most in FIRST:
            side = 12 if quick else usual
            tell(f"{what}, {side * side:,} arms")
            url = f"{server.url}/s/side%20{side}/{view}"
            times = [first_seen(browser, url, sign) for _ in range(2 if quick else 6)]
            for who, seconds in (("first visitor", times[0]), ("later visitors", min(times[1:]))):
                rows.append({"what": f"{what}, {who}", "arms": side * side, "seconds": seconds, "target": most})
        side = 12 if quick else 32
        tell(f"slider, {side * side:,} arms")
        count, calm = (3, 100) if quick else (21, 1500)
        times = steps(browser, f"{server.url}/s/side%20{side}/map", count, calm)
        rows.append(
            {"what": "step of the slider", "arms": side * side, "seconds": float(np.median(times)), "target": STEP}
        )
    on = machine()
    versions = {"corrbandits": on["versions"]["corrbandits"], "Chromium": browser.version}
    return {"machine": on | {"versions": versions}, "load": [before, load()], "rows": rows}


def first_seen(browser: Browser, url: str, sign: str) -> float:
    """Return the seconds until something is there, in a browser that has kept nothing."""
    context = browser.new_context(viewport=TELEPHONE, service_workers="block")
    began = time.perf_counter()
    new = context.new_page()
    new.goto(url, wait_until="commit")
    expect(new.locator(sign).first).to_be_attached(timeout=60_000)
    seconds = time.perf_counter() - began
    context.close()
    return seconds


def steps(browser: Browser, url: str, count: int, calm: int) -> list[float]:
    """Return the seconds from a move of the slider to another map; `calm` milliseconds pass after each of the first."""
    context = browser.new_context(viewport=DESK, service_workers="block")
    opened: Page = context.new_page()
    opened.goto(url)
    expect(opened.locator("#moment")).to_contain_text("after 30 entries", timeout=60_000)
    times: list[float] = opened.evaluate(STEPS, [count, calm])
    context.close()
    return times


def table(data: dict[str, Any]) -> str:
    """Return what was measured as a table in Markdown."""
    lines = ["| what | arms | time | target | met |", "|---|--:|--:|--:|---|"]
    for one in data["rows"]:
        met = "yes" if one["seconds"] <= one["target"] else "no"
        shown = f"{duration(one['seconds'])} | ≤ {duration(one['target'])}"
        lines.append(f"| {one['what']} | {one['arms']:,} | {shown} | {met} |")
    on = data["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in on["versions"].items())
    said = f"On {on['processor']}, {on['cores']} cores, server and browser together; load {data['load'][0]} before, "
    return "\n".join([*lines, "", f"{said}{data['load'][1]} after; with {versions}."])


def page(text: str, data: dict[str, Any]) -> str:
    """Return the documentation's page with its table made anew."""
    return marked(text, "speed", table(data))


if __name__ == "__main__":
    main()
