"""`nuthatch prefetch --report`: one page, tested in a browser if there is one."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from pathlib import Path
from typing import Iterator

import pytest
from browser import BROWSER, Browser
from command import ROOT, Runner
from pictures import png, png_of
from testserver import TestServer, answer, ok

in_a_browser = pytest.mark.skipif(BROWSER is None, reason="there is no chromium to look at the report with")

HOSTILE = [
    "javascript:hacked=1//</script><script>hacked=1</script>",
    "http://127.0.0.1:1/</script><script>hacked=1</script>",
    "http://127.0.0.1:1/<!--<script>",
    "http://127.0.0.1:1/\"><img/src='x'onerror='hacked=1'>",
    "http://<img src=x onerror=hacked=1>/x",
    "http://127.0.0.1:1/${hacked=1}`+hacked=1+`",
    "http://127.0.0.1:1/\\u2028\u2028\u2029\t\x7f",
    "data:text/html,<script>hacked=1</script>",
]


@pytest.fixture
def page(server: TestServer, nuthatch: Runner, tmp_path: Path) -> Path:
    for number in range(30):
        server.on(f"/nut-{number}.png", ok(png(60 + number, 40, seed=number), "image/png"))
    server.on("/gone", answer(404))
    server.on("/text", ok("no picture"))
    urls = [
        server.url(f"/nut-{number}.png", "localhost" if number < 10 else "127.0.0.1") for number in range(30)
    ]
    urls += [server.url("/gone"), server.url("/text"), "javascript:alert('</script><b>')"]
    (tmp_path / "list").write_text("".join(f"{url}\n" for url in urls))
    # Some URLs are hits.
    (tmp_path / "part").write_text("".join(f"{url}\n" for url in urls[:5]))
    assert nuthatch("prefetch", "--size=64", "part").returncode == 0
    done = nuthatch("prefetch", "--size=16,64,200", "--report=report.html", "list")
    assert done.returncode == 4 and b"report: report.html" in done.stdout
    return tmp_path / "report.html"


def test_the_report_is_one_file(page: Path) -> None:
    text = page.read_text()
    assert text.count("data:image/jpeg;base64,") == 30
    assert text.count("</script>") == 3, "what comes from outside must not end a script"
    # Nothing is loaded from other URLs.
    assert re.findall(r"(?:src|href|url\()[=(\"]*https?:", text) == []
    for word in ['"error":"http"', '"error":"not_an_image"', '"error":"bad_url"']:
        assert word in text
    assert text.count('"format":"png","kind":"png, 8 bits a channel"') == 30
    assert '"formats":{"png":30}' in text


def test_the_reports_policy_allows_only_its_own_script_and_style(page: Path) -> None:
    text = page.read_text()
    [policy] = re.findall(r'Content-Security-Policy" content="(.*?)"', text)
    assert policy.startswith("default-src 'none'; img-src data:; ") and "unsafe" not in policy
    for kind in ["style", "script"]:
        [content] = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert "innerHTML" not in text and "<style>" in text and " style=" not in text


def test_the_report_has_advice_for_every_error(page: Path) -> None:
    header = (ROOT / "Sources/CNuthatch/include/nh_status.h").read_text()
    words = {word.lower() for word in re.findall(r"^\s*NH_(\w+) = [1-9]", header, re.MULTILINE)}
    [advice] = re.findall(r"const advice = \{(.*?)\};", page.read_text(), re.DOTALL)
    assert len(words) > 25 and words <= set(re.findall(r"\b(\w+): '", advice))


def test_transparent_pictures_stay_transparent_in_the_report(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/a", ok(png(40, 30, mode="rgba"), "image/png"))
    nuthatch("prefetch", "--report", "r.html", given=server.url("/a").encode())
    assert "\tdata:image/png;base64," in (tmp_path / "r.html").read_text()


def test_the_report_shows_no_password(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    (tmp_path / "list").write_text(server.url("/gone").replace("//", "//user:sesame@") + "\n")
    assert nuthatch("prefetch", "--report=report.html", "list").returncode == 4
    text = (tmp_path / "report.html").read_text()
    assert "sesame" not in text and "***@127.0.0.1" in text


def test_long_urls_are_cut_in_the_report(nuthatch: Runner, tmp_path: Path) -> None:
    picture = base64.b64encode(png(200, 150)).decode()
    given = f"data:image/png;base64,{picture}\nhttp://127.0.0.1:1/{'x' * 5000}\n".encode()
    assert len(picture) > 20_000
    nuthatch("prefetch", "--retries=0", "--report", "r.html", given=given)
    text = (tmp_path / "r.html").read_text()
    assert picture[:1000] in text and picture[:3000] not in text and "x" * 3000 not in text


def test_an_empty_run_makes_a_report(nuthatch: Runner, tmp_path: Path) -> None:
    assert nuthatch("prefetch", "--report", "r.html", given=b"").returncode == 0
    assert (tmp_path / "r.html").read_text().endswith("</html>\n")


def test_a_report_that_can_not_be_written_is_an_error(nuthatch: Runner) -> None:
    done = nuthatch("prefetch", "--report=none/r.html", given=b"")
    assert (done.returncode, done.stderr[:23]) == (1, b"nuthatch: prefetch: io:")


# In a browser


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with Browser(tmp_path) as browser:
        browser.look()
        yield browser
        assert browser.said == [], "the console is free of errors"
        assert browser.asked == [], "the network isn't asked"


def shown(browser: Browser) -> tuple[int, int]:
    """Returns the number of pictures and failures on the page."""
    browser.wait_until("document.querySelector('#grid').ariaBusy == 'false'")
    pictures = browser.evaluate("document.querySelectorAll('#grid li').length")
    browser.evaluate("document.querySelectorAll('.group').forEach(group => group.open = true)")
    browser.wait_until("[...document.querySelectorAll('.group')].every(group => group.querySelector('li'))")
    return pictures, browser.evaluate("document.querySelectorAll('.urls li').length")


def choose(browser: Browser, name: str, value: str) -> None:
    """Sets a control, and sends the event of a user's change."""
    browser.evaluate(
        f"{{ const control = document.getElementById('{name}'); control.value = '{value}';"
        " control.dispatchEvent(new Event(control.tagName == 'INPUT' ? 'input' : 'change')) }"
    )


@in_a_browser
def test_the_report_filters_by_outcome_reason_host_and_text(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert shown(browser) == (30, 3)

    def chip(text: str) -> None:
        browser.evaluate(
            f"[...document.querySelectorAll('#states button')].find(b => b.textContent.startsWith('{text}')).click()"
        )

    chip("hit 5")
    assert shown(browser) == (5, 0)
    chip("fetched 25")
    assert shown(browser) == (25, 0)
    assert browser.evaluate("location.hash") == "#state=fetched"
    chip("failed 3")
    assert shown(browser) == (0, 3)
    choose(browser, "reason", "http 404")
    assert shown(browser) == (0, 1)
    assert "404" in browser.evaluate("document.querySelector('.urls li').textContent")
    assert "remove it from the list" in browser.evaluate(
        "document.querySelector('.group summary').textContent"
    )
    chip("all")
    choose(browser, "reason", "")
    options = browser.evaluate("[...document.getElementById('host').options].map(option => option.value)")
    [local] = [host for host in options if host.startswith("localhost")]
    choose(browser, "host", local)
    assert shown(browser) == (10, 0)
    choose(browser, "host", "")
    choose(browser, "text", "NUT-7.")
    browser.wait_until("document.querySelector('#count').textContent == '1 picture'")
    assert shown(browser) == (1, 0)
    choose(browser, "text", "no such thing")
    browser.wait_until("!document.querySelector('#none').hidden")
    choose(browser, "text", "")
    browser.wait_until("document.querySelector('#none').hidden")
    choose(browser, "order", "largest")
    sizes = browser.evaluate("[...document.querySelectorAll('#grid li')].map(entry => entry.item.bytes)")
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == 30


@in_a_browser
@pytest.mark.parametrize(
    "fragment, count",
    [("#state=hit", (5, 0)), ("#reason=http", (0, 1)), ("#text=nut-7", (1, 0)), ("#state=nonsense", (30, 3))],
)
def test_a_link_to_the_report_can_have_filters(
    browser: Browser, page: Path, fragment: str, count: tuple[int, int]
) -> None:
    browser.open(page, fragment)
    assert shown(browser) == count


@in_a_browser
def test_the_report_can_be_used_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    stops = []
    while "nut-0.png" not in (stops[-1:] or [""])[0]:
        browser.key("Tab")
        stops.append(str(browser.evaluate(focused)))
        assert len(stops) < 30
    assert stops[0] == "skip to the pictures" and any(stop == "part of the URL" for stop in stops)
    browser.key("ArrowRight")
    assert browser.evaluate(focused).startswith("nut-1.png, in the cache before")
    browser.key("Enter")
    browser.wait_until("document.querySelector('dialog').open")
    assert browser.evaluate("document.querySelector('dialog h2').textContent") == "nut-1.png"
    browser.key("ArrowRight")
    facts = browser.evaluate("document.querySelector('#facts').innerText")
    assert "/nut-2.png" in facts and "62\u00d740" in facts
    browser.key("Escape")
    browser.wait_until("!document.querySelector('dialog').open")
    assert browser.evaluate(focused).startswith("nut-1.png"), "where one was before"
    # The link that skips the filters.
    browser.evaluate("document.querySelector('#skip').click()")
    assert browser.evaluate("document.activeElement.classList.contains('look')")


@in_a_browser
def test_the_report_is_accessible_to_screen_readers(browser: Browser, page: Path) -> None:
    browser.open(page)
    shown(browser)
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles: dict[str, list[str]] = {}
    for node in nodes:
        if not node.get("ignored"):
            roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    for role in ["button", "link", "combobox", "searchbox", "heading", "list"]:
        assert roles[role], role
        if role != "list":
            assert all(roles[role]), f"a {role} without a name: {roles[role]}"
    assert roles["main"] and roles["status"] and len(roles["heading"]) >= 3
    assert browser.evaluate("document.documentElement.lang") == "en"
    # The least contrast of text, and its place.
    least = """(() => {
      const light = text => {
        const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => v / 255)
          .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
      };
      const ground = node => {
        const colour = getComputedStyle(node).backgroundColor;
        return colour.endsWith(', 0)') ? ground(node.parentElement) : colour;
      };
      const written = [...document.querySelectorAll('main *')].filter(node => node.innerText && !node.children.length);
      return written.map(node => {
        const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => b - a);
        return [(a + .05) / (b + .05), node.textContent.slice(0, 30)];
      }).sort((a, b) => a[0] - b[0])[0];
    })()"""
    for dark in [False, True]:
        browser.look(dark=dark)
        worst = browser.evaluate(least)
        assert worst[0] >= 4.5, worst


@in_a_browser
def test_the_report_fits_its_window_in_light_and_dark(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.open(page)
    pictures = {}
    for name, width, dark, phone in [
        ("light", 1300, False, False),
        ("dark", 1300, True, False),
        ("phone", 390, False, True),
        ("narrow", 320, True, True),
    ]:
        browser.look(width, 900, dark=dark, phone=phone)
        overflow = browser.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{name}: it has to be scrolled sideways by {overflow} px"
        ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(22, 24, 27)" if dark else "rgb(246, 245, 242)")
        pictures[name] = browser.screenshot(tmp_path / f"{name}.png")
        assert pictures[name].startswith(b"\x89PNG") and len(pictures[name]) > 20_000
    assert len(set(pictures.values())) == 4
    kept = ROOT / "build" / "test" / "report"
    kept.mkdir(parents=True, exist_ok=True)
    for name, content in pictures.items():
        (kept / f"{name}.png").write_bytes(content)


@in_a_browser
def test_long_names_fit_the_width_of_a_phone(
    browser: Browser, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on_prefix("/nut", ok(png(60, 40), "image/png"))
    server.on_prefix("/gone", answer(404))
    host = ".".join(["very-long-label-" + "x" * 40] * 3) + ".invalid"
    query = "&".join(f"name{number}=value" for number in range(100))
    urls = [
        server.url(f"/nut?{query}"),
        server.url("/gone/ \u05d0\U0001f426.png"),
        f"http://{host}/{query * 2}",
    ]
    nuthatch("prefetch", "--retries=0", "--report=r.html", given="\n".join(urls).encode())
    browser.look(360, 780, phone=True)
    browser.open(tmp_path / "r.html")
    shown(browser)
    browser.evaluate("document.querySelector('#times').open = true")
    wide = "[...document.querySelectorAll('*')].filter(node => node.scrollWidth > node.clientWidth + 1"
    wide += " && ['auto', 'scroll'].includes(getComputedStyle(node).overflowX)).map(node => node.outerHTML)"
    assert browser.evaluate(wide) == [], "nothing has to be scrolled sideways"
    said = browser.evaluate("[...document.querySelectorAll('.urls .soft')].map(node => node.textContent)")
    assert sorted(text.count("http://") for text in said) == [0, 0], "each URL stands there once"
    assert any(text.endswith("HTTP 404 instead of a picture") for text in said)
    ends = browser.evaluate("[...document.querySelectorAll('.urls a')].map(link => link.href.slice(-7))")
    assert ends == ["%A6.png"], "what is cut leads nowhere"
    browser.evaluate("document.querySelector('button.look').click()")
    browser.wait_until("document.querySelector('dialog').open")
    assert browser.evaluate("document.querySelector('dialog').scrollTop") == 0
    lengths = browser.evaluate(
        "[...document.querySelectorAll('#facts a')].map(link => link.textContent.length)"
    )
    assert lengths and max(lengths) <= 301


@in_a_browser
def test_hostile_names_do_not_become_html(
    browser: Browser, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    evil = "<img src=x onerror=hacked=1>"
    server.on("/nut", ok(png(30, 20), "image/png;" + evil))
    server.on("/page", answer(403, evil, [("X-Evil", evil)]))
    server.on("/moved", {**answer(302), "headers": [["Location", "/nut?" + "%3Cscript%3E&lt;b&gt;'\"`"]]})
    urls = [*HOSTILE, server.url("/nut?</script><b>"), server.url("/page?<b>"), server.url("/moved")]
    given = "\n".join(urls).encode()
    assert nuthatch("prefetch", "--retries=0", "--report=r.html", given=given).returncode == 4
    assert (tmp_path / "r.html").read_text().count("</script>") == 3
    browser.open(tmp_path / "r.html")
    pictures, failures = shown(browser)
    assert pictures + failures == len(urls) and pictures >= 1
    for number in range(pictures):
        browser.evaluate(f"look({number})")
        assert browser.evaluate("document.querySelectorAll('script, dialog script, dialog b').length") == 2
    assert browser.evaluate("typeof hacked") == "undefined"
    links = browser.evaluate("[...document.links].map(link => link.protocol)")
    assert set(links) <= {"http:", "https:", "file:"}
    assert browser.evaluate("document.querySelectorAll('img[src^=\"x\"], [onerror]').length") == 0


@in_a_browser
@pytest.mark.timeout(300)
def test_the_report_stays_fast_with_ten_thousand_pictures(
    browser: Browser, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    # Noise compresses badly as JPEG, so the budget is used up.
    noise = random.Random(1)
    rows = b"".join(b"\0" + noise.randbytes(256 * 3) for _ in range(256))
    server.on_prefix("/p", ok(png_of(rows, 256, 256), "image/png"))
    given = "".join(server.url(f"/p{number}.png") + "\n" for number in range(10_000)).encode()
    assert nuthatch("prefetch", "--report=r.html", given=given).returncode == 0
    report = tmp_path / "r.html"
    embedded = report.read_text().count("\tdata:image/jpeg;base64,")
    assert 200 < embedded < 5000 and 30e6 < report.stat().st_size < 42e6
    browser.open(report)
    assert shown(browser) == (10_000, 0)
    assert browser.evaluate("document.querySelectorAll('#grid a.look').length") == 10_000 - embedded
    assert "only linked" in browser.evaluate("document.querySelector('#notes').textContent")
    loaded = "document.querySelectorAll('#grid img[src]').length"
    browser.wait_until(loaded)
    assert browser.evaluate(loaded) <= 360, "only what is near is loaded"
    browser.evaluate("document.querySelector('#grid').lastElementChild.scrollIntoView()")
    browser.wait_until(f"{loaded} == 0")
    choose(browser, "text", "p9999.")
    browser.wait_until("document.querySelector('#count').textContent == '1 picture'")


@in_a_browser
def test_all_pictures_of_the_report_are_printed(
    browser: Browser, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """Also pictures far from the visible part of the page."""
    urls = []
    for number in range(600):
        server.on(f"/p{number}", ok(png(40, 30, seed=number), "image/png"))
        urls.append(server.url(f"/p{number}"))
    given = "\n".join(urls).encode()
    assert nuthatch("prefetch", "--report=r.html", "-s32", given=given).returncode == 0
    browser.open(tmp_path / "r.html")
    assert shown(browser) == (600, 0)
    assert browser.evaluate("document.querySelectorAll('#grid img[src]').length") < 600
    printed = base64.b64decode(browser.call("Page.printToPDF")["data"])
    assert printed.count(b"/Subtype /Image") >= 600


@in_a_browser
def test_direction_marks_do_not_change_the_text_of_the_report(
    browser: Browser, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """A name with such a mark looks like another name. Letters of right-to-left scripts need no mark."""
    server.on_prefix("/", ok(png(9, 9), "image/png"))
    urls = [server.url("/") + "\u202egpj.exe", server.url("/") + "\u0645\u0631.png", "ftp://\u2067x/"]
    assert nuthatch("prefetch", "--report=r.html", given="\n".join(urls).encode()).returncode == 4
    browser.open(tmp_path / "r.html")
    assert shown(browser) == (2, 1)
    text = browser.evaluate(
        "document.body.textContent + [...document.querySelectorAll('a')].map(a => a.title).join()"
    )
    assert not any(mark in text for mark in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert "%E2%80%AEgpj.exe" in text and "\u0645\u0631.png" in text and "%E2%81%A7x" in text
