"""Compares our driver with GDAL's own, with zarr-python, and with the floor (floor.cpp).

Each measurement is a process of its own. The programs of a row take turns, and the best run of
each program counts. A row is identified by case, store, interface and threads. All programs must
read the same values.

The ratios: `floor` is ours / floor (1 is the floor), `built-in` and `zarr-py` are theirs / ours
(above 1 we are faster). Remote cases are named by protocol and
round trip in milliseconds; in their row, zarr-python reads with fsspec. Rows of objects change an
array of 64 chunks in an object store. MB is the peak of memory
beyond what the process had before. With --before, it compares the plugin of another build
and nothing else.
"""
import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "driver"))  # for its web servers

import array_stores  # noqa: E402
import node_stores  # noqa: E402
import object_server  # noqa: E402
import slow_server  # noqa: E402
import tls_server  # noqa: E402
from drivers import V3_SINCE, gdal_version  # noqa: E402
from old_data import remove_old_data  # noqa: E402

Row = namedtuple("Row", "case store api threads")
READS_2D = ("all", "windows")
READS_CUBE = ("all", "series", "slices")
ROUND_TRIPS = (30, 100)  # of the remote cases, in milliseconds
OBJECT_CASES = ("object create", "object update", "object append", "object delete")
PROTOCOLS = ("http", "tls", "http2")  # the last with TLS, if Node.js is installed


def rows():
    """All cases, in the order of the table."""
    for store in array_stores.STORES.values():
        if "growth" in store.name:
            yield Row("all", store.name, "multidim", 2)
            continue
        for case in READS_2D if len(store.shape) == 2 else READS_CUBE:
            for threads in (1, 2):
                yield Row(case, store.name, "multidim", threads)
            if len(store.shape) == 2:
                yield Row(case, store.name, "classic", 2)
    for name in ("v2-blosc-lz4", "v2-zstd", "v3-blosc-lz4", "v3-sharded"):
        for case in ("write", "write chunks"):
            for threads in (1, 2):
                yield Row(case, name, "multidim", threads)
    for version in (2, 3):
        for suffix in ("consolidated", "plain"):
            for case in ("list", "subdatasets", "open one"):
                yield Row(case, f"v{version}-many-{suffix}", "", 2)
        yield Row("sparse", f"v{version}-sparse", "", 2)
        for suffix in ("consolidated", "plain"):
            for case in ("remote open", "remote window"):
                for milliseconds in ROUND_TRIPS:
                    for protocol in PROTOCOLS:
                        if protocol != "http2" or shutil.which("node"):
                            yield Row(case, f"v{version}-remote-{suffix}",
                                      f"{protocol} {milliseconds}", 2)
        if gdal_version()[0] >= V3_SINCE:  # which can change and delete arrays
            for case in OBJECT_CASES:
                yield Row(case, f"v{version}-object", "s3 30", 2)


class Bench:
    def __init__(self, options):
        self.data = options.data.resolve()
        self.repeat = options.repeat
        self.plugins = {"plugin": options.build.resolve() / "driver"}
        if options.before:
            self.plugins["before"] = options.before.resolve() / "driver"
        self.floor = options.build.resolve() / "autotest/benchmark/zarr_floor"
        self.no_plugin = self.data / "no-plugin"
        self.no_plugin.mkdir(parents=True, exist_ok=True)
        self.servers = {}
        self.certificate = None
        self.builtin_versions = (2, 3) if gdal_version()[0] >= V3_SINCE else (2,)
        try:
            import aiohttp  # noqa: F401  with which fsspec reads from web servers
            import fsspec  # noqa: F401
            self.has_fsspec = True
        except ImportError:
            self.has_fsspec = False
        try:
            import zarr
            self.zarr_versions = (2,) if zarr.__version__.startswith("2.") else (2, 3)
        except ImportError:
            self.zarr_versions = ()

    def make_data(self, wanted):
        remove_old_data(self.data, {row.store for row in rows()},
                        ("array_stores.py", "node_stores.py"))
        node_stores.make_all(self.data)
        for name in dict.fromkeys(row.store for row in wanted if not row.case.startswith("write")):
            if name in array_stores.STORES:
                array_stores.make(array_stores.STORES[name], self.data)

    def server(self, name):
        """The server of a protocol and a round trip, such as "tls 30"."""
        if name not in self.servers:
            protocol, milliseconds = name.split()
            if protocol == "s3":
                self.servers[name] = slow_server.SlowObjectServer(int(milliseconds) / 1000)
                return self.servers[name]
            if self.certificate is None:
                self.certificate = tls_server.make_certificate(self.data)
            arguments = self.data, int(milliseconds) / 1000
            self.servers[name] = (
                slow_server.SlowServer(*arguments) if protocol == "http" else
                slow_server.SlowServer(*arguments, *self.certificate) if protocol == "tls" else
                slow_server.SlowHttp2Server(*arguments, *self.certificate))
        return self.servers[name]

    def programs(self, row):
        if "before" in self.plugins:
            return ["plugin", "before"]
        version = int(row.store[1])
        names = ["plugin"]
        if version in self.builtin_versions:
            names.append("built-in")
            if row.case == "all" and row.api == "multidim" and row.threads > 1:
                names.append("advised")
        if row.case == "all":
            names.append("floor")
        is_region = row.case in (*READS_2D, "series", "slices")
        if is_region and row.api == "multidim" and row.threads == 2 and (
                version in self.zarr_versions):
            names.append("zarr-python")
        # fsspec has no HTTP/2.
        if row.case.startswith("remote") and self.has_fsspec and version in self.zarr_versions and (
                not row.api.startswith("http2")):
            names.append("zarr-python")
        return names

    def measure(self, row, program):
        """The output of the process, or None if it failed."""
        environment = os.environ | {
            "GDAL_NUM_THREADS": str(row.threads),
            "GDAL_DRIVER_PATH": str(self.plugins.get(program, self.no_plugin)),
            "GDAL_CACHEMAX": "256",
            "GDAL_PAM_ENABLED": "NO",
        }
        if program == "floor":
            store = array_stores.STORES[row.store]
            command = [str(self.floor), *store.floor_arguments(self.data, row.threads)]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            return {"seconds": float(output.split()[0])}
        path = str(self.data)
        api = row.api
        if program in ("advised", "zarr-python"):
            api = program
        if row.case.startswith("write"):
            path = str(self.data / "written.zarr")
            subprocess.run(["rm", "-rf", path], check=True)
        elif row.case.startswith("object"):
            server = self.server(row.api)
            server.load(None if row.case == "object create" else self.data / row.store)
            path = f"/vsis3/{object_server.BUCKET}/{row.store}"
            environment |= server.options()
        elif row.case.startswith("remote"):
            server = self.server(row.api)
            path = f"{server.url}/{row.store}"
            environment |= {"no_proxy": "127.0.0.1", "GDAL_HTTP_PROXY": "",
                            "GDAL_CURL_CA_BUNDLE": str(self.certificate[1])}
            if program == "built-in":  # /vsicurl/ of GDAL 3.6 takes no file of certificates
                environment["GDAL_HTTP_UNSAFESSL"] = "YES"
            server.clear()
        elif row.store not in array_stores.STORES:
            path += f"/{row.store}"
        def probe(case):
            return subprocess.run([sys.executable, str(HERE / "probe.py"), path, case, api,
                                   row.store], env=environment, capture_output=True, text=True)

        run = probe(row.case)
        if run.returncode != 0:
            lines = run.stderr.strip().splitlines() or ["no message"]
            print(f"{program} failed in {' '.join(map(str, row))}: {lines[-1]}", file=sys.stderr)
            return None
        result = json.loads(run.stdout)
        if row.case.startswith("remote"):
            result |= server.counts()
        if row.case.startswith("object"):
            result |= server.counts()
            environment |= server.options(is_slow=False)
            environment["GDAL_DRIVER_PATH"] = str(self.plugins["plugin"])
            result["checksum"] = json.loads(probe("object read").stdout)["checksum"]
        return result

    def run(self, row):
        """The best run of each program, after a check that all read the same values."""
        best = {}
        failed = set()
        for _ in range(self.repeat):
            for program in self.programs(row):
                result = self.measure(row, program) if program not in failed else None
                if result is None:
                    failed.add(program)
                elif program not in best or result["seconds"] < best[program]["seconds"]:
                    best[program] = result
        checksums = {result["checksum"] for result in best.values() if "checksum" in result}
        differs = len(checksums) > 1
        if "advised" in best:  # the fastest setting of the built-in driver
            advised = best.pop("advised")
            if "built-in" not in best or advised["seconds"] < best["built-in"]["seconds"]:
                best["built-in"] = advised
        return {**row._asdict(), **best, "differs": differs}


def ratio(result, over, under):
    if over not in result or under not in result:
        return None
    return result[over]["seconds"] / result[under]["seconds"]


def line(result):
    def number(value, digits=2):
        return "-" if value is None else f"{value:.{digits}f}"

    ours = result.get("plugin", {})
    theirs = result.get("built-in", {})
    cells = [f"{result['case']:14}{result['store']:23}{result['api']:9}{result['threads']:2}",
             f"{number(ours.get('seconds'), 3):>8}",
             f"{number(ratio(result, 'plugin', 'floor')):>7}",
             f"{number(ratio(result, 'built-in', 'plugin')):>9}",
             f"{number(ratio(result, 'zarr-python', 'plugin')):>8}",
             f"{ours.get('peak_mb', '-'):>7}{theirs.get('peak_mb', '-'):>7}"]
    if "before" in result:
        cells.append(f"  before {number(ratio(result, 'before', 'plugin'))}")
    if "requests" in ours:
        cells.append(f"  requests {requests_of(ours)}, built-in {requests_of(theirs)}")
    if result["differs"]:
        cells.append("  READ DIFFERENT VALUES")
    return "".join(cells)


def requests_of(result):
    if "round_trips" in result:
        return f"{result['requests']} in {result['round_trips']} round trips"
    return result.get("requests", "-")


HEADER = (f"{'case':14}{'store':23}{'through':9}{'th':>2}{'seconds':>8}{'floor':>7}{'built-in':>9}"
          f"{'zarr-py':>8}{'MB':>7}{'(theirs)':>8}")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(results):
    """The summary lines that the targets refer to."""
    def ratios(over, under, accept):
        found = [(ratio(r, over, under), r) for r in results if accept(r)]
        return [(value, r) for value, r in found if value is not None]

    def worst(title, found, pick):
        if found:
            value, r = pick(found, key=lambda entry: entry[0])
            mean = geometric_mean([entry[0] for entry in found])
            print(f"{title}: mean {mean:.2f}, worst {value:.2f} "
                  f"({r['case']}, {r['store']}, {r['api']}, {r['threads']} threads)")

    worst("Whole reads, ours / floor", ratios("plugin", "floor", lambda r: r["api"] == "multidim"),
          max)
    partial = ("windows", "series", "slices")
    worst("Partial reads on 2 threads, built-in / ours",
          ratios("built-in", "plugin", lambda r: r["case"] in partial and r["threads"] == 2), min)
    worst("Writing on 2 threads, built-in / ours",
          ratios("built-in", "plugin",
                 lambda r: r["case"].startswith("write") and r["threads"] == 2), min)
    worst("All rows, built-in / ours", ratios("built-in", "plugin", lambda r: True), min)
    worst("All rows, before / ours", ratios("before", "plugin", lambda r: True), min)
    remote = {(r["case"], r["store"], *r["api"].split()): r["plugin"]["seconds"] for r in results
              if r["case"].startswith("remote") and "plugin" in r}
    for protocol in PROTOCOLS[1:]:
        for case in ("remote open", "remote window"):
            found = [seconds / remote[case, store, "http", milliseconds]
                     for (at, store, through, milliseconds), seconds in remote.items()
                     if (at, through) == (case, protocol)
                     and (case, store, "http", milliseconds) in remote]
            if found:
                print(f"{case}, {protocol} / http: mean {geometric_mean(found):.2f}, "
                      f"worst {max(found):.2f}")
    whole = {(r["store"], r["threads"]): r["plugin"]["seconds"] for r in results
             if r["case"] == "all" and r["api"] == "multidim" and "plugin" in r}
    gains = [(whole[store, 1] / seconds, store) for (store, threads), seconds in whole.items()
             if threads == 2 and (store, 1) in whole]
    if gains:
        print("Whole reads, one thread / two: " +
              ", ".join(f"{store} {gain:.2f}" for gain, store in gains))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--before", type=Path, metavar="BUILD",
                        help="a build of another commit, to compare with it alone")
    parser.add_argument("--data", type=Path, default=Path("build/bench"),
                        help="where the stores are and stay (6 GB)")
    parser.add_argument("--json", type=Path, help="the results (default: results.json in --data)")
    parser.add_argument("--repeat", type=int, default=3, help="processes for each number")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="rows whose 'case store through threads' match")
    return parser.parse_args()


def main():
    options = parse_options()
    wanted = [row for row in rows() if re.search(options.only, " ".join(map(str, row)))]
    bench = Bench(options)
    bench.make_data(wanted)
    print(HEADER)
    results = []
    for row in wanted:
        results.append(bench.run(row))
        print(line(results[-1]), flush=True)
    print()
    summary(results)
    target = options.json or options.data / "results.json"
    target.write_text(json.dumps(results, indent=1))
    return any(result["differs"] or "plugin" not in result for result in results)


sys.exit(main())
