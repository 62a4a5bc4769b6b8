"""Reads the files of Icechunk repositories and checks each offset, bound and alignment, as
strictly as the strictest reader."""
import ctypes
import struct

MAGIC = "ICE🧊CHUNK".encode()
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
SNAPSHOT, MANIFEST, LOG, REPO = 1, 2, 4, 6


def base32(raw):
    bits = len(raw) * 8
    padding = -bits % 5
    number = int.from_bytes(raw, "big") << padding
    return "".join(ALPHABET[number >> shift & 31] for shift in range(bits + padding - 5, -1, -5))


def decompress(frame):
    """A frame of Zstandard, which need not state its content's size."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    for bits in range(20, 33, 3):
        target = ctypes.create_string_buffer(1 << bits)
        size = library.ZSTD_decompress(target, ctypes.c_size_t(1 << bits), frame,
                                       ctypes.c_size_t(len(frame)))
        if not library.ZSTD_isError(ctypes.c_size_t(size)):
            return target.raw[:size]
    raise AssertionError("not a frame of Zstandard")


def open_file(path, kind, version):
    """The root table of a file."""
    content = path.read_bytes()
    assert content[:12] == MAGIC, path
    assert len(content) >= 39 and content[12:36].decode().strip(), path
    assert content[36] == version and content[37] == kind, (path, content[36:39])
    assert content[38] in (0, 1), (path, content[38])
    buffer = decompress(content[39:]) if content[38] else content[39:]
    assert buffer[4:8] == b"Ichk", path
    table = Table(buffer, number(buffer, 0, "I"))
    table.path = path
    return table


def number(buffer, place, code):
    size = struct.calcsize(code)
    assert place % size == 0, f"{code} at {place} is not aligned"
    assert place + size <= len(buffer), f"{code} at {place} is outside"
    return struct.unpack_from("<" + code, buffer, place)[0]


class Table:
    """Its accessors take ids of fields. What is absent is None, a number 0 unless stated."""

    def __init__(self, buffer, place):
        self.buffer, self.start = buffer, place
        assert place % 4 == 0
        fields = place - number(buffer, place, "i")
        assert fields >= 0 and fields % 2 == 0
        size, own_size = number(buffer, fields, "H"), number(buffer, fields + 2, "H")
        assert size >= 4 and size % 2 == 0 and place + own_size <= len(buffer)
        self.places = [number(buffer, fields + 4 + 2 * i, "H") for i in range((size - 4) // 2)]
        assert all(4 <= each < own_size for each in self.places if each)

    def place(self, field):
        offset = self.places[field] if field < len(self.places) else 0
        return self.start + offset if offset else None

    def number(self, field, code, default=0):
        place = self.place(field)
        return default if place is None else number(self.buffer, place, code)

    def bytes(self, field, size):
        """A struct of bytes."""
        place = self.place(field)
        if place is None:
            return None
        assert place + size <= len(self.buffer)
        return self.buffer[place:place + size]

    def required_id(self, field, size=12):
        found = self.bytes(field, size)
        assert found is not None, f"no id in field {field}"
        return found

    def leads_to(self, field):
        place = self.place(field)
        return None if place is None else place + number(self.buffer, place, "I")

    def vector(self, field, code):
        """A list of numbers or, if the code has several, of tuples."""
        start = self.leads_to(field)
        if start is None:
            return None
        count, layout = number(self.buffer, start, "I"), struct.Struct("<" + code)
        alignment = max(struct.calcsize(each) for each in code if each.isalpha() and each != "x")
        assert count == 0 or (start + 4) % alignment == 0, f"vector {code} at {start}"
        assert start + 4 + count * layout.size <= len(self.buffer)
        content = self.buffer[start + 4:start + 4 + count * layout.size]
        found = list(layout.iter_unpack(content))
        return [each[0] for each in found] if len(layout.unpack(bytes(layout.size))) == 1 else found

    def raw(self, field):
        start = self.leads_to(field)
        if start is None:
            return None
        end = start + 4 + number(self.buffer, start, "I")
        assert end <= len(self.buffer)
        return self.buffer[start + 4:end]

    def string(self, field):
        found = self.raw(field)
        if found is None:
            return None
        end = self.leads_to(field) + 4 + len(found)
        assert self.buffer[end:end + 1] == b"\0"
        return found.decode()

    def table(self, field):
        start = self.leads_to(field)
        return None if start is None else Table(self.buffer, start)

    def _elements(self, field):
        start = self.leads_to(field)
        if start is None:
            return None
        count = number(self.buffer, start, "I")
        places = range(start + 4, start + 4 + 4 * count, 4)
        return [place + number(self.buffer, place, "I") for place in places]

    def tables(self, field):
        found = self._elements(field)
        return None if found is None else [Table(self.buffer, place) for place in found]

    def strings(self, field):
        found = self._elements(field)
        if found is None:
            return None
        texts = []
        for start in found:
            end = start + 4 + number(self.buffer, start, "I")
            assert self.buffer[end:end + 1] == b"\0"
            texts.append(self.buffer[start + 4:end].decode())
        return texts
