"""The history of an array that many handles write to, and what a read may see of it.

Each element has one owner, which writes it with increasing generations; 0 is the fill value. All
processes share, for each element, the generation of the last write that has begun (`begun`), that
was flushed (`flushed`), that a reader has seen (`seen`), and that erased it (`erased`). A read sees
nothing older than what had been flushed or seen when it began, and nothing newer than what had
begun when it ended.

A chunk is stored as a whole: a read that sees a write of an owner in it sees all earlier ones as
well. `log` holds where they were. A fill value does not tell its generation: it may be that of the
last write that erased the element.
"""
import numpy as np

LOG_SIZE = 1 << 16
ENTRY = np.dtype([(name, "u4") for name in ("first", "top", "bottom", "left", "right")])


class History:
    """In files of `folder`. `owners` holds the owner of each element, `chunk` is the shape of what
    is stored as a whole."""

    def __init__(self, folder, owners, chunk):
        self.owners, self.chunk = owners, chunk
        count = int(owners.max()) + 1

        def share(name, shape, dtype="u4"):
            path = folder / name
            mode = "r+" if path.exists() else "w+"
            return np.memmap(path, dtype, mode, shape=shape).view(np.ndarray)

        self.begun, self.flushed, self.seen, self.erased = (
            share(name, owners.shape) for name in ("begun", "flushed", "seen", "erased"))
        self.last = share("last", (count,))
        self.log = share("log", (count, LOG_SIZE), ENTRY)
        y, x = np.indices(owners.shape, "u4")
        self.tags = (y * np.uint32(2654435761) + x * np.uint32(2246822519)) >> 24

    def lower(self, window):
        """The generations that a read sees at least if it begins now."""
        return np.maximum(self.flushed[window], self.seen[window])

    def difference(self, window, values, lower, is_pending=None):
        """What is wrong with the values of a window, or None. `lower` is what they are at least,
        `is_pending` tells which the reader took from its own memory."""
        upper, erased = self.begun[window].copy(), self.erased[window].copy()
        generations, is_fill = values >> 8, values == 0
        needed = self.needed(window, generations, lower, is_pending)

        def is_older(than):
            return np.where(is_fill, erased < than, generations < than)

        for problem, wrong, bound in (
            ("belong elsewhere", ~is_fill & (values & 255 != self.tags[window]), upper),
            ("are older than what was stored before the read", is_older(lower), lower),
            ("are newer than the read", generations > upper, upper),
            ("are older than the rest of their chunk", is_older(needed), needed),
        ):
            if wrong.any():
                first = tuple(np.argwhere(wrong)[0])
                place = tuple(int(np.arange(n)[s][i])
                              for n, s, i in zip(self.owners.shape, window, first))
                return (f"{wrong.sum()} of {wrong.size} elements of {window} {problem}: {place} of "
                        f"owner {self.owners[place]} is {generations[first]}, against "
                        f"{bound[first]}; {lower[first]} was stored, {upper[first]} has begun, "
                        f"{erased[first]} erased it")
        return None

    def needed(self, window, generations, lower, is_pending):
        """The oldest generations that can be stored together with the newest one of the same owner
        in the same chunk."""
        needed = np.zeros_like(generations)
        owners = self.owners[window].astype("i2")
        if is_pending is not None:
            owners[is_pending] = -1
        places = [np.arange(n)[s] for n, s in zip(self.owners.shape, window)]
        for index in np.ndindex(*(-(-n // c) for n, c in zip(self.owners.shape, self.chunk))):
            chunk = tuple(slice(*np.searchsorted(p, [i * c, (i + 1) * c]))
                          for p, i, c in zip(places, index, self.chunk))
            for owner in set(owners[chunk].flat) - {-1}:
                mine = owners[chunk] == owner
                last = generations[chunk][mine].max()
                oldest = max(lower[chunk][mine].min(), 1)
                for number, written in self.writes(owner, oldest, last,
                                                   [p[s] for p, s in zip(places, chunk)]):
                    needed[chunk][written][mine[written]] = number
        return needed

    def writes(self, owner, oldest, last, places):
        """The writes since the owner was started that meet these rows and columns, with where."""
        rows, columns = places
        last = int(last)
        started = int(self.log[owner, last % LOG_SIZE]["first"])
        numbers = np.arange(max(int(oldest), started, last - LOG_SIZE // 2), last + 1)
        log = self.log[owner, numbers % LOG_SIZE]
        meets = ((log["top"] <= rows[-1]) & (log["bottom"] > rows[0])
                 & (log["left"] <= columns[-1]) & (log["right"] > columns[0]))
        for number, entry in zip(numbers[meets], log[meets]):
            yield number, (slice(*np.searchsorted(rows, [entry["top"], entry["bottom"]])),
                           slice(*np.searchsorted(columns, [entry["left"], entry["right"]])))


class Owner:
    """The writes of one owner since it was started, perhaps after it was killed."""

    def __init__(self, history, number):
        self.history, self.number = history, number
        self.first = int(history.last[number]) + 1
        self.written = np.zeros_like(history.begun)

    def begin(self, rectangle, is_fill=False):
        """Returns the values to write."""
        history, number = self.history, self.number
        generation = int(history.last[number]) + 1
        rows, columns = rectangle
        history.log[number, generation % LOG_SIZE] = (
            self.first, rows.start, rows.stop, columns.start, columns.stop)
        history.last[number] = generation
        history.begun[rectangle] = generation
        if is_fill:
            history.erased[rectangle] = generation
            return np.zeros_like(history.tags[rectangle])
        return np.uint32(generation << 8) | history.tags[rectangle]

    def end(self, rectangle):
        """The write has returned: its own handle sees it."""
        self.written[rectangle] = self.history.begun[rectangle]

    def flush(self):
        """All writes are stored."""
        mine = self.written > self.history.flushed
        self.history.flushed[mine] = self.written[mine]
