"""A server, a browser, and people who open the page in it."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.web.page.serving import Server

NAMED = os.environ.get("CORRBANDITS_CHROMIUM")
CHROMIUM = NAMED or "/usr/bin/chromium"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = "4.14.0"


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium; where there is none, Playwright's own, fetched once."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)  # a machine may be busy with other tests
    where = {"executable_path": CHROMIUM} if shutil.which(CHROMIUM) else _fetched()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(args=list(ARGUMENTS), **where)
        yield found
        found.close()


def _fetched():
    """Fetch Playwright's own browser; without one, fail if one was named, and skip if none was."""
    if NAMED:
        pytest.fail(f"CORRBANDITS_CHROMIUM must name a browser, but there is no {NAMED}. Install it, or name another.")
    command = [sys.executable, "-m", "playwright", "install", "chromium-headless-shell"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(
            f"there is no browser at {CHROMIUM}, and Playwright's own could not be fetched: "
            f"{done.stderr.strip()[-200:]} Install chromium, or name one in CORRBANDITS_CHROMIUM."
        )
    return {}


@pytest.fixture
def server(tmp_path):
    """A server with a new database."""
    with Server(tmp_path / "studies.db") as running:
        yield running


@pytest.fixture
def visit(browser, server):
    """Return a function that opens a page as a new person; every error in a console fails the test."""
    with visiting(browser, server) as opened:
        yield opened


@contextmanager
def visiting(browser, server):
    """Yield a function that opens a page as a new person; raise at the end if a console has an error."""
    contexts, errors = [], []

    def opened(path="/", *, of=server, width=360, height=780, allow=(), **given):
        settings = {"locale": "en-GB", "timezone_id": "Europe/Berlin", "service_workers": "block"} | given
        context = browser.new_context(viewport={"width": width, "height": height}, **settings)
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        fits = lambda text: any(part in text for part in allow)  # noqa: E731
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" and not fits(m.text) else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(of.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core, which looks for what keeps people from using a page."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: axe-core cannot be fetched")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [npm, "pack", "--silent", f"axe-core@{AXE}"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    if done.returncode:
        pytest.skip(f"axe-core cannot be fetched: {done.stderr.strip()[-200:]}")
    shutil.unpack_archive(folder / f"axe-core-{AXE}.tgz", folder, filter="data")
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")
