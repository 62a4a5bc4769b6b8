"""All builders by their names, each with the source of its metadata."""
from collections.abc import Callable
from dataclasses import dataclass

from .sources import SOURCES, Source


@dataclass(frozen=True)
class Builder:
    build: Callable
    source: Source

    def __call__(self, store):
        """Writes the store, and returns where its array lies."""
        return self.build(store)


BUILDERS = {}


def builder(of, name=None):
    """Adds a function to the builders, by its name; `of` is a key of SOURCES."""
    def add(function):
        key = name or function.__name__
        if key in BUILDERS:
            raise ValueError(f"two builders named {key}")
        BUILDERS[key] = Builder(function, SOURCES[of])
        return function
    return add
