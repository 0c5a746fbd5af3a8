"""The judge of the model check finds each broken promise in made-up logs, and nothing where the order is not proved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from content import Thing, Wrong, make_body, make_picture, read_body, read_picture
from judge import NAMES, Call, History, Judge

MS = 1_000_000
BODY = "/body/1"


def call(
    begin: float, end: float, operation: str, path: str = BODY, process: int = 0, **outcome: Any
) -> Call:
    """Returns a call. Times are in milliseconds."""
    if operation in ("get", "reload") and not {"error", "wrong"} & set(outcome):
        outcome = {"cached": operation == "get", "source": "disk", "kept": True, **outcome}
    found = outcome or {"none": True, "kept": True}
    return Call(process, "0.1", int(begin * MS), operation, path, "", 1.0, int(end * MS), found)


def request(
    time: float, version: int, path: str = BODY, status: int = 200, is_kept: bool = True
) -> list[Any]:
    return [int(time * MS), "GET", path, "", version, status, is_kept]


def broken(calls: list[Call], requests: list[list[Any]], **others: Any) -> list[str]:
    judge = Judge(History(calls, requests, others.get("late", {}), others.get("private", {})))
    judge.judge(set(NAMES))
    return [one.invariant for one in judge.violations]


def test_content_names_its_url_and_version() -> None:
    assert read_body(make_body(Thing("/varied/1", "a", 7))) == Thing("/varied/1", "a", 7)
    assert read_picture(make_picture(Thing("/picture/1", "", 7))) == Thing("/picture/1", "", 7)
    with pytest.raises(Wrong):
        read_body(make_body(Thing(BODY, "", 7))[:-1] + b"?")


def test_wrong_bytes_and_versions_of_the_future_break_i1() -> None:
    assert broken([call(2, 3, "get", wrong="a body of another URL")], []) == ["I1"]
    assert broken([call(2, 3, "get", version=1)], [request(4, 1)]) == ["I1"]
    assert broken([call(2, 3, "get", version=1)], [request(1, 1)]) == []


@pytest.mark.parametrize("operation", ["remove", "unsafe", "clear"])
def test_an_answer_requested_before_a_removal_breaks_i2_after_its_return(operation: str) -> None:
    removal = call(10, 20, operation, "" if operation == "clear" else BODY, 1)
    assert broken([removal, call(21, 22, "get", version=1)], [request(9, 1)]) == ["I2"]
    # The call began before the removal returned.
    assert broken([removal, call(19, 30, "get", version=1)], [request(9, 1)]) == []
    # The server received the request after the removal began.
    assert broken([removal, call(21, 22, "get", version=1)], [request(11, 1)]) == []
    # The server confirmed the version after the removal.
    confirmed = [request(9, 1), request(15, 1, status=304)]
    assert broken([removal, call(21, 22, "get", version=1)], confirmed) == []
    # The answer is not from the cache.
    assert broken([removal, call(21, 22, "get", version=1, cached=False)], [request(9, 1)]) == []
    # The removal failed.
    failed = removal._replace(outcome={"error": "busy", "text": ""})
    assert broken([failed, call(21, 22, "get", version=1)], [request(9, 1)]) == []


def test_another_urls_removal_breaks_nothing() -> None:
    removal = call(10, 20, "remove", "/body/2")
    assert broken([removal, call(21, 22, "get", version=1)], [request(9, 1)]) == []


def test_an_older_answer_after_a_reload_breaks_i3() -> None:
    asked = [request(5, 1), request(11, 2)]
    reload = call(10, 20, "reload", process=1, version=2)
    assert broken([reload, call(21, 22, "get", version=1)], asked) == ["I3"]
    assert broken([reload, call(21, 22, "get", version=2)], asked) == []
    # The call began before the reload returned.
    assert broken([reload, call(19, 22, "get", version=1)], asked) == []
    # The older answer was asked for while the reload was under way: the logs don't prove which came first.
    assert broken([reload, call(21, 22, "get", version=1)], [request(10.5, 1), request(11, 2)]) == []
    # The reload's answer may not be stored, or was not.
    assert (
        broken([reload, call(21, 22, "get", version=1)], [request(5, 1), request(11, 2, is_kept=False)]) == []
    )
    unstored = call(10, 20, "reload", process=1, version=2, kept=False)
    assert broken([unstored, call(21, 22, "get", version=1)], asked) == []


def test_a_private_reload_holds_for_its_process_and_after_a_flush_for_all() -> None:
    asked = [request(5, 1), request(11, 2)]
    reload = call(10, 20, "reload", process=1, version=2)
    own, others = call(41, 42, "get", process=1, version=1), call(41, 42, "get", process=0, version=1)
    assert broken([reload, own], asked, private={1: []}) == ["I3"]
    assert broken([reload, others], asked, private={1: []}) == []
    assert broken([reload, others], asked, private={1: [(30 * MS, 40 * MS)]}) == ["I3"]
    assert broken([reload, others], asked, private={1: [(15 * MS, 40 * MS)]}) == []


def test_a_late_call_breaks_i4_but_for_the_time_in_which_its_process_could_not_run() -> None:
    slow = call(0, 3000, "get", error="timeout", text="")
    assert broken([slow], []) == ["I4"]
    assert broken([slow], [], late={0: [(500 * MS, 1500 * MS)]}) == []
    assert broken([slow], [], late={0: [(2900 * MS, 9000 * MS)]}) == ["I4"]
    assert broken([slow], [], late={1: [(500 * MS, 1500 * MS)]}) == ["I4"]
    assert broken([slow._replace(outcome=None)], []) == ["I4"]
    assert broken([call(0, 2200, "get", error="timeout", text="")], []) == []


def test_an_unexpected_error_breaks_i6() -> None:
    assert broken([call(0, 1, "get", error="internal", text="no digest")], []) == ["I6"]
    assert broken([call(0, 1, "get", error="busy", text="")], []) == []
