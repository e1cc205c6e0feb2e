import time
import tomllib
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corrbandits._shell.csv import numeric_column, places, read_columns
from corrbandits._shell.numbers import NUMBER
from corrbandits._shell.texts import near, printable, read_text
from corrbandits._shell.toml import key_lines, read_toml


class RefusalError(ValueError):
    pass


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "sites.csv"

    def write(content):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def numbers(path, name):
    return numeric_column(read_columns(path), name, path).tolist()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_csv_reads_alike_with_any_line_end_and_with_or_without_a_byte_order_mark(csv, mark, end):
    text = end.join(['name, x ,"y"', '"Lower, ""wet"" meadow",1,-2.5', "", "Höhe, 1e3 ,.5", ""])
    columns = read_columns(csv(mark + text.encode()))
    assert list(columns) == ["name", "x", "y"]
    assert columns["name"] == [(2, 'Lower, "wet" meadow'), (4, "Höhe")]
    assert numeric_column(columns, "x", "sites.csv").tolist() == [1.0, 1000.0]
    assert numeric_column(columns, "y", "sites.csv").tolist() == [-2.5, 0.5]


def test_lines_are_those_of_the_file_after_an_entry_of_several_lines(csv):
    path = csv('name,x\n"two\nlines",1\n\nplain,oops\n')
    with pytest.raises(ValueError, match=r"sites\.csv, line 5: column 'x' must hold finite numbers .*got 'oops'"):
        numbers(path, "x")


@pytest.mark.parametrize("entry", ["", "nan", "inf", "-Infinity", "1_000", "1e999", "0x10", "one", "1 2", "٣", '"1,5"'])
def test_only_finite_decimal_numbers_are_numbers(csv, entry):
    with pytest.raises(ValueError, match=r"sites\.csv, line 3: column 'x' must hold finite numbers such as 1\.5"):
        numbers(csv(f"x,y\n1,1\n{entry},1\n"), "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"line 1: expected a header with the names of the columns, but the file is empty"),
        ("\n\n", r"line 1: expected a header .* empty"),
        ("x,y\n", r"line 1: expected rows below the header"),
        ("\nx,y,x\n1,2,3\n", r"line 2: expected different names, but two columns are called 'x'. Rename one"),
        ("x,,y\n1,2,3\n", r"line 1: expected a name for column 2, but it is empty"),
        ("x,y\n1,2\n3\n", r"line 3: expected 2 entries, one per column, got 1"),
        ("x,y\n1,2\n\n3,5,1\n", r"line 4: expected 2 entries, .* got 3. .* decimals take a point"),
        ("x;y\n1;2;3\n", r"line 2: expected 2 entries, one per column, got 3\. .*apart by semicolons"),
        (b"PK\x03\x04\x14\x00rest of a workbook", r"expected a text file, got a spreadsheet \(\.xlsx.*save .* as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", r"expected a text file, got a spreadsheet \(\.xls\)"),
        ('x,y\n1,2\n"3,4\n5,6\n', r"line 3: expected entries separated by commas, .*Close every double quote"),
        ('x,y\n1,2\n"3"3,4\n', r"line 3: expected entries separated by commas"),
        (b"x,y\n1,2\n\xff\xfe,4\n", r"line 3: expected text in UTF-8, got the byte 0xff. Save it as UTF-8"),
        ("x,y\n1,2\n".encode("utf-16"), r"line 1: expected text in UTF-8"),
    ],
)
def test_a_broken_csv_is_refused_with_its_line_and_the_remedy(csv, content, message):
    with pytest.raises(ValueError, match=r"sites\.csv[,:] " + message):
        read_columns(csv(content))


def test_a_column_that_is_not_there_is_refused_with_those_that_are(csv):
    with pytest.raises(ValueError, match=r"sites\.csv: expected a column 'z', but the columns are x, y"):
        numbers(csv("x,y\n1,2\n"), "z")


def test_what_cannot_be_read_is_refused_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.csv: expected a text file, .*No such file.*Check its name"):
        read_columns(tmp_path / "none.csv")
    with pytest.raises(OSError, match="expected a text file, but it cannot be read"):
        read_columns(tmp_path)
    with pytest.raises(ValueError, match="expected a text file, but it cannot be read"):
        read_text("a\0b")


HALVES = {"a": [0.5, -12.25], "b": [0.125, 3.0]}  # name: x, y

AS_PEOPLE_HAVE_THEM = {
    "semicolons and decimal commas": "name;x;y\na;0,5;-12,25\nb;,125;3\n",
    "tabs": "name\tx\ty\na\t0.5\t-12.25\nb\t0.125\t3\n",
    "tabs and decimal commas": "name\tx\ty\na\t0,5\t-12,25\nb\t0,125\t3\n",
    "what a spreadsheet says first": "sep=;\nname;x;y\na;0,5;-12,25\nb;0,125;3\n",
    "a byte order mark": "\ufeffname;x;y\na;0,5;-12,25\nb;0,125;3\n",
    "capitals": "NAME,X,Y\na,0.5,-12.25\nb,0.125,3\n",
    "columns and rows of a field": "Plot,Row,Col\na,-12.25,0.5\nb,3,0.125\n",
    "column and row": "plot,column,row\na,0.5,-12.25\nb,0.125,3\n",
    "units and numbers": "Plot no.;X [m];y (m)\na;0,5;-12,25\nb;0,125;3\n",
    "every line in quotes": '"name,x,y"\n"a,0.5,-12.25"\n"b,0.125,3"\n',
    "every entry in quotes": '"name";"x";"y"\n"a";"0,5";"-12,25"\n"b";"0,125";"3"\n',
    "single quotes": "'name','x','y'\n'a','0.5','-12.25'\n'b','0.125','3'\n",
    "empty columns and rows at the end": "name;x;y;;\na;0,5;-12,25;;\nb;0,125;3;;\n;;;;\n",
    "a separator within a heading": "name;x;y;soil, dry\na;0,5;-12,25;1\nb;0,125;3;2\n",
}


@pytest.mark.parametrize("content", AS_PEOPLE_HAVE_THEM.values(), ids=AS_PEOPLE_HAVE_THEM)
def test_a_file_is_read_as_people_have_it(csv, content):
    path = csv(content)
    columns = read_columns(path)
    names = [name for _, name in columns[columns.heading("name")]]
    assert dict(zip(names, places(columns, path).tolist(), strict=True)) == HALVES


@pytest.mark.parametrize("header", ["Lat,Lon", "LATITUDE,long", "lat,lng", "latitude,longitude"])
def test_other_words_for_latitude_and_longitude(csv, header):
    path = csv(f"Plot,{header},x\na,52.5,13.25,7\n")
    assert list(read_columns(path).axes()) == ["latitude", "longitude"]
    assert places(read_columns(path), path).tolist() == [[52.5, 13.25]]


def test_one_of_a_pair_of_other_words_is_no_place_and_a_column_of_the_very_name_comes_first(csv):
    assert places(read_columns(csv("name,row\na,1\n")), "sites.csv") is None
    assert places(read_columns(csv("name,x,row\na,1,2\n")), "sites.csv").tolist() == [[1.0]]
    assert places(read_columns(csv("name,x,y,row,col\na,1,2,3,4\n")), "sites.csv").tolist() == [[1.0, 2.0]]
    assert read_columns(csv("X,x\n1,2\n")).heading("x") == "x"
    assert read_columns(csv("x (ft),X\n1,2\n")).heading("x") == "X"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x\ty\n1,234\t1\n2\t1\n", r"line 2: column 'x' must have decimals that are no thousands, got '1,234'"),
        ("x;y\n1,5;1\n1.5;1\n", r"line 2: column 'x' must have its decimals .*got both, '1,5' and '1\.5'"),
        ("x;y\n1.234,5;1\n", r"line 2: column 'x' must hold finite numbers"),
        ('x,y\n"1,5",1\n', r"line 2: column 'x' must hold finite numbers .*got '1,5'\. Decimals take a point"),
    ],
)
def test_numbers_that_could_be_read_in_two_ways_are_refused(csv, content, message):
    path = csv(content)
    with pytest.raises(ValueError, match=rf"sites\.csv, {message}"):
        numbers(path, "x")


def seconds(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun


def test_the_time_to_refuse_a_long_number_grows_with_its_length_alone():
    few, many = ("1" * n + "x" for n in (20_000, 2_000_000))
    assert NUMBER.fullmatch(few) is None
    assert seconds(lambda: NUMBER.fullmatch(many)) < 5.0  # by squares it was ten seconds for the first


def test_long_keys_are_refused_before_anything_grows_with_the_square_of_them(tmp_path):
    path = tmp_path / "deep.toml"
    for text in ("[" + ".".join("a" * 20_000) + "]\n", "x = 1\n" + " . ".join("a" * 20_000) + " = 1\n"):
        path.write_text(text)
        tracemalloc.start()
        with pytest.raises(RefusalError, match=r"deep\.toml, line [12]: a key must have at most 50 parts, got more"):
            read_toml(path, RefusalError)
        assert tracemalloc.get_traced_memory()[1] < 10 * len(text) + 100_000
        tracemalloc.stop()
    path.write_text(".".join("a" * 50) + " = 1\nlist = [" + "1.5, " * 5000 + "]\n" + "b" * 100_000 + " = 1\n")
    assert read_toml(path, RefusalError).lines[("a",) * 50] == 1


def test_what_a_terminal_would_obey_is_written_out():
    assert printable("\x1b]0;owned\x07 \x9b2J \u202e \u2028 a\u200db Ærø\n") == (
        "\\x1b]0;owned\\x07 \\x9b2J \\u202e \\u2028 a\u200db Ærø\n"
    )


def test_a_word_is_near_another_whatever_its_capitals_and_not_among_very_many():
    assert near("MEDOW", ["meadow", "hill"]) == ["meadow"]
    assert near("a1", [f"a{k}" for k in range(20_000)]) == []


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(finite, finite), min_size=1))
def test_numbers_come_back_as_they_were_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "sites.csv"
    path.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in rows))
    np.testing.assert_array_equal(np.transpose([numbers(path, "x"), numbers(path, "y")]), np.array(rows))


# --- the lines of a TOML file's keys ---

LOCATED = '''
# [not.a.table]
top.level = 1          # = 2
'single "quoted" key' = "a # no comment, [no.table]"

[ a . "b\\u00e9c" ]    # spaces, a quoted part with an escape
text = """
[fake]
key = 1
"quoted" \\""" still text"""""
literal = \'\'\'
x = 1\'\'\'
empty = ""
list = [ 1, [2, { p = 1 }],   # an inline table in a list
    { q = [3,
  4], "r" = { s = '}' } } ]
inline = { one = 1, two.three = { four = "=" }, five = [ 5 ], six = 6 }
when = 1979-05-27 07:32:00
3.14 = -1.5e3

[[many]]
n = 1
[[many]]
m = 2
[a.late]
'''

EXPECTED = {
    (): 1,
    ("top",): 3,
    ("top", "level"): 3,
    ('single "quoted" key',): 4,
    ("a",): 6,
    ("a", "béc"): 6,
    ("a", "béc", "text"): 7,
    ("a", "béc", "literal"): 11,
    ("a", "béc", "empty"): 13,
    ("a", "béc", "list"): 14,
    ("a", "béc", "list", "p"): 14,
    ("a", "béc", "list", "q"): 15,
    ("a", "béc", "list", "r"): 16,
    ("a", "béc", "list", "r", "s"): 16,
    ("a", "béc", "inline"): 17,
    ("a", "béc", "inline", "one"): 17,
    ("a", "béc", "inline", "two"): 17,
    ("a", "béc", "inline", "two", "three"): 17,
    ("a", "béc", "inline", "two", "three", "four"): 17,
    ("a", "béc", "inline", "five"): 17,
    ("a", "béc", "inline", "six"): 17,
    ("a", "béc", "when"): 18,
    ("a", "béc", "3"): 19,
    ("a", "béc", "3", "14"): 19,
    ("many",): 21,
    ("many", "n"): 22,
    ("many", "m"): 24,
    ("a", "late"): 25,
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_key_of_a_toml_text_is_found_on_its_line(end):
    text = LOCATED.replace("\n", end)
    tomllib.loads(text)  # what is located must be valid
    assert key_lines(text) == EXPECTED


words = st.text(min_size=1, max_size=8)
values = st.recursive(
    st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def quoted(text):
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text) + '"'


def written(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(k)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",\n# ] } [x]\n".join(map(written, value)) + "]"
    return quoted(value) if isinstance(value, str) else str(value)


def paths(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from paths(inner, (*path, key))


@given(st.dictionaries(words, st.dictionaries(words, values, max_size=4), max_size=4))
def test_no_key_is_missed_and_none_is_made_up(document):
    text, headings = "", {}
    for name, table in document.items():
        headings[(name,)] = text.count("\n") + 1
        text += f"[{quoted(name)}] # = \n"
        for key, value in table.items():
            headings[(name, key)] = text.count("\n") + 1
            text += f"{quoted(key)} = {written(value)}\n"
    assert tomllib.loads(text) == document
    lines = key_lines(text)
    assert set(paths(document)) <= set(lines)
    assert headings.items() <= lines.items()
    assert list(lines.values()) == sorted(lines.values())


# --- a TOML file as a table ---


@pytest.fixture
def table(tmp_path):
    def read(text):
        path = tmp_path / "file.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_toml(path, RefusalError)

    return read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = = 2\n", r"file\.toml, line 2: expected TOML, got this: Invalid value \(column 5\)\. TOML is"),
        ("a = 1\n\na = 2\n", r"file\.toml, line 3: expected TOML, .*Cannot overwrite"),
        ("[a]\n[b]\n[a]\n", r"file\.toml, line 3: expected TOML, .*twice"),
        ("a = 1\nb = [1,\n", r"file\.toml, line \d: expected TOML"),
        ("a = 1\nb = yes\n", r"file\.toml, line 2: expected TOML"),
        ("a = 1\nb = " + "9" * 5000, r"file\.toml, line 2: expected TOML"),
        ("a = " + "[" * 20000, r"file\.toml, line 1: expected TOML"),
        (b"a = 1\nb = '\xff'\n", r"file\.toml, line 2: expected text in UTF-8"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(table, text, message):
    with pytest.raises(RefusalError, match=message):
        table(text)


def test_a_byte_order_mark_is_no_part_of_a_file(table):
    assert table(b"\xef\xbb\xbfa = 1\n").values == {"a": 1}


def test_an_error_stands_at_its_key_or_at_the_table_nearest_around_it(table):
    top = table("[a]\nb = 1\n[c.d]\ne.f = 1\n")
    assert str(top.error("no", "a")).endswith("file.toml, line 1: no")
    assert str(top.table("a").error("no", "b")).endswith("line 2: in [a], no")
    assert str(top.table("a").error("no", "absent")).endswith("line 1: in [a], no")
    assert str(top.table("c").table("d").table("e").error("no", "f")).endswith("line 4: in [c.d.e], no")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("a must be above 0, got -1.", 2),
        ("a belief needs a prior, got a Beta.", 1),  # the article is not the key
        ("variance must be above 0.", 4),
        ("noise_variance must be above 0.", 1),  # not given here, and not the same as variance
        ("it was given a horizon of 3.", 3),
    ],
)
def test_a_constructors_error_is_put_at_the_key_it_names(table, message, line):
    top = table("rule = 1\na = 2\nhorizon = 3\nvariance = 4\n")
    with pytest.raises(RefusalError, match=rf"line {line}: {message}"), top.blame("rule"):
        raise ValueError(message)


@pytest.mark.parametrize("kind", [ValueError, TypeError, FileNotFoundError, OverflowError])
def test_each_kind_of_error_that_wrong_input_makes_is_a_refusal(table, kind):
    with pytest.raises(RefusalError, match="line 2: this came"), table("a = 1\nb = 2\n").blame("b"):
        raise kind("this came")


def test_running_out_of_memory_is_refused_in_words(table):
    with (
        pytest.raises(RefusalError, match=r"line 1: there is not enough memory\. .*Take fewer"),
        table("a = 1").blame("a"),
    ):
        raise MemoryError


def test_other_errors_are_not_hidden(table):
    with pytest.raises(KeyError), table("a = 1\n").blame("a"):
        raise KeyError("a mistake of ours")


def test_places_are_latitude_and_longitude_or_x_and_y_or_x_or_nothing(tmp_path):
    path = tmp_path / "sites.csv"
    for header, expected in {
        "longitude,latitude,x": [[2.0, 1.0], [5.0, 4.0]],
        "y,x,name": [[2.0, 1.0], [5.0, 4.0]],
        "x,a,b": [[1.0], [4.0]],
    }.items():
        path.write_text(f"{header}\n1,2,3\n4,5,6\n")
        assert places(read_columns(path), path).tolist() == expected
    path.write_text("name\nA\n")
    assert places(read_columns(path), path) is None
    path.write_text("longitude\n50\n")
    with pytest.raises(ValueError, match="expected a column 'latitude'"):
        places(read_columns(path), path)


def test_a_latitude_beyond_the_poles_is_refused_with_its_line(tmp_path):
    file = tmp_path / "arms.csv"
    file.write_text("Plot;Lat;Lon\nA;60,5;9\n\nC;95,0;9,2\n")
    said = r"arms.csv, line 4: column 'Lat' must hold latitudes from -90 to 90 .*got 95\."
    with pytest.raises(ValueError, match=said):
        places(read_columns(file), file)
    file.write_text("Plot;Lat;Lon\nA;-90;200\n")
    assert places(read_columns(file), file).tolist() == [[-90.0, 200.0]]
