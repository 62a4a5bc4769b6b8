"""Processes that answer calls about Icechunk repositories: the reference implementation
(judge.mjs), and zarrcore (transactions.cpp).

The reference is released for Node alone and needs a newer C library than Debian 12 has.
ICECHUNK_JUDGE is a command that runs Node where both exist, for example in another Debian
that sees the same folders; without it, the Node of this system is tried.
"""
import base64
import functools
import json
import os
import shlex
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent


class CallError(Exception):
    """What a call has thrown."""


class Conflict(CallError):
    """Of a commit."""


class Calls:
    """A process, whose calls are functions of this object."""

    def __init__(self, *command, **options):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, **options)

    def call(self, name, /, **words):
        self.process.stdin.write(json.dumps({"call": name} | words, default=str) + "\n")
        line = self.process.stdout.readline()
        if not line:
            raise CallError(f"the process ended in {name}: {self.process.wait()}")
        answer = json.loads(line)
        if "conflicts" in answer:
            raise Conflict("; ".join(answer["conflicts"]))
        if "error" in answer:
            raise CallError(answer["error"])
        return answer["result"]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self.call, name)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@functools.cache
def find_judge():
    """The reference, or None if this system cannot run it."""
    command = shlex.split(os.environ.get("ICECHUNK_JUDGE", "node"))
    # Without a command, errors would only say that Node or the library does not exist.
    errors = None if "ICECHUNK_JUDGE" in os.environ else subprocess.DEVNULL
    try:
        judge = Calls(*command, HERE / "judge.mjs", stderr=errors)
        judge.ping()
    except (CallError, OSError):
        return None
    return judge


def encoded(content):
    return base64.b64encode(content).decode()


def decoded(text):
    return base64.b64decode(text)
