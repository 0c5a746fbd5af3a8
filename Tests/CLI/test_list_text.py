"""The text of lists: encodings, line breaks, separators, empty cells, and binary files."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Tuple

import packing
import pytest
from command import COMMAND, Runner, summary
from pictures import png

DRY = ["prefetch", "--dry-run", "--format=jsonl"]
UTF_16 = {"little": ("utf-16-le", b"\xff\xfe"), "big": ("utf-16-be", b"\xfe\xff")}


def found(stdout: bytes) -> List[Tuple[int, str]]:
    """Returns lines and URLs."""
    return [(record["line"], record["url"]) for record in map(json.loads, stdout.splitlines())]


def faults(nuthatch: Runner, given: bytes, *arguments: str) -> List[Tuple[int, str]]:
    """Returns line and message of each line without a URL."""
    done = nuthatch("prefetch", "--format=jsonl", "--policy=offline", *arguments, given=given)
    records: List[Dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    bad = [record for record in records if record["error"] == "bad_url"]
    assert (done.returncode, summary(done.stderr)["failed"]) == (4, len(records)), done.stderr
    return [(record["line"], record["message"]) for record in bad]


@pytest.mark.parametrize(
    "text, arguments",
    [
        ("http://x/ä\r\n# é\r\nhttp://x/\U0001f426\r\n", []),
        ("id;url\r\n1;http://x/ä\r\n2;http://x/\U0001f426\r\n", ["--input=csv"]),
        ("id\turl\r\n1\thttp://x/ä\r\n2\thttp://x/\U0001f426\r\n", []),
        ('{"url": "http://x/ä"}\n\n{"url": "http://x/\U0001f426"}', []),
    ],
)
@pytest.mark.parametrize("order", list(UTF_16))
def test_a_utf_16_list_is_recognized_by_its_byte_order_mark(
    text: str, arguments: List[str], order: str, nuthatch: Runner
) -> None:
    encoding, mark = UTF_16[order]
    for given in (mark + text.encode(encoding), text.encode("utf-8-sig")):
        done = nuthatch(*DRY, *arguments, given=given)
        assert [url for _, url in found(done.stdout)] == ["http://x/ä", "http://x/\U0001f426"]
        assert done.returncode == 0


@pytest.mark.parametrize("order", list(UTF_16))
@pytest.mark.parametrize("units", [[0xD83D, 0x61], [0xDC26], [0xD83D, 0xD83D], [0xD83D]])
def test_half_a_surrogate_pair_is_an_error(order: str, units: List[int], nuthatch: Runner) -> None:
    encoding, mark = UTF_16[order]
    bad = b"".join(unit.to_bytes(2, order) for unit in units)  # type: ignore[arg-type]
    done = nuthatch(*DRY, given=mark + "http://x/a\nhttp://x/b".encode(encoding) + bad)
    assert (found(done.stdout), done.returncode) == ([(1, "http://x/a")], 2)
    assert b"standard input: line 2: the UTF-16 text has half of a surrogate pair" in done.stderr


@pytest.mark.parametrize("order", list(UTF_16))
def test_half_a_utf_16_code_unit_is_an_error(order: str, nuthatch: Runner) -> None:
    encoding, mark = UTF_16[order]
    done = nuthatch(*DRY, given=mark + "http://x/a\nhttp://x/b".encode(encoding) + b"/")
    assert (found(done.stdout), done.returncode) == ([(1, "http://x/a")], 2)
    assert b"line 2: the UTF-16 text ends in the middle of a character" in done.stderr


def test_a_list_with_only_a_byte_order_mark_is_empty(nuthatch: Runner) -> None:
    for given in (b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"):
        done = nuthatch(*DRY, given=given)
        assert (done.stdout, done.returncode) == (b"", 0), given


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("http://x/a\rhttp://x/b\r\rhttp://x/c", [(1, "a"), (2, "b"), (4, "c")]),
        ("http://x/a\rhttp://x/b\r\nhttp://x/c\n", [(1, "a"), (2, "b"), (3, "c")]),
        ("url,name\rhttp://x/a,a\rhttp://x/b,b\r", [(2, "a"), (3, "b")]),
        ("url\tname\rhttp://x/a\ta\rhttp://x/b\tb", [(2, "a"), (3, "b")]),
        ('name,url\r"a\rb",http://x/a\rc,http://x/b\r', [(2, "a"), (4, "b")]),
        ('name,url\n"a\rb\r\n",http://x/a\nc,http://x/b\n', [(2, "a"), (4, "b")]),
        ('name,url\r\n"a\rb",http://x/a\r\nc,http://x/b\r\n', [(2, "a"), (3, "b")]),
        ('{"id": 1,\r"url": "http://x/a"}\r\n{"url":\r"http://x/b"}', [(1, "a"), (2, "b")]),
    ],
)
def test_a_lone_cr_ends_a_line_except_in_json(
    text: str, wanted: List[Tuple[int, str]], nuthatch: Runner
) -> None:
    done = nuthatch(*DRY, given=text.encode())
    assert found(done.stdout) == [(line, f"http://x/{name}") for line, name in wanted]
    assert done.returncode == 0


def test_a_cr_in_quotes_is_part_of_the_url(nuthatch: Runner) -> None:
    done = nuthatch(*DRY, given=b'id,url\n1,"http://x/\ra"\n2,"http://x/\r\nb"\n3,"http://x/\nc"\n')
    assert found(done.stdout) == [(2, "http://x/\ra"), (3, "http://x/\r\nb"), (5, "http://x/\nc")]


def test_the_time_for_many_lone_crs_grows_linearly(nuthatch: Runner) -> None:
    done = nuthatch(*DRY, given=b"http://x/a\r" * 200_000)
    assert len(done.stdout.splitlines()) == 200_000 and done.returncode == 0


@pytest.mark.parametrize(
    "text, arguments",
    [
        ('id;title;url\n1;"a;b,""c""\nd";{}\n2;e,f;"{}"\n', []),
        ('"Bild-Nr.";url\n1,5;{}\n2,5;{}\n', ["--input=csv"]),
        ('"Nr.\nNummer";"Titel, lang";url\n1;a;{}\n2;b;{}\n', ["--input=csv"]),
        ("sep=;\nnr;foto\n1;{}\n2;{}\n", ["--url-field=foto"]),
        ("sep=;\nnr;foto\n1;{}\n2;{}\n", ["--url-field=foto", "--input=csv"]),
        ("nr;x;foto, gross\n1;;{}\n2;;{}\n", ["--url-field=3", "--input=csv"]),
        ("1;{};x\n2;{};y\n", ["--input=csv"]),
        ("url,a;b\n{},1\n{},2\n", ["--input=csv"]),
        ("id\turl\n1\t{}\n2\t{}\n", ["--input=csv"]),
        ("id, url\n1, {} \n2, {}\n", []),
        ("[id],url\n1,{}\n2,{}\n", []),
    ],
)
def test_the_first_row_decides_the_separator(text: str, arguments: List[str], nuthatch: Runner) -> None:
    wanted = ["http://x/a", "http://x/b"]
    done = nuthatch(*DRY, *arguments, given=text.format(*wanted).encode())
    assert [url for _, url in found(done.stdout)] == wanted, done.stderr


def test_a_semicolon_is_part_of_a_url(nuthatch: Runner) -> None:
    for text, arguments in [
        ("http://x/a;url\nhttp://x/b;url\n", []),
        ("id,url\n1,http://x/a;url\n2,http://x/b;url\n", []),
        ("http://x/a;url,1\nhttp://x/b;url,2\n", ["--input=csv"]),
        ('id;url\n1;"http://x/a;url"\n2;"http://x/b;url"\n', []),
    ]:
        done = nuthatch(*DRY, *arguments, given=text.encode())
        assert [url for _, url in found(done.stdout)] == ["http://x/a;url", "http://x/b;url"]


def test_a_first_row_of_urls_is_not_a_header_for_a_column_number(nuthatch: Runner) -> None:
    """The first row was once skipped if another column had a URL, too."""
    done = nuthatch(
        *DRY, "--input=csv", "--url-field=2", given=b"http://p/1,http://x/a\nhttp://p/2,http://x/b\n"
    )
    assert [url for _, url in found(done.stdout)] == ["http://x/a", "http://x/b"]


def a_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "http://x/a\n" * 100)
    return file.getvalue()


@pytest.mark.parametrize(
    "name, content, why",
    [
        ("a program", Path(COMMAND), "it is a program"),
        ("nut.png", png(64, 64), "it is a PNG picture"),
        ("urls.xlsx", a_zip(), "it is a zip file; save a spreadsheet as CSV"),
        (
            "urls.bz2",
            b"BZh91AY&SY\x01\x02http://x/",
            "it is compressed by bzip2; gzip, zstd and xz can be read",
        ),
        ("nul", b"http://x/a\nhttp://x/\0b\n", "it has NUL bytes"),
        ("utf-16 without a mark", "http://x/a\n".encode("utf-16-le"), "UTF-16 without a byte order mark"),
        ("utf-32", "http://x/a\n".encode("utf-32"), "it is UTF-32; UTF-8 or UTF-16 is needed"),
        ("controls", bytes(range(1, 9)) * 20 + b"a\n" * 99, "it has too many control characters"),
        ("random.gz", packing.PACKERS["gzip"](b"a\0b" * 99), "it has NUL bytes"),
        ("random.csv", b"id,url\n\0\1\2\n", "it has NUL bytes"),
        ("utf-16", "http://x/\0a\n".encode("utf-16"), "it has NUL bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",
)
def test_a_binary_list_is_refused_with_one_clear_error(
    name: str, content: object, why: str, nuthatch: Runner, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content.read_bytes() if isinstance(content, Path) else content)  # type: ignore[arg-type]
    done = nuthatch("prefetch", "--format=jsonl", name)
    assert (done.returncode, done.stdout) == (2, b"")
    first, last = done.stderr.decode().splitlines()
    assert first.startswith(f"nuthatch: prefetch: {name} is not a list: ") and why in first
    assert json.loads(last)["urls"] == 0


def test_a_list_with_terminal_colours_is_text(nuthatch: Runner) -> None:
    given = b"# \x1b[1mbold\x1b[0m \x07\x0c\nhttp://x/a\n" + bytes(range(128, 256)) * 20 + b"\n"
    assert faults(nuthatch, given) == [(3, "line 3: the URL is not UTF-8")]


@pytest.mark.parametrize(
    "text, arguments, wanted",
    [
        (
            "id,url\n1,http://x/a\n\n2,\n3,  \n",
            [],
            [(4, "the column url is empty"), (5, "the column url is empty")],
        ),
        ("id;Bild\n1;\n", ["--url-field=bild", "--input=csv"], [(2, "the column Bild is empty")]),
        ("id\turl\n\t\n1\t\n \n", [], [(2, "the column url is empty"), (3, "the column url is empty")]),
        ("1,http://x/a\n2,\n", ["--input=csv"], [(2, "column 2 is empty")]),
        ('id,url\n"1\n2",""\n', [], [(2, "the column url is empty")]),
        (
            "id,x,url\n1,2\n",
            [],
            [(2, "the row ends before the column url: it has 2 columns, and the URL is in number 3")],
        ),
        (
            '{"url": null}\n{"url": ""}\n\n{"a": 1}\n{"url": [1]}\n{"url": 7}\n[]\n{"url"\n7\n',
            [],
            [
                (1, "the field 'url' is null"),
                (2, "the field 'url' is empty"),
                (4, "the field 'url' is missing"),
                (5, "the field 'url' is not a string"),
                (6, "the field 'url' is not a string"),
                (7, "the field 'url' is empty"),
                (8, "the line is not a JSON object, array or text"),
                (9, "the line is not a JSON object, array or text"),
            ],
        ),
    ],
)
def test_an_empty_or_missing_url_is_a_failure_with_its_line(
    text: str, arguments: List[str], wanted: List[Tuple[int, str]], nuthatch: Runner
) -> None:
    assert faults(nuthatch, text.encode(), *arguments) == [
        (line, f"line {line}: {reason}") for line, reason in wanted
    ]


def test_export_reports_empty_urls_too(nuthatch: Runner, tmp_path: Path) -> None:
    done = nuthatch("export", "thumbs", "-", given=b"id,url\n1,\n")
    assert done.returncode == 4
    (line,) = (tmp_path / "thumbs" / "manifest.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert (told["error"], told["message"]) == ("bad_url", "line 2: the column url is empty")
