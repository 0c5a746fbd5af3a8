"""``python -m nuthatch``: runs the command that the wheel contains, or to which Debian's package has a link."""

from __future__ import annotations

import os
import signal
import sys
from typing import List, NoReturn, Optional


def command() -> Optional[str]:
    """Returns the path of the command: in the wheel, else in the checkout, or None."""
    here = os.path.dirname(os.path.realpath(__file__))
    checkout = os.path.normpath(os.path.join(here, os.pardir, os.pardir, os.pardir, "build"))
    for folder in (here, checkout):
        path = os.path.join(folder, "nuthatch")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def main(arguments: Optional[List[str]] = None) -> NoReturn:
    """Replaces this process by the command. Never returns."""
    path = command()
    if path is None:
        sys.exit(
            "nuthatch: the package has no command: install the wheel or the Debian package nuthatch, "
            "or run `make` in the checkout"
        )
    sys.stdout.flush()
    # Python ignores these signals, and the command would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(path, ["nuthatch", *(sys.argv[1:] if arguments is None else arguments)])


if __name__ == "__main__":
    main()
