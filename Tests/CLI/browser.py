"""Drives headless Chromium over a pair of pipes (--remote-debugging-pipe). Needs no driver and no port."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

Answer = Dict[str, Any]


class Browser:
    """A browser with one page. A context manager."""

    def __init__(self, folder: Path) -> None:
        """Starts the browser. ``folder`` is for its files."""
        to_browser, from_here = os.pipe()
        to_here, from_browser = os.pipe()

        # The browser reads from descriptor 3 and writes to 4. The new pipes may have these numbers already.
        def place() -> None:
            first, second = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup2(first, 100), os.dup2(second, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
            os.closerange(5, 200)

        self.process = subprocess.Popen(
            [
                str(BROWSER),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={folder / 'browser'}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._write, self._read = from_here, to_here
        self._rest = b""
        self._number = 0
        self._session: Optional[str] = None
        self.said: List[str] = []
        """Console messages, with exceptions and violations of the page's policy."""
        self.asked: List[str] = []
        """The URLs that the page tried to load, without its own."""
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(domain + ".enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        os.close(self._write)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> Answer:
        """Sends a command of the DevTools protocol."""
        self._number += 1
        number = self._number
        message: Answer = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        whole = json.dumps(message).encode() + b"\0"
        while whole:
            whole = whole[os.write(self._write, whole) :]
        while True:
            answer = self._next(60)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: Answer = answer["result"]
                return result

    def _next(self, seconds: float) -> Answer:
        due = time.monotonic() + seconds
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0, due - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser doesn't answer")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        message: Answer = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, content: Answer) -> None:
        if method == "Runtime.consoleAPICalled":
            self.said.append(
                " ".join(str(part.get("value", part.get("description"))) for part in content["args"])
            )
        elif method == "Runtime.exceptionThrown":
            self.said.append(json.dumps(content["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.said.append(content["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = content["request"]["url"]
            if not url.startswith("data:") and content.get("type") != "Document":
                self.asked.append(url)

    def open(self, page: Path, fragment: str = "") -> None:
        """Opens a file and waits until the report is complete."""
        # If only the fragment differs, the browser would not load the page again.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=page.as_uri() + fragment)
        self.wait_until("document.readyState == 'complete' && document.querySelector('[aria-busy=false]')")

    def evaluate(self, expression: str) -> Any:
        """Returns the value of an expression on the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_until(self, condition: str, seconds: float = 30) -> None:
        """Waits for an expression to be true."""
        due = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > due:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def key(self, name: str) -> None:
        """Presses a key, such as Tab, Enter or ArrowRight."""
        text = {"Enter": "\r", "Space": " "}.get(name, "")
        code = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}.get(name, 0)
        keys = {"key": " " if name == "Space" else name, "code": name, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **keys)
        self.call("Input.dispatchKeyEvent", type="keyUp", **keys)

    def look(self, width: int = 1200, height: int = 900, *, dark: bool = False, phone: bool = False) -> None:
        """Sets the size of the window, and the preference for light or dark."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def screenshot(self, file: Path) -> bytes:
        """Returns a picture of the window as PNG."""
        picture = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        file.write_bytes(picture)
        return picture
