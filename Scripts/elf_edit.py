"""Changes the library names that a 64-bit ELF file needs, in place. Nothing is moved, so no other tool is needed."""

import re
import struct
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

NEEDED, STRTAB, SYMTAB, SONAME = 1, 5, 6, 14
VERSYM, VERNEED, VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
LOAD, DYNAMIC, SECTION_VERNEED = 1, 2, 0x6FFFFFFE


class Elf:
    """An ELF file in memory, which can be changed."""

    def __init__(self, path: Path) -> None:
        self.bytes = bytearray(path.read_bytes())
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError("%s is not a 64-bit little-endian ELF file" % path)
        table, size, count = self._read("<Q", 32), self._read("<H", 54), self._read("<H", 56)
        self._segments = [
            struct.unpack_from("<IIQQQQQQ", self.bytes, table + size * number) for number in range(count)
        ]
        dynamic = next(segment for segment in self._segments if segment[0] == DYNAMIC)
        # The tag and the offset of each entry, in the order of the file. A tag may occur several times.
        self._dynamic: List[Tuple[int, int]] = []
        for place in range(dynamic[2], dynamic[2] + dynamic[5], 16):
            tag = self._read("<Q", place)
            if tag == 0:
                break
            self._dynamic.append((tag, place + 8))

    @property
    def needed(self) -> List[str]:
        return [self._string(self._read("<Q", place)) for tag, place in self._dynamic if tag == NEEDED]

    def versions(self) -> Dict[str, List[str]]:
        """Returns the symbol versions that the file needs from each library."""
        return {
            self._string(self._read("<I", need + 4)): [
                self._string(self._read("<I", version + 8)) for version in self._versions_of(need)
            ]
            for need in self._needs()
        }

    def rename(self, old: str, new: str) -> None:
        """Renames this library, or one that it needs. The new name must have the same length."""
        if len(old) != len(new):
            raise ValueError("%s and %s differ in length" % (old, new))
        places = {self._read("<Q", place) for tag, place in self._dynamic if tag in (NEEDED, SONAME)}
        places |= {self._read("<I", need + 4) for need in self._needs()}
        for place in places:
            if self._string(place) == old:
                start = self._offset(self._value(STRTAB)) + place
                self.bytes[start : start + len(new)] = new.encode()

    def remove_versions(self, library: str) -> None:
        """Removes the version requirements for a library: distributions give its symbols different versions."""
        before = None
        for need in list(self._needs()):
            if self._string(self._read("<I", need + 4)) != library:
                before = need
                continue
            numbers = {self._read("<H", version + 6) for version in self._versions_of(need)}
            # 1 is the number of symbols without a version.
            self._renumber(numbers, 1)
            following = self._read("<I", need + 12)
            if before is None:
                self._write("<Q", self._place(VERNEED), self._value(VERNEED) + following)
            else:
                step = self._read("<I", before + 12)
                self._write("<I", before + 12, step + following if following else 0)
            count = self._value(VERNEEDNUM) - 1
            self._write("<Q", self._place(VERNEEDNUM), count)
            self._tell_tools(count)

    def require_oldest(self, library: str, version: str) -> None:
        """Replaces the need for `version` by one for the oldest version that the file needs from the library."""
        for need in list(self._needs()):
            if self._string(self._read("<I", need + 4)) != library:
                continue
            versions = {self._string(self._read("<I", place + 8)): place for place in self._versions_of(need)}
            oldest = min(versions, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
            if version not in versions or version == oldest:
                continue
            number = self._read("<H", versions[oldest] + 6)
            self._renumber({self._read("<H", versions[version] + 6)}, number)
            # The entry gets hash and name of the oldest version. A version may be listed twice.
            self._write("<I", versions[version], self._read("<I", versions[oldest]))
            self._write("<I", versions[version] + 8, self._read("<I", versions[oldest] + 8))

    def _renumber(self, numbers: "set[int]", new: int) -> None:
        versions, symbols = self._offset(self._value(VERSYM)), self._offset(self._value(SYMTAB))
        # The symbol table ends where the strings or the versions begin. Undefined symbols are first.
        count = (min(versions, self._offset(self._value(STRTAB))) - symbols) // 24
        if versions < symbols:
            count = (self._offset(self._value(STRTAB)) - symbols) // 24
        for number in range(count):
            if self._read("<H", versions + 2 * number) & 0x7FFF in numbers:
                self._write("<H", versions + 2 * number, new)

    def _tell_tools(self, count: int) -> None:
        """Updates the section header, too. The loader doesn't read it, but tools do."""
        table, size, number = self._read("<Q", 40), self._read("<H", 58), self._read("<H", 60)
        for section in range(table, table + size * number, size):
            if self._read("<I", section + 4) == SECTION_VERNEED:
                self._write("<I", section + 44, count)
                start = self._value(VERNEED)
                moved = start - self._read("<Q", section + 16)
                self._write("<Q", section + 16, start)
                self._write("<Q", section + 24, self._read("<Q", section + 24) + moved)
                self._write("<Q", section + 32, self._read("<Q", section + 32) - moved)

    def _needs(self) -> Iterator[int]:
        if not any(tag == VERNEED for tag, _ in self._dynamic):
            return
        place = self._offset(self._value(VERNEED))
        for _ in range(self._value(VERNEEDNUM)):
            yield place
            place += self._read("<I", place + 12)

    def _versions_of(self, need: int) -> Iterator[int]:
        place = need + self._read("<I", need + 8)
        for _ in range(self._read("<H", need + 2)):
            yield place
            place += self._read("<I", place + 12)

    def _place(self, wanted: int) -> int:
        return next(place for tag, place in self._dynamic if tag == wanted)

    def _value(self, tag: int) -> int:
        return self._read("<Q", self._place(tag))

    def _offset(self, address: int) -> int:
        """Returns the offset in the file of the bytes that are loaded at an address."""
        for kind, _, offset, start, _, size, _, _ in self._segments:
            if kind == LOAD and start <= address < start + size:
                return int(offset + address - start)
        raise ValueError("nothing is loaded at %#x" % address)

    def _string(self, place: int) -> str:
        start = self._offset(self._value(STRTAB)) + place
        return self.bytes[start : self.bytes.index(0, start)].decode()

    def _read(self, kind: str, place: int) -> int:
        return int(struct.unpack_from(kind, self.bytes, place)[0])

    def _write(self, kind: str, place: int, value: int) -> None:
        struct.pack_into(kind, self.bytes, place, value)
