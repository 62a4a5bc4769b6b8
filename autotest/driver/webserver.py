"""A web server for tests: files of a folder, also in part, with faults on demand."""
import hashlib
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from osgeo import gdal


class Handler(BaseHTTPRequestHandler):
    """Serves files of `root`, also in part. Attributes of the server change its answers:

    faults           paths that contain a key of it get its status
    fault(path)      returns a status, or None for the file
    missing_status   for files that do not exist
    rewrite(path)    the path of the file that a request is for
    html             a path that is sent as a page in HTML
    answers          how ranges are answered: "no ranges", "no ranges from the end", "unknown size",
                     "no Content-Range", "other part"
    log              a RequestLog that counts requests and round trips
    """

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        if self.server.log is not None:
            self.server.log.hold(self.command, self.path)
        for part, status in self.server.faults.items():
            if part in self.path:
                self.fail(status)
                return
        status = self.server.fault(self.path)
        if status is not None:
            self.fail(status)
            return
        path = self.server.rewrite(self.path).lstrip("/")
        file = self.server.root / path
        try:
            content = file.read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            self.fail(self.server.missing_status)
            return
        tag = hashlib.md5(content).hexdigest()
        status = 200
        answers = self.server.answers
        wanted = self.headers.get("Range") if answers != "no ranges" else None
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            size = len(content)
            if not first:  # this many at the end
                if answers == "no ranges from the end":
                    self.fail(416)
                    return
                first, last = max(0, size - int(last)), ""
            first = int(first)
            if first >= size:
                self.fail(416)
                return
            status = 206
            content = content[first : int(last) + 1 if last else None]
            if answers == "other part" and first > 0:
                first -= 1
            size = "*" if answers == "unknown size" else size
        self.send_response(status)
        if status == 206 and answers != "no Content-Range":
            self.send_header("Content-Range", f"bytes {first}-{first + len(content) - 1}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type",
                         "text/html" if path == self.server.html else "application/octet-stream")
        self.send_header("ETag", f'"{tag}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)
            self.server.after_answer(self.path)

    def fail(self, status):
        """Status 0 closes the connection without an answer."""
        if status == 0:
            return
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


HTTP_OPTIONS = {
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_HTTP_PROXY": "",
    "GDAL_HTTP_TIMEOUT": "20",
    "GDAL_HTTP_MAX_RETRY": "0",
    "CPL_VSIL_CURL_USE_HEAD": "YES",
}


class Server(ThreadingHTTPServer):
    request_queue_size = 64  # a connection that waits for a place in it waits a second
    missing_status = 404
    html = answers = log = None

    def __init__(self, *arguments):
        self.faults = {}
        self.requests = []
        self.open_sockets = set()
        super().__init__(*arguments)

    def get_request(self):
        connection, address = super().get_request()
        self.open_sockets.add(connection)
        return connection, address

    def shutdown_request(self, request):
        self.open_sockets.discard(request)
        super().shutdown_request(request)

    def server_close(self):
        """Also closes connections that clients keep: the next server may have the same port."""
        super().server_close()
        for connection in list(self.open_sockets):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def fault(self, path):
        return None

    def rewrite(self, path):
        return path.partition("?")[0]

    def after_answer(self, path):
        """Called after each file, or part of one, that has been sent."""


def start_server(handler=None):
    """On a port whose number cannot be mistaken for the status 404 in the text of an error."""
    for port in range(40400, 40500):
        try:
            return Server(("127.0.0.1", port), handler or Handler)
        except OSError:
            continue
    pytest.fail("the ports 40400 to 40499 are all in use")


@contextmanager
def running(server):
    """Answers requests in a thread, and closes the server at the end."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serve(root, monkeypatch):
    """A running server of the folder `root`, its address in `url`."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = start_server()
    server.root = root
    server.url = f"http://127.0.0.1:{server.server_port}"
    for name, value in HTTP_OPTIONS.items():
        gdal.SetConfigOption(name, value)
    try:
        with running(server):
            yield server
    finally:
        for name in HTTP_OPTIONS:
            gdal.SetConfigOption(name, None)
        gdal.VSICurlClearCache()
