"""Editors and help() show the options: names, types and help, from the stubs."""

import inspect
import pydoc
import typing
from pathlib import Path
from typing import Any, Dict, List

import jedi
import nuthatch
import pytest
from nuthatch import _wishes
from nuthatch._option_help import HELP
from nuthatch._option_table import CACHE, REQUEST, ROWS, SITE

BEGINNING = "import nuthatch\ncache = nuthatch.Cache('a')\nloops = nuthatch.AsyncCache('a')\n"


def script(line: str) -> jedi.Script:
    return jedi.Script(BEGINNING + line)


def at_the_end(line: str) -> Dict[str, int]:
    return {"line": BEGINNING.count("\n") + 1, "column": len(line)}


def completed(line: str) -> List[str]:
    return [one.name for one in script(line).complete(**at_the_end(line))]


def named(level: int) -> List[str]:
    return [name for name, row in ROWS.items() if row.levels & level and not name.startswith("_")]


@pytest.mark.parametrize("line", ["cache.get(", "loops.get(", "cache.site('b').get("])
def test_completion_shows_option_names(line: str) -> None:
    shown = completed(line)
    assert {f"{name}=" for name in named(REQUEST)} <= set(shown)
    assert completed(line + "'url', ignore_q") == ["ignore_query="]
    assert not {"memory_bytes=", "cookie_jar=", "size="} & set(shown)


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("nuthatch.Cache(", CACHE),
        ("nuthatch.AsyncCache(", CACHE),
        ("cache.site(", SITE),
        ("loops.site(", SITE),
    ],
)
def test_caches_and_sites_show_only_their_options(line: str, level: int) -> None:
    assert {f"{name}=" for name in named(level)} <= set(completed(line))


@pytest.mark.parametrize("line", ["cache.get(", "cache.submit(", "loops.thumbnail(", "cache.prefetch("])
def test_signatures_show_option_types_and_help(line: str) -> None:
    signature = script(line).get_signatures(**at_the_end(line))[0]
    shown = {one.name: one.description for one in signature.params}
    assert shown["timeout"] == "param timeout: Duration=..."
    assert shown["policy"] == "param policy: Optional[Policy]=..."
    assert shown["retries"] == "param retries: Optional[int]=..."
    doc = " ".join(signature.docstring().split())
    for name in ("timeout", "priority", "save_to", "freezable"):
        assert " ".join((":param " + HELP[name]).split()) in doc
    assert '"kit", "rfc9111", "offline" or "reload"' in doc


CALLS = {
    nuthatch.Cache: "CacheWishes", nuthatch.AsyncCache: "CacheWishes", nuthatch.Cache.site: "SiteWishes",
    nuthatch.AsyncCache.site: "SiteWishes", nuthatch.Cache.get: "Wishes", nuthatch.Site.get: "Wishes",
    nuthatch.AsyncCache.get: "Wishes", nuthatch.AsyncSite.get: "Wishes", nuthatch.Cache.thumbnail: "Wishes",
    nuthatch.Cache.submit: "Wishes", nuthatch.AsyncCache.submit: "Wishes", nuthatch.AsyncCache.events: "Wishes",
    nuthatch.Cache.peek: "Peeking", nuthatch.Cache.request: "Sending", nuthatch.AsyncCache.request: "Sending",
    nuthatch.Cache.prefetch: "Prefetching", nuthatch.AsyncCache.prefetch: "Prefetching",
    nuthatch.Cache.remove: "Naming", nuthatch.AsyncCache.remove: "Naming",
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_help_shows_each_option(call: Any) -> None:
    types = typing.get_type_hints(getattr(_wishes, CALLS[call]))
    signature = inspect.signature(call)
    parameters = signature.parameters
    taken = [name for name in parameters if name in types and parameters[name].default is ...]
    assert set(taken) == set(types) and "options" not in parameters
    assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in taken)
    # In the order of the table.
    assert taken == [name for name in HELP if name in types]
    shown = " ".join(pydoc.render_doc(call, renderer=pydoc.plaintext).replace("\n |", "\n").split())
    for name in taken:
        assert f", {name}: " in shown and " ".join((":param " + HELP[name]).split()) in shown, name
    assert signature == inspect.signature(call) and hash(signature)


def test_the_full_text_of_an_option_is_shown_once() -> None:
    # In full for the main functions, and as a line for others.
    assert "RFC 9111, to the letter" in str(nuthatch.Cache.__doc__)
    assert "RFC 9111, to the letter" in str(nuthatch.Cache.submit.__doc__)
    assert "RFC 9111, to the letter" not in str(nuthatch.Cache.get.__doc__)


def test_each_stub_is_installed_beside_its_module() -> None:
    package = Path(nuthatch.__file__).parent
    stubs = sorted(path.stem for path in package.glob("*.pyi"))
    assert stubs == ["_async", "_async_fetching", "_cache", "_fetching"]
    for stub in stubs:
        first = (package / f"{stub}.pyi").read_text().split("\n")[0]
        assert first.startswith("# Generated from options.toml by Scripts/make-header") and stub in first


def test_every_option_has_help() -> None:
    assert set(HELP) == {*named(CACHE), *named(SITE), *named(REQUEST)}
    assert set(nuthatch.Cache.get.__annotations__) == {"url", "options", "return"}
