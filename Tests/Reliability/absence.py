#!/usr/bin/env python3
"""Keeps a server away for 150 s while a request waits in the outbox: it must come within 5 s of the server's return.

No network event announces the return: the server's port is bound all the time, and refuses connections until it
listens. The last line is `N passed, N failed`.
"""

import argparse
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The promised seconds, and one more for a busy machine. The outbox probes the server every few seconds.
PROMISED = 5.0 + 1.0
ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def answer(listener: socket.socket, body: bytes) -> None:
    """Answers the first request. Ignores connections without a request: the outbox probes the server with them."""
    while True:
        connection, _ = listener.accept()
        with connection:
            request = b""
            while body not in request:
                some = connection.recv(65536)
                if not some:
                    break
                request += some
            else:
                connection.sendall(ANSWER)
                return


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="the folder with what was built (build)"
    )
    parser.add_argument("--seconds", type=float, default=150, help="for how long the server is away (150)")
    options = parser.parse_args()
    os.environ["NUTHATCH_LIBRARY"] = str((options.build / "libnuthatch.so.1").resolve())
    sys.path.insert(0, str(ROOT / "bindings" / "python"))
    import nuthatch

    with tempfile.TemporaryDirectory() as folder, socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d/rows" % listener.getsockname()[1]
        with nuthatch.Cache(folder) as cache:
            try:
                cache.request("POST", url, body=b"three seeds", freezable=True)
                raise AssertionError("the request succeeded without a server")
            except nuthatch.Frozen as frozen:
                waiting = frozen.outbox_id
            time.sleep(options.seconds)
            back = time.monotonic()
            listener.listen()
            listener.settimeout(120)
            answer(listener, b"three seeds")
            taken = time.monotonic() - back
            outcome = cache.outbox.wait(waiting, 60)
        is_right = taken <= PROMISED and outcome is not None and outcome.status == 201
        words = "after %.0f s of absence the request came in %.1f s; its outcome: %s"
        print(words % (options.seconds, taken, outcome))
    print("1 passed, 0 failed" if is_right else "0 passed, 1 failed")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
