"""Examples of the documents, and the server on loopback that answers in place of all hosts that they name."""

import contextlib
import re
from pathlib import Path
from typing import Dict, Iterator, List

from pictures import png
from testserver import TestServer, body, ok, script

LOGO = png(290, 82)
NUT = png(32, 24)


def examples(page: Path) -> Dict[str, List[str]]:
    """The blocks of code of a page by language. The server is a proxy for http, so that https becomes http."""
    found: Dict[str, List[str]] = {}
    text = page.read_text().replace("https://", "http://")
    for language, code in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
        found.setdefault(language, []).append(code)
    return found


@contextlib.contextmanager
def all_hosts() -> Iterator[Dict[str, str]]:
    """The environment in which the hosts of the examples answer."""
    with TestServer() as server:
        server.on("/static/img/python-logo.png", ok(LOGO, "image/png"))
        server.on("/json", ok('{"slideshow": {}}', "application/json"))
        server.echo("/post")
        server.on("/delay/10", script(steps=[server.gate("never").step, body("x")]))
        server.on("/nut.png", ok(NUT, "image/png"))
        server.on("/seeds.json", ok('{"seeds": [1, 2, 3]}', "application/json"))
        server.echo("/echo")
        server.on("/slow", script(steps=[server.gate("never").step, body("x")]))
        yield {"http_proxy": server.url(""), "no_proxy": "127.0.0.1"}
