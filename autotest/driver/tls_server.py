"""Web servers with TLS for tests, which count connections and requests."""
import json
import socket
import ssl
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import webserver


def make_certificate(folder):
    """A key and a certificate for 127.0.0.1 that nobody knows, as paths."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-keyout", key, "-out", certificate, "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return key, certificate


class KeepAlive(webserver.Handler):
    """Serves many requests on one connection, and counts connections."""
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections.append(self.client_address)


class TlsServer(webserver.Server):
    """Each thread shakes hands for its connection. Counts those that are opened, also those that
    send nothing."""
    context = None
    accepted = 0

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.waiting = set()  # connections that have sent nothing

    def get_request(self):
        connection = super().get_request()
        self.accepted += 1
        return connection

    def finish_request(self, request, client_address):
        self.waiting.add(request)
        try:
            request.recv(1, socket.MSG_PEEK)
            self.waiting.discard(request)
            secure = self.context.wrap_socket(request, server_side=True)
        except OSError:  # of clients that do not trust the certificate
            return
        super().finish_request(secure, client_address)
        secure.close()


@contextmanager
def serve_tls(root, key, certificate):
    """A running server of HTTP/1.1. Its address is in `url`."""
    server = TlsServer(("127.0.0.1", 0), KeepAlive)
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(certificate, key)
    server.root, server.requests, server.connections = root, [], []
    server.daemon_threads = True  # they wait for requests on connections that stay open
    server.url = f"https://127.0.0.1:{server.server_port}"
    with webserver.running(server):
        yield server


class Http2Server:
    def __init__(self, process, certificate):
        self.process = process
        self.url = f"https://127.0.0.1:{int(process.stdout.readline())}"
        self.context = ssl.create_default_context(cafile=certificate)

    def counts(self):
        """{"connections": …, "streams": …} of HTTP/2 since the start; "accepted" of any kind."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=self.context))
        with opener.open(f"{self.url}/counts") as reply:
            return json.load(reply)


@contextmanager
def serve_http2(root, key, certificate):
    """A running server of HTTP/2, by Node.js."""
    script = Path(__file__).with_name("http2_server.mjs")
    with subprocess.Popen(["node", script, root, key, certificate], text=True,
                          stdout=subprocess.PIPE) as process:
        try:
            yield Http2Server(process, certificate)
        finally:
            process.terminate()
