"""Web servers of a folder that are as far away as a given round trip: opening a connection takes one,
shaking hands for TLS another, and so does each request. They count requests and round trips.
"""
import atexit
import ssl
import subprocess
import threading
import time
from pathlib import Path

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


class SlowHandler(tls_server.KeepAlive):
    def do_GET(self):
        began = time.monotonic()
        time.sleep(self.server.round_trip)
        super().do_GET()
        self.server.times.append((began, time.monotonic()))


class PlainServer(webserver.Server):
    def finish_request(self, request, client_address):
        time.sleep(self.round_trip)
        super().finish_request(request, client_address)


class SecureServer(tls_server.TlsServer):
    def finish_request(self, request, client_address):
        time.sleep(2 * self.round_trip)
        super().finish_request(request, client_address)


class SlowServer:
    """Of HTTP/1.1; with TLS if a key and a certificate are given."""

    def __init__(self, root, round_trip, key=None, certificate=None):
        kind = SecureServer if certificate else PlainServer
        self.server = kind(("127.0.0.1", 0), SlowHandler)
        self.server.daemon_threads = True
        if certificate:
            self.server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.server.context.load_cert_chain(certificate, key)
        self.server.root, self.server.round_trip = root, round_trip
        self.clear()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_port}"

    def clear(self):
        self.server.requests, self.server.times, self.server.connections = [], [], []

    def counts(self):
        return {"requests": len(self.server.requests),
                "round_trips": count_round_trips(self.server.times)}


class SlowHttp2Server:
    """Of HTTP/2, by Node.js, for the life of this program."""

    def __init__(self, root, round_trip, key, certificate):
        script = Path(tls_server.__file__).with_name("http2_server.mjs")
        milliseconds = str(round(1000 * round_trip))
        self.process = subprocess.Popen(["node", script, root, key, certificate, milliseconds],
                                        text=True, stdout=subprocess.PIPE)
        atexit.register(self.process.terminate)
        self.server = tls_server.Http2Server(self.process, certificate)
        self.url = self.server.url
        self.before = 0

    def clear(self):
        self.before = self.server.counts()["streams"]

    def counts(self):
        return {"requests": self.server.counts()["streams"] - self.before}
