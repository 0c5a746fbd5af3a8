"""The random choices of a round: operations, URLs, and the server's behaviour. The same seed makes the same choices."""

import random
from typing import Any, Collection, Dict

from content import Thing

#: The weight of each operation in a worker's choice.
WEIGHTS = {
    "get": 300, "thumbnail": 240, "peek": 120, "reload": 70, "remove": 50, "unsafe": 40, "flush": 15, "reopen": 12,
    "stats": 10, "trim": 4, "clear": 4,
}  # fmt: skip
#: The weight of each operation of the command.
COMMANDS = {"remove": 8, "verify": 2, "stats": 3, "clear": 1, "trim": 1}
#: The URLs of a round by kind: how many there are, and the weight of the kind.
KINDS = {
    "body": (10, 8),
    "tagged": (6, 5),
    "picture": (12, 12),
    "varied": (4, 3),
    "moved": (4, 3),
    "owned": (4, 3),
}


def chosen_path(chance: random.Random, without: Collection[str]) -> str:
    """Returns a random URL. Two of three calls take one of the first two URLs of a kind, so that calls meet."""
    names = [name for name in KINDS if name not in without]
    kind = chance.choices(names, [KINDS[name][1] for name in names])[0]
    return "/%s/%d" % (kind, chance.randrange(2 if chance.random() < 0.67 else KINDS[kind][0]))


def behaviour(seed: str, thing: Thing) -> Dict[str, Any]:
    """Returns how the server answers.

    `delay`: in seconds; `cut`: the share of the delay before the head; `age`: seconds of freshness, or None; `is_kept`:
    whether the answer has no no-store.
    """
    chance = random.Random("%s %s %s %d" % (seed, *thing))
    roll = chance.random()
    # Half of the answers have no delay. One of 250 comes later than any deadline.
    delay = 0.0 if roll < 0.5 else chance.uniform(0.002, 0.03) if roll < 0.88 else chance.uniform(0.03, 0.4)
    if roll > 0.996:
        delay = 3.0
    age = chance.choices((3600, 1, 0, None), (80, 8, 6, 6))[0]
    return {
        "delay": delay,
        "age": age,
        "is_kept": chance.random() > 0.04,
        "cut": chance.choice((0.0, 0.5, 1.0)),
    }
