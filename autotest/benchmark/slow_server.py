"""Web servers of a folder that are as far away as a round trip (see delay_proxy.py). They count
requests and round trips.
"""
import atexit
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path

import object_server
import tls_server
import webserver


def count_round_trips(times):
    """The longest chain of requests, given as (start, end), each of which began after another had
    ended."""
    lengths = []
    for start, end in sorted(times):
        before = [length for other_end, length in lengths if other_end <= start]
        lengths.append((end, max(before, default=0) + 1))
    return max((length for _, length in lengths), default=0)


def start(*command):
    """A program for the life of this one, which prints a port first."""
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE)
    atexit.register(process.terminate)
    return process


def start_proxy(port, round_trip):
    """The port of a proxy."""
    script = Path(__file__).with_name("delay_proxy.py")
    return int(start(sys.executable, script, str(port), str(round_trip)).stdout.readline())


class SlowHandler(tls_server.KeepAlive):
    """Records when each request was sent and its answer received, as the client sees it. Does not
    wait for more bytes before it sends some, as other servers do not."""
    disable_nagle_algorithm = True

    def do_GET(self):
        began = time.monotonic()
        super().do_GET()
        half = self.server.round_trip / 2
        self.server.times.append((began - half, time.monotonic() + half))


class SlowServer:
    """Of HTTP/1.1; with TLS if a key and a certificate are given."""

    def __init__(self, root, round_trip, key=None, certificate=None):
        kind = tls_server.TlsServer if certificate else webserver.Server
        self.server = kind(("127.0.0.1", 0), SlowHandler)
        self.server.daemon_threads = True
        if certificate:
            self.server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.server.context.load_cert_chain(certificate, key)
        self.server.root, self.server.round_trip = root, round_trip
        self.clear()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{start_proxy(self.server.server_port, round_trip)}"

    def clear(self):
        self.server.requests, self.server.times, self.server.connections = [], [], []

    def counts(self):
        return {"requests": len(self.server.requests),
                "round_trips": count_round_trips(self.server.times)}


class SlowObjectServer:
    """An object store with the interface of S3, in memory."""

    def __init__(self, round_trip):
        self.server = object_server.ObjectServer()
        self.round_trip = round_trip
        self.port = start_proxy(self.server.server_port, round_trip)

    def options(self, is_slow=True):
        """Those of GDAL, for the server itself or as it looks from afar."""
        return object_server.options(self.port if is_slow else self.server.server_port)

    def load(self, folder):
        """Starts with the files of a folder, if one is given."""
        self.server.objects = {}
        if folder is not None:
            self.server.load(folder, folder.name)
        self.server.requests.clear()

    def counts(self):
        half = self.round_trip / 2
        times = [(began - half, ended + half) for began, ended, _, _ in self.server.requests]
        return {"requests": len(times), "round_trips": count_round_trips(times)}


class SlowHttp2Server:
    """Of HTTP/2, by Node.js."""

    def __init__(self, root, round_trip, key, certificate):
        script = Path(tls_server.__file__).with_name("http2_server.mjs")
        self.server = tls_server.Http2Server(start("node", script, root, key, certificate),
                                             certificate)
        port = int(self.server.url.rsplit(":", 1)[1])
        self.url = f"https://127.0.0.1:{start_proxy(port, round_trip)}"
        self.before = 0

    def clear(self):
        self.before = self.server.counts()["streams"]

    def counts(self):
        return {"requests": self.server.counts()["streams"] - self.before}
