"""Counts the requests of a test, and its round trips: how often it waited for a server.

    with log_requests(server) as log:
        gdal.Open(...)
    assert (log.count, log.round_trips) == (4, 2)

While requests are logged, the server answers a request when no other one has arrived for a while:
what a program requests without waiting for an answer is in the same round trip, however slowly its
threads start.
"""
import threading
import time
from contextlib import contextmanager


class RequestLog:
    """Requests, as (start, end, method, path), in the order of their ends."""

    def __init__(self, quiet_seconds):
        self.entries = []
        self.quiet_seconds = quiet_seconds
        self.lock = threading.Lock()
        self.held = set()  # (start, method, path) of requests that wait for their answers
        self.clock = 0  # counts starts and ends
        self.last_arrival = 0.0

    def tick(self):
        self.clock += 1
        return self.clock

    def hold(self, method, path):
        """Called with a request before it is answered."""
        with self.lock:
            request = (self.tick(), method, path)
            self.held.add(request)
            self.last_arrival = time.monotonic()
        while True:
            with self.lock:
                if request not in self.held:
                    return
                rest = self.last_arrival + self.quiet_seconds - time.monotonic()
                if rest <= 0:
                    self.release()
                    return
            time.sleep(rest)

    def release(self):
        """All at once: what follows the first answer must not hold the others longer."""
        for start, *request in sorted(self.held):
            self.entries.append((start, self.tick(), *request))
        self.held.clear()

    @property
    def count(self):
        return len(self.entries)

    @property
    def paths(self):
        return [path for _, _, _, path in self.entries]

    @property
    def round_trips(self):
        return round_trips((start, end) for start, end, _, _ in self.entries)

    @property
    def waves(self):
        """The requests of each round trip."""
        waves, end_of_wave = [], 0
        for start, end, method, path in sorted(self.entries, key=lambda entry: entry[1]):
            if start > end_of_wave:
                waves.append([])
                end_of_wave = end
            waves[-1].append(f"{method} {path}")
        return waves

    def __str__(self):
        lines = [" | ".join(sorted(wave)) for wave in self.waves]
        return "\n".join([f"{self.count} requests in {self.round_trips} round trips", *lines])


def round_trips(intervals):
    """The length of the longest chain of intervals of which each starts after the one before has
    ended."""
    count = end_of_last = 0
    for start, end in sorted(intervals, key=lambda interval: interval[1]):
        if start > end_of_last:
            count, end_of_last = count + 1, end
    return count


@contextmanager
def log_requests(server, quiet_seconds=0.25):
    """Logs the requests to a server whose handlers call `server.log.hold()`."""
    log = server.log = RequestLog(quiet_seconds)
    try:
        yield log
    finally:
        server.log = None
