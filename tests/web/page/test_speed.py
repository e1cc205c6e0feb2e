"""How soon something is to be seen in a cold browser; the best of three, since the machine may have other work."""

import time

import pytest
from playwright.sync_api import expect

COLOURS = "#legend .ramp"


def took(browser, url, what):
    """Return the seconds until something is there, in a browser that has kept nothing."""
    context = browser.new_context(viewport={"width": 360, "height": 780}, service_workers="block")
    page = context.new_page()
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    expect(page.locator(what).first).to_be_attached(timeout=60_000)
    seconds = time.perf_counter() - began
    context.close()
    return seconds


@pytest.mark.slow
@pytest.mark.parametrize(("side", "what", "most"), [(10, COLOURS, 2.0), (100, COLOURS, 4.0)])
def test_the_first_picture_comes_soon(browser, server, side, what, most):
    server.large("plain", side=side, rewards=30)
    assert min(took(browser, f"{server.url}/s/plain/map", what) for _ in range(3)) < most


@pytest.mark.slow
def test_where_to_go_is_shown_soon_also_among_ten_thousand(browser, server):
    server.large("plain", side=100, rewards=30)
    assert min(took(browser, f"{server.url}/s/plain/", "#next h2") for _ in range(3)) < 2
