"""Reads and writes cache directories by docs/FORMAT.md alone. It shares no code with the store.

`read DIRECTORY` prints a JSON object: every record that the index names, every record that a scan of the packs finds,
and contradictions to the text. `write DIRECTORY` makes packs without the library.
"""

import ctypes
import json
import os
import struct
import sys
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

NEVER_USED, GIVEN_UP = 0, 0xFFFFFFFF
KINDS = {1: 1, 2: 2, 3: 1, 4: 1}
ANSWER = 4
TABLE = 4096 + 8 * 4096


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits_withSeed.restype = ctypes.c_uint64
xxhash.XXH3_64bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
xxhash.XXH3_128bits_withSeed.restype = Hash128
xxhash.XXH3_128bits_withSeed.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def hash64(data: bytes, seed: int = 0) -> int:
    return int(xxhash.XXH3_64bits_withSeed(data, len(data), seed & (2**64 - 1)))


def hash128(data: bytes, seed: int = 0) -> Tuple[int, int]:
    found = xxhash.XXH3_128bits_withSeed(data, len(data), seed)
    return found.low, found.high


def key_hash(kind: int, key: bytes) -> Tuple[int, int]:
    if kind != ANSWER:
        return hash128(key, kind)
    high = hash64(key, kind)
    return hash64(key[:16], kind | (high & 15) << 8), high


def up(number: int, multiple: int) -> int:
    return (number + multiple - 1) // multiple * multiple


class Record(NamedTuple):
    pack: int
    offset: int
    is_valid: bool
    kind: int
    form: int
    key: bytes
    sequence: int
    width: int
    height: int
    payload: bytes
    is_whole: bool
    end: int


class Pack:
    def __init__(self, number: int, data: bytes) -> None:
        self.number, self.data = number, data
        magic, version, family, named, capacity, salt = struct.unpack_from("<8sIIQQQ", data)
        assert magic == b"NUTPACK1" and version in (2, 3), (magic, version)
        assert family in (1, 2) and named == number and capacity == len(data), (family, named, capacity)
        assert data[40:56] == bytes(16)
        assert struct.unpack_from("<Q", data, 56)[0] == hash64(data[:56])
        self.family, self.salt = family, salt

    def record(self, at: int) -> Optional[Record]:
        if at % 8 or at < 64 or at + 48 > len(self.data):
            return None
        state, kind, form, key_length, checksum = struct.unpack_from("<4sBBHQ", self.data, at)
        if state not in (b"NHR1", b"NHRx") or kind not in KINDS or key_length == 0:
            return None
        sequence, length, width, height, payload_checksum = struct.unpack_from("<QQIIQ", self.data, at + 16)
        key_end = at + 48 + key_length
        begin = up(key_end, 16)
        if begin + length > len(self.data):
            return None
        front = struct.unpack_from("<I", self.data, at + 4)[0]
        seed = ((self.salt + at) & (2**64 - 1)) ^ (front << 32)
        if hash64(self.data[at + 16 : key_end], seed) != checksum:
            return None
        payload = self.data[begin : begin + length]
        return Record(
            self.number, at, state == b"NHR1", kind, form, self.data[at + 48 : key_end], sequence, width, height,
            payload, hash64(payload) == payload_checksum, up(begin + length, 8),
        )  # fmt: skip

    def scan(self) -> Iterator[Record]:
        at = 64
        while at < len(self.data):
            # Long runs of zeros are skipped as holes.
            if not self.data[at] and self.data[at : at + 4096] == bytes(min(4096, len(self.data) - at)):
                at += 4096
                continue
            found = self.record(at)
            if found:
                yield found
            at = found.end if found else at + 8


class Index:
    def __init__(self, data: bytes) -> None:
        self.data = data
        magic, version, table, slots, entries = struct.unpack_from("<8sIIQQ", data)
        assert magic == b"NUTINDEX" and version == 4 and table == TABLE, (magic, version, table)
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        assert struct.unpack_from("<QQ", data, 32) == hash128(boot_id)
        self.identity = struct.unpack_from("<Q", data, 48)[0]
        assert self.identity != 0
        assert struct.unpack_from("<Q", data, 56)[0] == hash64(data[:56])
        self.is_replaced, self.drops, self.session = struct.unpack_from("<III", data, 64)
        self.next_sequence, self.next_pack, self.limit = struct.unpack_from("<QQQ", data, 128)
        self.counters = struct.unpack_from("<5Q", data, 192)
        self.is_pending = struct.unpack_from("<I", data, 256)[0]
        self.count, self.begin = slots, up(TABLE + 32 * entries, 4096)
        assert slots >= 64 and len(data) == self.begin + 32 * slots
        self.packs: Dict[int, Tuple[int, int, int, int]] = {}
        for place in range(entries):
            number, family, state, used, capacity = struct.unpack_from("<IHHQQ", data, TABLE + 32 * place)
            if number:
                self.packs[number] = (family, state, used, capacity)

    def slot(self, place: int) -> Tuple[int, int, int, int, int, int]:
        return struct.unpack_from("<QQIIII", self.data, self.begin + 32 * place)

    def find(self, low: int, high: int) -> Optional[Tuple[int, int, int]]:
        place = low * self.count >> 64
        for _ in range(min(1024, self.count)):
            slot_low, slot_high, _, pack, offset, flags = self.slot(place)
            if pack == NEVER_USED:
                return None
            if pack != GIVEN_UP and (slot_low, slot_high) == (low, high):
                return pack, offset * 8, flags
            place = (place + 1) % self.count
        return None


def check_limits(folder: Path, problems: List[str]) -> Optional[int]:
    if not (folder / "limits").exists():
        return None
    data = (folder / "limits").read_bytes()
    magic, version, zero, limit = struct.unpack_from("<8sIIQ", data)
    if len(data) != 64 or (magic, version, zero) != (b"NUTLIMIT", 1, 0) or data[24:56] != bytes(32):
        problems.append("limits")
    if struct.unpack_from("<Q", data, 56)[0] != hash64(data[:56]):
        problems.append("checksum of limits")
    return int(limit)


def check_modes(folder: Path, problems: List[str]) -> None:
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        if path.is_symlink():
            continue
        if status.st_uid != os.geteuid() or status.st_mode & 0o777 != (0o700 if path.is_dir() else 0o600):
            problems.append(f"mode of {path.name}")
        name = str(path.relative_to(folder))
        is_pack = (
            name.startswith("packs/")
            and name.endswith(".pack")
            and len(path.stem) >= 8
            and path.stem.isdigit()
        )
        if name not in (".", "limits", "lock", "locks", "index", "packs") and not is_pack:
            problems.append(f"name {name}")


def check_index(index: Index, packs: Dict[int, Pack], problems: List[str]) -> List[Record]:
    """Returns the contents of the slots. They must agree with the packs."""
    named = []
    in_use = 0
    for place in range(index.count):
        low, high, version, pack, offset, flags = index.slot(place)
        in_use += pack != NEVER_USED
        if pack in (NEVER_USED, GIVEN_UP):
            continue
        if version & 1 or flags >> 16 != version // 2 & 0xFFFF:
            problems.append(f"slot {place}: version {version}, flags {flags:x}")
        record = packs[pack].record(offset * 8) if pack in packs else None
        if not record or not record.is_valid or not record.is_whole:
            problems.append(f"slot {place}: no record")
            continue
        if key_hash(record.kind, record.key) != (low, high) or flags >> 1 & 7 != record.kind:
            problems.append(f"slot {place}: another record")
        if index.find(low, high) != (pack, offset * 8, flags):
            problems.append(f"slot {place}: isn't found")
        if flags >> 4 & 0xFFF > 4095 or record.sequence >= index.next_sequence:
            problems.append(f"slot {place}: session or sequence")
        named.append(record)
    counted = tuple(sum(record.kind == kind for record in named) for kind in (1, 2, 3, 4))
    if index.counters != (in_use, *counted):
        problems.append(f"counters {index.counters}, not {(in_use, *counted)}")
    if index.is_pending or index.is_replaced or not 1 <= index.session <= 4095:
        problems.append("state of the index")
    for number, (family, state, used, capacity) in index.packs.items():
        pack = packs.get(number)
        if (
            not pack
            or family != pack.family
            or capacity != len(pack.data)
            or state not in (1, 2)
            or used > capacity
        ):
            problems.append(f"entry of pack {number}")
        elif number >= index.next_pack or max([64, *(record.end for record in pack.scan())]) > used:
            problems.append(f"numbers of pack {number}")
    if set(index.packs) != set(packs):
        problems.append("table of packs")
    return named


def shown(records: List[Record]) -> List[Dict[str, object]]:
    return [
        {
            "kind": record.kind, "key": record.key.hex(), "form": record.form, "width": record.width,
            "height": record.height, "sequence": record.sequence, "length": len(record.payload),
            "digest": str(hash64(record.payload, 4711)),
        }
        for record in records
    ]  # fmt: skip


def read(folder: Path) -> Dict[str, object]:
    problems: List[str] = []
    check_modes(folder, problems)
    limit = check_limits(folder, problems)
    packs = {
        int(path.stem): Pack(int(path.stem), path.read_bytes()) for path in (folder / "packs").glob("*.pack")
    }
    newest: Dict[Tuple[int, bytes], Record] = {}
    for pack in packs.values():
        for record in pack.scan():
            if KINDS[record.kind] != pack.family or record.sequence == 0:
                problems.append(f"record of pack {pack.number} at {record.offset}")
            before = newest.get((record.kind, record.key))
            if record.is_valid and (not before or before.sequence < record.sequence):
                newest[record.kind, record.key] = record
    named = None
    due: List[str] = []
    if (folder / "index").exists():
        index = Index((folder / "index").read_bytes())
        named = check_index(index, packs, problems)
        lock = (folder / "locks").read_bytes()
        if os.readlink(folder / "lock") != "locks":
            problems.append("what keeps version 0.1 out")
        if len(lock) != 1680 or struct.unpack_from("<8sQ", lock) != (b"NUTLOCKS", index.identity):
            problems.append("lock")
        due = due_removals(lock, problems)
        if limit is not None and limit != index.limit:
            problems.append("limit of the index")
    found = {"scanned": shown(list(newest.values())), "named": named and shown(named), "limit": limit}
    found["due"] = due
    return {**found, "problems": problems}


def due_removals(lock: bytes, problems: List[str]) -> List[str]:
    """Returns the groups of answers that must be removed, in hexadecimal."""
    posts, taken = struct.unpack_from("<QQ", lock, 128)
    places = list(struct.iter_unpack("<Q16s", lock[144:]))
    bits = sum(1 << place for place, (number, _) in enumerate(places) if number)
    if len(places) != 64 or posts != bits or taken != bits:
        problems.append("removals that are due")
    return [group.hex() for number, group in places if number]


def write(folder: Path) -> None:
    """Makes two packs: one with three records, of which one is retired, and other bytes between them; and one with one
    record."""
    (folder / "packs").mkdir(mode=0o700)
    for number, family, records in (
        (3, 1, [(b"NHR1", 1, 7, b"key", 5, b"first"), (b"NHRx", 1, 0, b"gone", 6, b"x"), None,
                (b"NHR1", 3, 9, b"k" * 300, 7, bytes(range(256)) * 100)]),
        (12, 2, [(b"NHR1", 2, 0, b"key", 8, b"")]),
    ):  # fmt: skip
        data = bytearray(1 << 20)
        salt = 0xFEDCBA9876543210
        struct.pack_into("<8sIIQQQ", data, 0, b"NUTPACK1", 3, family, number, len(data), salt)
        struct.pack_into("<Q", data, 56, hash64(bytes(data[:56])))
        at = 64
        for record in records:
            if record is None:
                data[at : at + 80] = b"NHR1 something else " * 4
                at += 80
                continue
            state, kind, form, key, sequence, payload = record
            struct.pack_into("<4sBBH", data, at, state, kind, form, len(key))
            struct.pack_into("<QQIIQ", data, at + 16, sequence, len(payload), 40, 30, hash64(payload))
            data[at + 48 : at + 48 + len(key)] = key
            front = struct.unpack_from("<I", data, at + 4)[0]
            seed = ((salt + at) & (2**64 - 1)) ^ (front << 32)
            struct.pack_into("<Q", data, at + 8, hash64(bytes(data[at + 16 : at + 48 + len(key)]), seed))
            begin = up(at + 48 + len(key), 16)
            data[begin : begin + len(payload)] = payload
            at = up(begin + len(payload), 8)
        path = folder / "packs" / f"{number:08}.pack"
        path.touch(mode=0o600)
        path.write_bytes(data)
    data = bytearray(64)
    struct.pack_into("<8sIIQ", data, 0, b"NUTLIMIT", 1, 0, 77 << 20)
    struct.pack_into("<Q", data, 56, hash64(bytes(data[:56])))
    (folder / "limits").touch(mode=0o600)
    (folder / "limits").write_bytes(data)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        json.dump(read(Path(sys.argv[2])), sys.stdout)
