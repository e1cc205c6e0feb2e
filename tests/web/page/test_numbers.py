"""What people type, read as numbers; and numbers, as readers write them."""

import pytest

from corrbandits.web.page import pages

READ = "([text, group]) => import(`/static/VERSION/reading.js`).then((m) => m.read(text, group))"


@pytest.fixture(scope="module")
def numbers(browser):
    """A page at which our module can be loaded, from no server."""
    context = browser.new_context(locale="de-DE")
    page = context.new_page()
    page.route("**/*", lambda route: answered(route))
    page.goto("http://page.test/")
    yield page
    context.close()


def answered(route):
    name = route.request.url.rpartition("/")[2]
    kind = "text/javascript" if name.endswith(".js") else "text/html"
    route.fulfill(body=pages.files().get(name, b"<!doctype html>"), content_type=kind)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("31.2", 31.2),
        ("31,2", 31.2),
        (" 31,20 ", 31.2),
        ("0,123", 0.123),
        ("1234,567", 1234.567),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        ("1,234,567", 1234567),
        ("1 234,5", 1234.5),
        ("1'234.5", 1234.5),
        ("−3,5", -3.5),
        ("٣١٫٢", 31.2),
        ("1,2e3", 1200),
        (",5", 0.5),
        ("5,", 5),
        ("1 234 567,8", 1234567.8),
        ("12\u202f345", 12345),
        ("1_234", 1234),
        ("- 3,5", -3.5),
        ("３１．２", 31.2),
    ],
)
def test_commas_and_points_are_both_taken(numbers, typed, value):
    assert numbers.evaluate(READ, [typed, ","]) == {"value": value}


@pytest.mark.parametrize(
    ("typed", "group", "either"),
    [
        ("1,234", ",", [1.234, 1234]),
        ("1,234", ".", [1.234, 1234]),
        ("-12,345", ",", [-12.345, -12345]),
        ("1.234", ".", [1.234, 1234]),
    ],
)
def test_what_can_be_read_in_two_ways_is_asked_back(numbers, typed, group, either):
    assert numbers.evaluate(READ, [typed, group]) == {"either": either}


def test_a_point_is_asked_back_only_where_readers_group_by_points(numbers):
    assert numbers.evaluate(READ, ["1.234", ","]) == {"value": 1.234}


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "31 2",
        "3²",
        "½",
        "1 23",
        "1 2345",
        "1 234'567",
        "1234 567",
        "0,123 4",
        "abc",
        "1,234 kg",
        "NaN",
        "Infinity",
        "1..2",
        "12,34,56",
        "1,23.4",
        "0x10",
        "1e999",
        "--1",
    ],
)
def test_what_is_no_number_is_refused_with_words(numbers, typed):
    assert numbers.evaluate(READ, [typed, ","])["problem"]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("31 2", "several ways. Type it without blanks"),
        ("3²", "is not a number"),
        ("1e400", "is too large a number"),
        ("1e4000", "is too large a number"),
        ("1e-400", "is too small a number"),
    ],
)
def test_what_is_refused_is_refused_for_the_right_reason(numbers, typed, why):
    assert why in numbers.evaluate(READ, [typed, ","])["problem"]


def test_numbers_are_written_as_the_reader_does(numbers):
    written = numbers.evaluate(
        "import('/static/VERSION/numbers.js').then((m) => [m.exact(31.25), m.around(34.21, 1.3)])"
    )
    assert written == ["31,25", "34,2 ± 1,3"]
