"""Our driver and GDAL's own one, as the benchmarks run them: each in processes of its own."""
import os
import re
import subprocess
from pathlib import Path

THREADS = 2  # of our driver and of the codec; GDAL's own is run with each number up to it
BUILTIN = [f"built-in {threads}" for threads in range(1, THREADS + 1)]
V3_SINCE = 3080000  # GDAL's own driver reads v3
SHARDS_SINCE = 3130000  # and shards, writes them and zstd of v3, and has overviews


class Failed(Exception):
    pass


def gdal_version():
    """As GDAL counts: 3060200 for 3.6.2."""
    text = subprocess.run(["gdalinfo", "--version"], capture_output=True, text=True,
                          check=True).stdout
    major, minor, patch = map(int, re.search(r"(\d+)\.(\d+)\.(\d+)", text).groups())
    return major * 1_000_000 + minor * 10_000 + patch * 100, f"{major}.{minor}.{patch}"


class Drivers:
    """`plugins` has the folders of plugins by name; `empty_folder` is made."""

    def __init__(self, plugins, empty_folder):
        self.plugins = plugins
        self.no_plugin = empty_folder
        self.no_plugin.mkdir(parents=True, exist_ok=True)

    def environment(self, program):
        """That a program runs in: `program` is the name of a plugin, or one of BUILTIN."""
        threads = int(program[-1]) if program in BUILTIN else THREADS
        return os.environ | {
            "GDAL_DRIVER_PATH": str(self.plugins.get(program, self.no_plugin)),
            "GDAL_NUM_THREADS": str(threads),
            "GDAL_PAM_ENABLED": "NO",
        }


def is_hopeless(program, seconds):
    """Whether GDAL's own driver takes much longer with all threads than with one, as for rows of
    pixels: minutes. `seconds` has those of the programs that have run."""
    alone, all_threads = seconds.get(BUILTIN[0]), seconds.get(BUILTIN[-1])
    return program == BUILTIN[-1] and bool(alone and all_threads) and all_threads > 3 * alone


def printed(command, environment=None, timeout=None):
    """What a script prints. Throws Failed with its last message, or when it takes longer than
    `timeout` seconds."""
    try:
        run = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True,
                             timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"{Path(command[1]).name}: takes longer than {timeout:.0f} s") from None
    if run.returncode != 0:
        messages = run.stderr.strip().splitlines() or [f"exit code {run.returncode}"]
        raise Failed(f"{Path(command[1]).name}: {messages[-1]}")
    return run.stdout
