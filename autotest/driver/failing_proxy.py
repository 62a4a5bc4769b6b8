"""Forwards requests to an object store, records them, and lets chosen ones fail: with the status
that `fail` returns and the document of an error."""
import http.client
from http.server import ThreadingHTTPServer

from object_requests import ObjectRequestHandler

NOT_FORWARDED = {"transfer-encoding", "connection", "content-length", "expect"}


class Handler(ObjectRequestHandler):
    def forward(self):
        body = self.body()
        server = self.server
        server.requests.append((self.command, self.path, dict(self.headers)))
        status = server.fail(self.command, self.path)
        if status is not None:
            self.send_response(status)
            answer, headers = b"<Error><Code>SlowDown</Code><Message>Later</Message></Error>", []
        else:
            sent = {name: value for name, value in self.headers.items()
                    if name.lower() not in NOT_FORWARDED}
            # s3rver fails now and then when it removes several keys at once.
            for _ in range(5 if self.command == "POST" and "?delete" in self.path else 1):
                store = http.client.HTTPConnection("127.0.0.1", server.target, timeout=60)
                store.request(self.command, self.path, body, sent)
                result = store.getresponse()
                answer, headers = result.read(), result.getheaders()
                store.close()
                if result.status < 500:
                    break
            self.send_response_only(result.status)
        length = len(answer)
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = value
            elif name.lower() not in NOT_FORWARDED:
                self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward


class Proxy(ThreadingHTTPServer):
    request_queue_size = 64

    def __init__(self, target):
        super().__init__(("127.0.0.1", 0), Handler)
        self.target, self.requests = target, []
        self.fail = lambda method, path: None

    def count(self, method, part=""):
        return sum(m == method and part in path for m, path, _ in self.requests)
