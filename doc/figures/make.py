#!/usr/bin/env python3
"""Draws the figures of the documentation into this folder, or into another one.

usage: make.py [FOLDER]
       make.py --results FILE    first takes the numbers of the chart from a file that
                                 `script/bench --programs --json FILE` has written
"""
import sys
from pathlib import Path

import access
import chunks
import comparison
import performance
import position
import seen
import shards

FIGURES = {"chunks": chunks.draw, "shards": shards.draw, "access": access.draw, "seen": seen.draw,
           "position": position.draw, "performance": performance.draw,
           "comparison": comparison.draw}
FOLDER = Path(__file__).resolve().parent


def main(arguments):
    if arguments[:1] == ["--results"]:
        performance.take_results(Path(arguments[1]))
        arguments = []
    folder = Path(arguments[0]) if arguments else FOLDER
    for name, draw in FIGURES.items():
        (folder / f"{name}.svg").write_text(str(draw()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
