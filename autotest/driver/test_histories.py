"""Threads and processes read and write one array, replace and erase its chunks, are killed and
stopped: each read sees what the history of its elements allows.

ZARR_SEED repeats the plan of a failure, though not how the system interleaved it. ZARR_SECONDS is
how long each plan runs.
"""
import collections
import multiprocessing
import os
import random
import re
import signal
import sys
import threading
import time
from contextlib import suppress

import history_actors
import numpy as np
import pytest
from histories import History, Owner
from history_actors import LAYOUTS, Handle, Plan
from night import rounds
from webserver import serve

SEED = int(os.environ.get("ZARR_SEED", random.randrange(1 << 32)))
SECONDS = float(os.environ.get("ZARR_SECONDS", rounds(0.5, 20)))
PLANS = rounds(1, 45)


def differences(folder):
    file = folder / "differences"
    return file.read_text() if file.exists() else ""


def counts(folder):
    """Of reads, writes, chunks replaced and reads that met the replacement of a chunk."""
    files = [folder / name for name in ("reads", "writes", "replaced", "errors")]
    return [file.stat().st_size if file.exists() else 0 for file in files]


def run(folder, plan):
    """Starts the processes of a plan, stops and kills those that write, and starts them again.
    Returns their exit codes at the end."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["history_actors"])
    choices = random.Random(plan.seed)
    starts = iter(range(1 << 32))

    def start(number):
        process = context.Process(target=history_actors.run_process, daemon=True, args=(
            folder, plan.seed, plan.layout, number, next(starts)))
        process.start()
        return process

    processes = [start(number) for number in range(len(plan.processes))]
    end, has_begun = time.monotonic() + 100, False
    while not (folder / "end").exists():
        time.sleep(choices.uniform(0, 1))
        number = choices.randrange(len(processes) - 1)
        if choices.random() < 0.5:
            with suppress(ProcessLookupError):  # it has ended
                os.kill(processes[number].pid, signal.SIGSTOP)
                time.sleep(choices.uniform(0, 0.1))
                os.kill(processes[number].pid, signal.SIGCONT)
        else:
            processes[number].kill()
            processes[number].join()
            processes[number] = start(number)
        if not has_begun and all(counts(folder)[:3]):
            end, has_begun = time.monotonic() + SECONDS, True
        if time.monotonic() > end:
            (folder / "end").touch()
    for process in processes:
        process.join(100)
        process.kill()
    return [process.exitcode for process in processes]


@pytest.mark.parametrize("number", range(PLANS))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_histories(tmp_path, monkeypatch, layout, number):
    plan = Plan(SEED + number, layout)
    plan.make(tmp_path / "a.zarr", plan)
    history = History(tmp_path, plan.owners, plan.chunk)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with serve(tmp_path, monkeypatch) as server:
        server.requests = collections.deque(maxlen=0)
        (tmp_path / "url").write_text(server.url)
        ends = run(tmp_path, plan)
    whole = tuple(slice(0, n) for n in plan.shape)
    values = Handle(tmp_path / "a.zarr", is_multidim=True).read(whole)
    last = history.difference(whole, values, history.lower(whole))
    reads, writes, replaced, errors = counts(tmp_path)
    test = f"{__file__}::test_histories[{layout}-0]"
    summary = (f"ZARR_SEED={plan.seed} /usr/bin/python3 -m pytest '{test}'\n{plan}\n{reads} reads, "
               f"{writes} writes, {replaced} chunks replaced, {errors} reads that the server could "
               "not answer from one version")
    print(summary)
    found = differences(tmp_path)
    assert not found, f"{summary}\n{found}"
    assert (last, ends) == (None, [0] * len(ends)), summary
    assert min(reads, writes, replaced) > 0 and errors <= reads / 10, summary


# --- The checker finds faults --------------------------------------------------------------------

TOP, LEFT, ALL = np.s_[0:2, 0:8], np.s_[0:4, 0:4], np.s_[0:4, 0:8]


@pytest.fixture
def written(tmp_path):
    """A history of two chunks, and their values after each of its writes: two that were flushed,
    and two that were not."""
    history = History(tmp_path, np.zeros((4, 8), "u1"), (4, 4))
    owner = Owner(history, 0)
    values = np.zeros((4, 8), "u4")

    def write(rectangle, is_flushed=False, **options):
        values[rectangle] = owner.begin(rectangle, **options)
        owner.end(rectangle)
        if is_flushed:
            owner.flush()
        return values.copy()

    return history, [write(ALL, True), write(TOP, True), write(LEFT), write(TOP, is_fill=True)]


def difference(history, values, window=ALL):
    return history.difference(window, values[window], history.lower(window)) or ""


def test_all_that_may_be_stored_is_right(written):
    history, states = written
    assert [difference(history, state) for state in states[1:]] == ["", "", ""]
    assert difference(history, states[3], np.s_[0:4:3, 1:8:2]) == ""
    # Each chunk is stored by itself.
    states[1][LEFT] = states[3][LEFT]
    assert difference(history, states[1]) == ""


@pytest.mark.parametrize("state, part, other, message", [
    (1, ALL, 0, "16 of 32 elements .* are older than what was stored before the read"),
    (3, np.s_[3:4, 5:6], None, "1 of 32 elements .* are older than what was stored"),
    (2, np.s_[0:1, 0:1], 1, "1 of 32 elements .* are older than the rest of their chunk"),
    (2, np.s_[2:4, 0:4], 1, "8 of 32 elements .* are older than the rest of their chunk"),
])
def test_a_mixture(written, state, part, other, message):
    """A part of a state belongs to another one, or is missing."""
    history, states = written
    values = states[state]
    values[part] = 0 if other is None else states[other][part]
    assert re.search(message, difference(history, values))


def test_values_that_nobody_wrote(written):
    history, (*_, values) = written
    assert "belong elsewhere" in difference(history, np.roll(values, 1, axis=1))
    values[3, 0] += 8 << 8
    assert "newer than the read" in difference(history, values)


class StaleHandle(Handle):
    """Answers with what it has read before, unless it has written since."""

    def open(self):
        super().open()
        self.cache = {}

    def read(self, window):
        key = str(window)
        if key not in self.cache:
            self.cache[key] = super().read(window)
        return self.cache[key]

    def write(self, rectangle, values):
        self.cache = {}
        super().write(rectangle, values)


def test_a_stale_cache_is_found(tmp_path, monkeypatch):
    plan = Plan(SEED, "v3")
    plan.make(tmp_path / "a.zarr", plan)
    monkeypatch.setattr(history_actors, "Handle", StaleHandle)
    timer = threading.Timer(30, (tmp_path / "end").touch)
    timer.start()
    history_actors.run(tmp_path, plan, 0, 0)
    timer.cancel()
    assert "are older than what was stored" in differences(tmp_path)
