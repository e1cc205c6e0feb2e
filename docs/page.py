"""Take the pictures of the page: a server on this machine alone, a study of the meadow, and Chromium.

python docs/page.py
"""

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from corrbandits import Moves, Study, Vague
from corrbandits._shell import csv
from corrbandits.web.service.app import application
from corrbandits.web.service.options import Options
from corrbandits.web.service.running import free_port

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("CORRBANDITS_CHROMIUM", "/usr/bin/chromium")
TELEPHONE, DESK = (360, 780), (1200, 800)
GAP = 24


def study(database: str, name: str, trials: int, **more: Any) -> None:
    """Create a study of the meadow with 14 rewards and some open trials of Anna's; `more` is for `Study.create`."""
    columns = csv.read_columns(HERE / "sites.csv")
    arms = {name: csv.number_or_text(columns, name, "sites.csv") for name in columns}
    rng = np.random.default_rng(4)
    with Study.create(database, name, arms=arms, rounds=40, unit="kg", by="Anna", **more) as anna:
        for _ in range(14):
            trial = anna.ask()
            x, y = anna.arms.coordinates[trial.arm] / 100
            anna.tell(trial, round(float(33 - (x - 3.6) ** 2 + 0.9 * y + 1.2 * rng.standard_normal()), 1))
        anna.ask(trials)


def studies(database: str) -> None:
    """Create a meadow, one where ways cost something, and one whose rewards change with time."""
    study(database, "meadow", 4)
    with Study.open(database, "meadow", by="Ben") as ben:
        ben.ask()
    study(database, "far meadow", 3, moves=Moves(per_move=0.2, per_distance=0.004))
    places = csv.read_columns(HERE / "sites.csv")
    where = np.transpose([csv.number_or_text(places, axis, "sites.csv") for axis in ("x", "y")])
    study(database, "moving meadow", 1, prior=Vague(coordinates=where, drift=30.0))


@contextmanager
def served(database: str) -> Iterator[str]:
    """Yield the address of a server of this database."""
    port = free_port("127.0.0.1")
    app, service = application(Options(database, port=port))
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    service.live.end()
    server.should_exit = True
    thread.join(20)


def opened(browser: Browser, url: str, size: tuple[int, int], scheme: str = "light") -> Page:
    """Return a page as Anna sees it."""
    view = {"width": size[0], "height": size[1]}
    context = browser.new_context(viewport=view, color_scheme=scheme, locale="en-GB", service_workers="block")
    context.add_init_script("localStorage.setItem('name', 'Anna')")
    page = context.new_page()
    page.goto(url)
    page.locator("[aria-busy=true]").first.wait_for(state="detached")
    page.wait_for_timeout(700)
    return page


def telephones(browser: Browser, url: str, folder: Path) -> Iterator[Path]:
    """Yield pictures of a telephone: where to go, the list for the day, and a connection that is lost."""
    page = opened(browser, f"{url}/s/meadow/", TELEPHONE)
    page.screenshot(path=folder / "1.png")
    page.locator("#way").evaluate("node => scrollTo(0, node.offsetTop - 20)")
    page.wait_for_timeout(300)
    page.screenshot(path=folder / "2.png")
    page = opened(browser, f"{url}/s/meadow/", TELEPHONE, "dark")
    page.context.set_offline(True)
    page.get_by_label("What did you measure?").fill("31,2")
    page.get_by_role("button", name="Save", exact=True).first.click()
    page.get_by_role("region", name="Not sent yet").wait_for()
    page.screenshot(path=folder / "3.png")
    yield from (folder / f"{k}.png" for k in (1, 2, 3))


def on_the_way(browser: Browser, url: str, folder: Path) -> Iterator[Path]:
    """Yield pictures of a telephone: where the team is, the way on the map, and another time than now."""
    page = opened(browser, f"{url}/s/far meadow/", TELEPHONE)
    page.get_by_role("button", name="Somewhere else?").click()
    page.get_by_label("We are at").fill("B2")
    page.keyboard.press("Enter")
    page.get_by_text("From B2").first.wait_for()
    page.screenshot(path=folder / "4.png")
    page.get_by_role("link", name="Map", exact=True).click()
    page.get_by_text("you are here").wait_for()
    page.get_by_text("Live").wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=folder / "5.png")
    page = opened(browser, f"{url}/s/moving meadow/", TELEPHONE, "dark")
    page.get_by_label("What did you measure?").fill("31,2")
    page.locator("#next").get_by_text("at …").click()
    page.locator("#next").get_by_label("When it was measured").fill("2026-03-14T09:30")
    page.screenshot(path=folder / "6.png")
    yield from (folder / f"{k}.png" for k in (4, 5, 6))


def beside(parts: list[Path], out: Path) -> None:
    """Put pictures side by side."""
    pictures = [Image.open(part).convert("RGB") for part in parts]
    width = sum(picture.width for picture in pictures) + GAP * (len(pictures) - 1)
    whole = Image.new("RGB", (width, max(picture.height for picture in pictures)), "white")
    left = 0
    for picture in pictures:
        whole.paste(picture, (left, 0))
        left += picture.width + GAP
    whole.save(out, optimize=True)


def pictures(browser: Browser, out: Path) -> None:
    """Write all pictures, as a browser shows the page."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/survey.db"
        studies(database)
        with served(database) as url:
            beside([*telephones(browser, url, Path(folder))], out / "page-telephone.png")
            beside([*on_the_way(browser, url, Path(folder))], out / "page-way.png")
            opened(browser, f"{url}/s/meadow/map#arm=15", DESK).screenshot(path=out / "page-map.png")
            opened(browser, f"{url}/s/meadow/progress", DESK).screenshot(path=out / "page-progress.png")
            page = opened(browser, f"{url}/new", (720, 900))
            page.set_input_files("#file", HERE / "sites.csv")
            page.get_by_text("What do you know already?").click()
            page.get_by_label("two sites in three between").fill("25")
            page.get_by_label("and", exact=True).fill("35")
            page.locator("#length").fill("60")
            page.locator("#noise").fill("40")
            page.locator("#knowing").screenshot(path=out / "page-new.png")


def main(out: Path = HERE) -> None:
    with sync_playwright() as playwright:
        where = {"executable_path": CHROMIUM} if shutil.which(CHROMIUM) else {}
        browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu"], **where)
        pictures(browser, out)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
