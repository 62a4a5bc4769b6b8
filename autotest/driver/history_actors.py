"""Processes with threads that read, write, replace and erase parts of an array, as a seed plans."""
import fcntl
import multiprocessing
import os
import re
import shutil
import threading
import time
import traceback
from contextlib import contextmanager

import numpy as np
from histories import History, Owner
from osgeo import gdal
from stores import (
    BLOSC,
    BYTES,
    CRC32C,
    GZIP,
    ZSTD,
    sharding,
    transpose,
    write_array,
    write_group,
    write_json,
)
from webserver import HTTP_OPTIONS

gdal.UseExceptions()


# --- The array -----------------------------------------------------------------------------------

def v2(**members):
    def make(path, plan):
        write_json(path / ".zgroup", {"zarr_format": 2})
        write_json(path / "a/.zarray", {
            "zarr_format": 2, "shape": plan.shape, "chunks": plan.chunk, "dtype": "<u4",
            "order": "C", "fill_value": 0, "filters": None, "compressor": None,
            "dimension_separator": "/"} | members)

    return make


def v3(codecs):
    def make(path, plan):
        write_array(write_group(path) / "a", np.zeros(plan.shape, "u4"), plan.chunk,
                    codecs(plan.inner))

    return make


LAYOUTS = {
    "v2": v2(),
    "v2 zlib": v2(compressor={"id": "zlib", "level": 1}, order="F"),
    "v3": v3(lambda _: [BYTES]),
    "v3 zstd": v3(lambda _: [BYTES, ZSTD]),
    "v3 blosc": v3(lambda _: [BYTES, BLOSC]),
    "shards": v3(lambda inner: [sharding(inner)]),
    "shards zstd": v3(lambda inner: [sharding(inner, [BYTES, ZSTD])]),
    "shards index first": v3(lambda inner: [
        sharding(inner, [transpose(1, 0), BYTES, GZIP], index_location="start")]),
    "shards as a whole": v3(lambda inner: [sharding(inner, [BYTES, BLOSC]), CRC32C]),
    "shards in shards": v3(lambda inner: [
        sharding(inner, [sharding([n // 2 for n in inner], [BYTES, ZSTD])])]),
}
OWNERS = 6
# What a read through a server may meet, which has no open file to read from.
REPLACED = re.compile("another program replaced the value|shard is missing, although its index")


class Plan:
    """What a seed says about the array and the processes that use it."""

    def __init__(self, seed, layout):
        self.seed, self.layout = seed, layout
        self.make = LAYOUTS[layout]
        random = np.random.default_rng([seed, *layout.encode()])
        self.inner = tuple(2 * int(n) for n in random.integers(3, 16, 2))
        count = random.integers(1, 5, 2) if layout.startswith("shards") else (1, 1)
        self.chunk = tuple(int(i * n) for i, n in zip(self.inner, count))
        # Of one chunk or few, writers and readers meet more often.
        count = random.integers(1, random.choice([2, 4, 9]), 2)
        rest = random.integers(2, size=2) * random.integers(self.chunk)
        self.shape = tuple(int(c * n + r) for c, n, r in zip(self.chunk, count, rest))
        self.leaves = split(random, self.shape, self.chunk)
        self.owners = np.empty(self.shape, "u1")
        for number, leaf in enumerate(self.leaves):
            self.owners[leaf] = number % OWNERS
        # The last process is not killed.
        self.processes = [
            [(write, 0), (write, 1), (read, 0)],
            [(write, 2), (read, 1)],
            [(write, 3), (replace, 4)],
            [(replace, 5), (read, 2)],
            [(read, 3), (read, 4), (read_remote, 5)],
        ]
        self.pauses = [0] * 8 + ([0.001, 0.01] if random.random() < 0.5 else [])
        self.options = [{
            "GDAL_NUM_THREADS": str(random.choice([1, 2, 4, 16])),
            "ZARR_WRITE_CACHE_SIZE": str(random.choice([1 << 20, 1 << 28])),
        } for _ in self.processes]

    def __str__(self):
        return (f"{self.layout}, shape {self.shape}, chunks {self.chunk}, inner chunks "
                f"{self.inner}, options {[list(options.values()) for options in self.options]}")

    def chunks(self):
        """The key and the place of each chunk."""
        for index in np.ndindex(*(-(-n // c) for n, c in zip(self.shape, self.chunk))):
            yield ("/".join(["a" if self.layout.startswith("v2") else "a/c", *map(str, index)]),
                   tuple(slice(i * c, min(n, (i + 1) * c))
                         for n, i, c in zip(self.shape, index, self.chunk)))

    def inner_chunks_around(self, rectangle):
        """The rectangle of all inner chunks that a rectangle meets."""
        return tuple(slice(s.start // n * n, -(-s.stop // n) * n)
                     for s, n in zip(rectangle, self.inner))


def split(random, shape, chunk):
    """Rectangles that cover an array, some of whole chunks, in random order."""
    leaves = [tuple(slice(0, n) for n in shape)]
    while len(leaves) < 5 * OWNERS:
        largest = max(leaves, key=lambda leaf: np.prod([s.stop - s.start for s in leaf]))
        leaves.remove(largest)
        axis = int(np.argmax([s.stop - s.start for s in largest]))
        start, stop = largest[axis].start, largest[axis].stop
        cut = int(random.integers(start + 1, stop))
        between_chunks = cut // chunk[axis] * chunk[axis]
        if start < between_chunks and random.random() < 0.5:
            cut = between_chunks
        leaves += [(*largest[:axis], part, *largest[axis + 1:])
                   for part in (slice(start, cut), slice(cut, stop))]
    return [leaves[i] for i in random.permutation(len(leaves))]


class Handle:
    """An array, opened through one of both APIs."""

    def __init__(self, path, is_multidim, is_update=False):
        self.path, self.is_multidim = str(path), is_multidim
        self.flags = gdal.OF_MULTIDIM_RASTER if is_multidim else gdal.OF_RASTER
        self.flags |= gdal.OF_UPDATE if is_update else 0
        self.open()

    def open(self):
        self.dataset = gdal.OpenEx(self.path, self.flags)
        self.array = (self.dataset.GetRootGroup().OpenMDArray("a") if self.is_multidim
                      else self.dataset.GetRasterBand(1))

    def close(self):
        self.array = self.dataset = None

    def read(self, window):
        start, step = [s.start for s in window], [s.step or 1 for s in window]
        count = [len(range(s.start, s.stop, s.step or 1)) for s in window]
        if self.is_multidim:
            return self.array.ReadAsArray(start, count, step)
        return self.array.ReadAsArray(*start[::-1], *count[::-1])

    def write(self, rectangle, values):
        start = [s.start for s in rectangle]
        if self.is_multidim:
            self.array.Write(values, start)
        else:
            self.array.WriteArray(values, *start[::-1])


# --- What uses it --------------------------------------------------------------------------------

class Actor:
    """A thread of a process."""

    def __init__(self, folder, plan, history, shared, random):
        self.folder, self.plan, self.history = folder, plan, history
        self.shared, self.random = shared, random
        self.path = folder / "a.zarr"

    def goes_on(self):
        parent = multiprocessing.parent_process()
        return not (self.folder / "end").exists() and (parent is None or parent.is_alive())

    def report(self, text):
        with open(self.folder / "differences", "a") as file:
            file.write(text + "\n")
        (self.folder / "end").touch()

    def count(self, event):
        """A byte for each."""
        with open(self.folder / event, "ab") as file:
            file.write(b".")

    def window(self, has_steps=False):
        """A random window, small ones more often."""
        window = []
        for size in self.plan.shape:
            count = max(1, int(size ** self.random.random()))
            start = int(self.random.integers(0, size - count + 1))
            window.append(slice(start, start + count, int(self.random.integers(1, 4)) if has_steps
                                else 1))
        return tuple(window)

    def windows(self, has_steps):
        """What a reader reads next."""
        kind = self.random.integers(6)
        if kind == 0:  # a walk: the next chunks are prefetched
            columns = self.window()[1]
            height = int(self.random.integers(1, self.plan.chunk[0] + 1))
            starts = range(0, self.plan.shape[0] - height + 1, height)
            return [(slice(y, y + height), columns) for y in starts[:: self.random.choice([-1, 1])]]
        if kind == 1:
            return [self.window()] * 5
        if kind <= 3:
            return [tuple(slice(0, n) for n in self.plan.shape)]
        return [self.window(has_steps and self.random.random() < 0.2) for _ in range(5)]

    def own_part(self, owner):
        """A rectangle to write."""
        leaf = self.plan.leaves[owner + OWNERS * self.random.integers(5)]
        if self.random.random() < 0.3:
            return leaf
        ends = [np.sort(self.random.choice(np.arange(s.start, s.stop + 1), 2, replace=False))
                for s in leaf]
        return tuple(slice(int(a), int(b)) for a, b in ends)

    def read(self, handle, window, lower, is_pending=None):
        try:
            values = handle.read(window)
        except RuntimeError as error:
            if handle.path == str(self.path) or not REPLACED.search(str(error)):
                raise
            self.count("errors")
            return
        difference = self.history.difference(window, values, lower, is_pending)
        if difference:
            self.report(f"{handle.path}, flags {handle.flags}: {difference}")
        elif is_pending is None:
            self.history.seen[window] = np.maximum(self.history.seen[window], values >> 8)
        self.count("reads")


def read(actor, _):
    handles = [actor.shared, Handle(actor.path, True), Handle(actor.path, False)]
    while actor.goes_on():
        handle = handles[actor.random.integers(3)]
        pause = actor.random.choice(actor.plan.pauses)
        for window in actor.windows(handle.is_multidim):
            actor.read(handle, window, actor.history.lower(window))
            time.sleep(pause)
        if handle is not actor.shared and actor.random.random() < 0.02:
            handle.close()
            handle.open()


def read_remote(actor, _):
    """Through a server; each flush shows what has been stored before."""
    url = (actor.folder / "url").read_text()
    is_multidim = actor.random.random() < 0.5
    handle = Handle(f'ZARR:"/vsicurl/{url}/a.zarr"' + ("" if is_multidim else ":/a"), is_multidim)
    while actor.goes_on():
        lower = actor.history.lower(...)
        handle.dataset.FlushCache()
        for _ in range(actor.random.integers(1, 4)):
            for window in actor.windows(handle.is_multidim):
                actor.read(handle, window, lower[window])


def write(actor, number):
    random, history = actor.random, actor.history
    owner = Owner(history, number)
    handle = Handle(actor.path, is_multidim=random.random() < 0.5, is_update=True)
    # Pending inner chunks are as old as they were when they were first written to.
    pending, floor = np.zeros(actor.plan.shape, bool), np.zeros(actor.plan.shape, "u4")

    def flush():
        owner.flush()
        pending[:] = False

    while actor.goes_on():
        action = random.integers(10)
        if action < 5:
            rectangle = actor.own_part(number)
            around = actor.plan.inner_chunks_around(rectangle)
            floor[around] = np.where(pending[around], floor[around], history.lower(around))
            pending[around] = True
            handle.write(rectangle, owner.begin(rectangle, is_fill=random.random() < 0.2))
            owner.end(rectangle)
            actor.count("writes")
            time.sleep(random.choice(actor.plan.pauses))  # chunks are then stored in the background
        elif action < 8:
            window = actor.windows(handle.is_multidim)[0]
            lower = np.where(pending[window], floor[window], history.lower(window))
            actor.read(handle, window, np.maximum(lower, owner.written[window]), pending[window])
        elif action == 8:
            handle.dataset.FlushCache()
            flush()
        elif random.random() < 0.2:
            handle.close()
            flush()
            handle.open()
    handle.dataset.FlushCache()
    flush()


@contextmanager
def locked(folder):
    """Locks a folder of chunks as the driver does."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat()):
                yield
                return
        finally:
            os.close(descriptor)


def replace(actor, number):
    """Makes chunks in another store and moves them here, and removes those that became empty."""
    owner = Owner(actor.history, number)
    other = actor.folder / f"other{number}.zarr"
    shutil.rmtree(other, ignore_errors=True)
    actor.plan.make(other, actor.plan)
    while actor.goes_on():
        rectangle = actor.own_part(number)
        values = np.zeros(actor.plan.shape, "u4")
        values[rectangle] = owner.begin(rectangle, is_fill=actor.random.random() < 0.3)
        for key, chunk in actor.plan.chunks():
            part = tuple(slice(max(a.start, b.start), min(a.stop, b.stop))
                         for a, b in zip(rectangle, chunk))
            if all(s.start < s.stop for s in part):
                with locked((actor.path / key).parent):
                    replace_part(actor.path / key, other, key, part, values[part])
                actor.count("replaced")
        owner.end(rectangle)
        owner.flush()
        time.sleep(actor.random.choice(actor.plan.pauses))


def replace_part(file, other, key, part, values):
    new = other / key
    new.parent.mkdir(parents=True, exist_ok=True)
    new.unlink(missing_ok=True)
    if file.exists():
        shutil.copyfile(file, new)
    handle = Handle(other, is_multidim=True, is_update=True)
    handle.write(part, values)
    handle.dataset.FlushCache()
    handle.close()
    if new.exists():
        new.replace(file)
    else:
        file.unlink(missing_ok=True)


def run_process(folder, seed, layout, number, start):
    plan = Plan(seed, layout)
    for name, value in (HTTP_OPTIONS | plan.options[number]).items():
        gdal.SetConfigOption(name, value)
    run(folder, plan, number, start)


def run(folder, plan, number, start):
    """The threads of a process, which is started for this time, until the file `end` exists."""
    history = History(folder, plan.owners, plan.chunk)
    shared = Handle(folder / "a.zarr", is_multidim=True)

    def body(act, argument, random):
        actor = Actor(folder, plan, history, shared, random)
        try:
            act(actor, argument)
        except Exception:
            actor.report(f"{act.__name__} {argument}: {traceback.format_exc()}")

    threads = [threading.Thread(target=body, args=(
        *role, np.random.default_rng([plan.seed, number, start, i])))
        for i, role in enumerate(plan.processes[number])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
