"""URLs from JSON lines: `--url-field` with dots, arrays and numbers."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any, Dict, List

import pytest
from command import Runner

DRY = ["prefetch", "--dry-run", "--format=jsonl"]
OFFLINE = ["prefetch", "--policy=offline", "--format=jsonl"]

NO_JSON = "the line is not a JSON object, array or text"


@pytest.mark.parametrize(
    "field, line, wanted",
    [
        ("a.b", {"a": {"c": "no", "b": "http://x/1"}}, ["1"]),
        ("a.b.c", {"b": 1, "a": {"b": {"c": "http://x/1"}}}, ["1"]),
        ("images", {"images": ["http://x/1", "http://x/2"]}, ["1", "2"]),
        ("images", {"images": "http://x/1"}, ["1"]),
        ("images", {"images": [["http://x/1"], ["http://x/2", "http://x/3"]]}, ["1", "2", "3"]),
        (
            "images.url",
            {"images": [{"url": "http://x/1"}, {"w": {}, "url": "http://x/2", "h": [1]}]},
            ["1", "2"],
        ),
        ("images.url", {"images": {"url": "http://x/1"}}, ["1"]),
        ("a.b", {"a": [{"b": ["http://x/1", "http://x/2"]}, {"b": "http://x/3"}]}, ["1", "2", "3"]),
        ("a.0.b", {"a": [{"b": "http://x/1"}, {"b": "no"}]}, ["1"]),
        ("a.1", {"a": ["no", "http://x/2", "no"]}, ["2"]),
        ("a.1.0", {"a": ["no", ["http://x/2", "no"], "no"]}, ["2"]),
        ("a.0", {"a": [["http://x/1", "http://x/2"], "no"]}, ["1", "2"]),
        ("a.b.1", {"a": [{"b": ["no", "http://x/1"]}, {"b": ["no", "http://x/2", "no"]}]}, ["1", "2"]),
        ("a.0", {"a": {"0": "http://x/1"}}, ["1"]),
        ("a.b", {"a": {"b": "no"}, "a.b": "http://x/1"}, ["1"]),
        ("a.b.c", {"a": {"b": {"c": "no"}}, "a.b": {"c": "http://x/1"}}, ["1"]),
        ("x.a.b", {"x": [{"a.b": "http://x/1", "a": 1}, {"a": {"b": "http://x/2"}}]}, ["1", "2"]),
        ("a\u00e9.b", {"a\u00e9": {"b": "http://x/1"}}, ["1"]),
        ("url", ["http://x/1", {"url": "http://x/2"}], ["1", "2"]),
        ("any", "http://x/1", ["1"]),
    ],
)
def test_url_field_finds_urls_in_objects_and_arrays(
    field: str, line: object, wanted: List[str], nuthatch: Runner
) -> None:
    given = "".join(json.dumps(line, ensure_ascii=ascii) + "\n" for ascii in (True, False))
    done = nuthatch(*DRY, "--input=jsonl", f"--url-field={field}", given=given.encode())
    records = [json.loads(text) for text in done.stdout.splitlines()]
    assert [record["url"] for record in records] == [f"http://x/{name}" for name in wanted * 2]
    assert [record["index"] for record in records] == list(range(2 * len(wanted)))
    assert [record["line"] for record in records] == [1] * len(wanted) + [2] * len(wanted)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "field, text, wanted",
    [
        ("a.b", '{"a": {"c": 1}}', ["the field 'a.b' is missing"]),
        ("a.b", '{"a": "http://x/1"}', ["the field 'a.b' is missing"]),
        ("a.b", '{"a": null}', ["the field 'a.b' is missing"]),
        ("a.b", '{"a": {"b": null}}', ["the field 'a.b' is null"]),
        ("a", '{"a": {"b": 1}}', ["the field 'a' is an object; name one of its fields"]),
        ("a.7", '{"a": [1]}', ["the field 'a.7' is missing"]),
        ("a.99999999999999999999", '{"a": [1]}', ["the field 'a.99999999999999999999' is missing"]),
        ("a", '{"a": []}', ["the field 'a' is empty"]),
        (
            "a",
            '{"a": [null, "", " ", 5, {}, [], "http://x/1"]}',
            [
                "is null",
                "is empty",
                "is empty",
                "is not a string",
                "is an object",
                "is empty",
                "has no usable answer",
            ],
        ),
        ("a.b", '{"a": [{"b": null}, {}, 1, {"b": [null]}]}', ["is null", "missing", "missing", "is null"]),
        ("a", '{"a": ["http://x/1", ', ["has no usable answer", NO_JSON]),
        ("a", '{"a": ["http://x/1" "b"]}', ["has no usable answer", NO_JSON]),
        ("a", '{"a": "http://x/1', [NO_JSON]),
        ("a", '{"b": "\\', [NO_JSON]),
        ("a", '{"a": "\\', [NO_JSON]),
        ("a.0", '{"a": [', [NO_JSON]),
        ("a.1", '{"a": [1,', [NO_JSON]),
        ("a.b", '{"a": [{"b": "http://x/1"', [NO_JSON]),
        ("a", '{"a": ' + "[" * 600, ["more than 512 arrays are nested"]),
        ("a", '{"a": ' + "[" * 600 + "]" * 600 + "}", ["more than 512 arrays are nested"]),
    ],
)
def test_each_json_value_that_is_not_a_string_is_a_failure(
    field: str, text: str, wanted: List[str], nuthatch: Runner
) -> None:
    given = text.encode() + b'\n{"a": {"b": "http://x/2"}, "a.7": "http://x/2"}\n'
    done = nuthatch(*OFFLINE, "--input=jsonl", f"--url-field={field}", given=given)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    first = [record["message"] for record in told if record["line"] == 1]
    assert sorted(want for one in first for want in set(wanted) if want in one) == sorted(wanted), first
    assert len(first) == len(wanted)
    assert any(record["line"] == 2 for record in told) and done.returncode == 4


@pytest.mark.parametrize(
    "field, head, item, tail",
    [
        ("a", '{"a": ["http://x/1"', ", null", "]}"),
        ("a.b", '{"a": [{"b": "http://x/1"}', ', {"b": {"c": [[[]]]}}', "]}"),
        ("a.b.c", '{"a": {"b": "no", "x": "', "a.b.c", '"}, "a.b": {"c": "http://x/1"}}'),
        ("a.200000", '{"a": [1', ",{}", "]}"),
        ("url", '{"x": "', '\\"', '", "url": "http://x/1"}'),
        ("url", '{"x": ', "[", ""),
    ],
)
def test_the_time_for_a_long_json_line_grows_linearly(
    field: str, head: str, item: str, tail: str, nuthatch: Runner
) -> None:
    """A line of eight times the length takes much less than 64 times the processor time."""

    def seconds(size: int) -> float:
        line = head + item * (size // len(item)) + tail
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = nuthatch(
            *DRY, "--input=jsonl", f"--url-field={field}", "--failed-out=/dev/null", given=line.encode()
        )
        assert done.returncode in (0, 4), done.stderr[-500:]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    small, large = seconds(1 << 18), seconds(1 << 21)
    assert large < 24 * small + 4, (small, large)


@pytest.mark.parametrize("name", ["list", "list.jsonl", "list.json"])
@pytest.mark.parametrize("arguments", [{"indent": 2}, {"indent": None}])
def test_a_json_document_on_one_line_is_read_and_on_several_lines_refused(
    name: str, arguments: Dict[str, Any], nuthatch: Runner, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(json.dumps([{"url": "http://x/1"}, {"url": "http://x/2"}], **arguments))
    done = nuthatch(*DRY, name)
    if arguments["indent"]:
        assert (
            done.returncode == 2 and f"{name}: the JSON is spread over several lines".encode() in done.stderr
        )
    else:
        assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == ["http://x/1", "http://x/2"]
