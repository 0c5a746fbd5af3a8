"""The scenarios: a fault of a file system while programs use a cache on it, and checks afterwards."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from typing import Callable, Dict, List, Tuple

from filler import Filler
from stage import HERE, Stage, ending, plain
from volumes import Failed


def begin(stage: Stage, is_harmful: bool = False) -> None:
    """Mounts the file system and starts programs. In four of five rounds the cache is filled before."""
    stage.is_harmful = is_harmful
    stage.volume.mount()
    if stage.dice.random() < 0.8:
        status, _, err = stage.prefetch()
        if status != 0:
            stage.fault("prefetch before: %s: %s" % (ending(status), plain(err)))
    stage.start()


def fill(stage: Stage, seconds: float) -> None:
    """Another program fills and frees the file system again and again."""
    begin(stage)
    filler = Filler(stage.volume, stage.seed)
    filler.start()
    stage.work(seconds)
    filler.wait_until_full()
    filler.stop()
    stage.note("times full", filler.fills)
    stage.stop()
    after(stage)


def shutdown(stage: Stage, seconds: float) -> None:
    """The file system shuts down: from then on every call fails."""
    begin(stage, is_harmful=True)
    stage.work(seconds / 2 + stage.dice.uniform(0, 1))
    stage.volume.forget()
    stage.volume.shut_down()
    stage.work(seconds / 2)
    stage.stop()
    stage.volume.mount_again()
    after(stage)


def turned(stage: Stage, seconds: float) -> None:
    """The file system turns read-only by itself, as after an error."""
    begin(stage, is_harmful=True)
    stage.work(seconds / 2 + stage.dice.uniform(0, 1))
    stage.may_lose = stage.volume.kind == "btrfs"
    stage.volume.turn_read_only()
    stage.work(seconds / 2)
    stage.stop()
    stage.volume.mount_again()
    after(stage)


def remount(stage: Stage, seconds: float) -> None:
    """The file system is remounted read-only and writable in turn while commands run."""
    stage.volume.mount()
    # A program that keeps the cache open keeps the file system writable.
    stage.start(workers=0, commands=1)
    end, done, refused = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end or (done == 0 and refused < 20_000):
        try:
            stage.volume.make_read_only()
        except Failed:
            refused += 1
            continue
        done += 1
        time.sleep(stage.dice.uniform(0.1, 1))
        stage.volume.remount("rw")
        time.sleep(stage.dice.uniform(0.1, 0.5))
    stage.note("times read-only", done)
    if done == 0:
        stage.fault("it could not be mounted read-only in %d attempts" % refused)
    stage.stop()
    after(stage)


def eio(stage: Stage, seconds: float) -> None:
    """A part of the device, or all of it, fails with EIO for a while, again and again."""
    begin(stage, is_harmful=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        stage.work(stage.dice.uniform(0.3, 1.2))
        stage.volume.forget()
        share = stage.dice.choice([0, 0.05, 0.2, 0.5, 0.8])
        stage.volume.cut(max(4096, int(stage.volume.size * share) // 4096 * 4096))
        stage.volume.flush()
        stage.work(stage.dice.uniform(0.1, 1.2))
        stage.volume.mend()
    stage.stop()
    stage.volume.mount_again()
    after(stage)


def readonly(stage: Stage, seconds: float) -> None:
    """The file system is mounted read-only before a program opens the cache, after a clean end or a kill. Calls that
    only read must work."""
    stage.volume.mount()
    status, _, err = stage.prefetch("--disk-bytes", "40M")
    if status != 0:
        stage.fault("prefetch of the list: %s: %s" % (ending(status), plain(err)))
    if stage.dice.random() < 0.5:
        stage.kill_prefetch()
        stage.note("after a kill")
    if stage.volume.kind == "tmpfs":
        stage.volume.make_read_only()
    else:
        stage.volume.unmount()
        stage.volume.mount(read_only=True)
    requests = stage.pictures.server.count()
    for words in (["stat"], ["stat", "--count"]):
        _reads(stage, *words)
    listed = _reads(stage, "ls", "--format", "json")
    if listed and sorted(row["url"] for row in json.loads(listed)) != sorted(stage.pictures.urls):
        stage.fault("ls, mounted read-only: %d URLs" % len(json.loads(listed)))
    for number in stage.dice.sample(range(len(stage.pictures.urls)), 5):
        url = stage.pictures.urls[number]
        explained = _reads(stage, "explain", "--format", "json", url)
        if explained and json.loads(explained)["prospect"] != "hit":
            stage.fault("explain, mounted read-only: %s" % json.loads(explained)["prospect"])
        for words in (["get", "--policy", "offline"], ["get"]):
            body = _reads(stage, *words, url)
            if body and stage.pictures.known.version(number, body) < 0:
                stage.fault("%s, mounted read-only: wrong bytes" % " ".join(words))
    folder = stage.scratch / "exported"
    exported = _reads(stage, "export", "--format", "json", "--size", "16", str(folder), str(stage.list))
    if exported and len(list(folder.glob("*.jpg"))) != len(stage.pictures.urls):
        stage.fault("export, mounted read-only: %s" % plain(exported))
    shutil.rmtree(str(folder), ignore_errors=True)
    _python_reads(stage)
    if stage.pictures.server.count() != requests:
        stage.fault("mounted read-only: requests were sent")
    stage.volume.mount_again()
    after(stage)


def _reads(stage: Stage, *words: str) -> bytes:
    """Runs a command that must work, and returns its output. Notes a failure, and returns nothing then."""
    status, out, err = stage.nuthatch(*words)
    if status == 0:
        return out
    said = [word for word in words if not word.startswith(("http:", "/"))]
    stage.fault("%s, mounted read-only: %s: %s" % (" ".join(said), ending(status), plain(err)))
    return b""


def _python_reads(stage: Stage) -> None:
    words = [sys.executable, str(HERE / "reader.py"), str(stage.cache), *stage.pictures.urls]
    environment = stage.build.environment()
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode != 0:
        said = plain(done.stderr) if done.returncode > 0 else ""
        stage.fault("Python, mounted read-only: %s: %s" % (ending(done.returncode), said))
        return
    for number, found in enumerate(json.loads(done.stdout)):
        if found not in stage.pictures.known.digests[number]:
            stage.fault("Python, mounted read-only: wrong bytes of %s" % stage.pictures.urls[number])


def after(stage: Stage) -> None:
    """Checks that the directory opens again, that only a harmful fault has damaged records, and that everything can be
    fetched."""
    status, out, err = stage.nuthatch("verify", "--format", "json")
    if status not in (0, 4):
        stage.fault("verify afterwards: %s: %s" % (ending(status), plain(err)))
    elif status == 4:
        found = {name: value for name, value in json.loads(out).items() if name != "troubled" and value}
        stage.note("verify found damage")
        if not stage.is_harmful:
            stage.fault("verify afterwards: %s" % json.dumps(found))
    status, rows, err = stage.prefetch("--policy", "reload", "--disk-bytes", "40M")
    told = json.loads(err.splitlines()[-1]) if status in (0, 4) and err else {}
    if status != 0 or len(rows) != len(stage.pictures.urls) or told.get("not_kept"):
        first: List[str] = [str(row.get("message")) for row in rows if not row["ok"]][:1]
        kept = "%s of %d rows not kept" % (told.get("not_kept"), len(rows))
        stage.fault("prefetch afterwards: %s: %s: %s %s" % (ending(status), kept, plain(err), first))
        return
    status, out, err = stage.nuthatch("verify", "--format", "json")
    with contextlib.suppress(ValueError):
        if status < 0 or json.loads(out)["damaged"]:
            stage.fault("verify at the end: %s: %s" % (ending(status), plain(err or out)))
    for number, url in enumerate(stage.pictures.urls[::8]):
        number *= 8
        status, out, err = stage.nuthatch("get", "--policy", "offline", url)
        if status != 0 or stage.pictures.known.version(number, out) != stage.pictures.versions[number]:
            stage.fault("get of %s afterwards: %s: %s" % (url, ending(status), plain(err)))


Scenario = Callable[[Stage, float], None]
#: By name: the scenario, and the file systems that can have it.
ALL: Dict[str, Tuple[Scenario, List[str]]] = {
    "fill": (fill, ["btrfs", "xfs", "ext4", "tmpfs"]),
    "shutdown": (shutdown, ["btrfs", "xfs", "ext4"]),
    "turned": (turned, ["btrfs", "ext4"]),
    "remount": (remount, ["btrfs", "xfs", "ext4", "tmpfs"]),
    "readonly": (readonly, ["btrfs", "xfs", "ext4", "tmpfs"]),
    "eio": (eio, ["btrfs", "xfs", "ext4"]),
}
