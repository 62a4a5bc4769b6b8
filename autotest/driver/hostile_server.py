"""A web server that answers some requests as broken, overloaded and hostile servers do."""
import gzip
import hashlib
import socket
import struct
import time

import webserver

HTML = b"<!DOCTYPE html><html><body>Please log in</body></html>"
HUGE = 1 << 40
# As in the errors of S3.
CODES = {"301": "PermanentRedirect", "400": "InvalidRequest", "401": "Unauthorized",
         "403": "AccessDenied", "404": "NoSuchKey", "408": "RequestTimeout", "416": "InvalidRange",
         "429": "TooManyRequests", "500": "InternalError", "503": "SlowDown"}


def explanation(status):
    return (f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{CODES[status]}</Code>'
            f"<Message>So it is &amp; stays</Message></Error>").encode()


class Answer:
    """What an honest server would send for a request."""

    def __init__(self, content, wanted):
        self.content, self.range = content, wanted
        self.first, last = 0, len(content) - 1
        if wanted:
            first, _, end = wanted.removeprefix("bytes=").partition("-")
            if first:
                self.first, last = int(first), min(int(end), last) if end else last
            else:
                self.first = max(0, len(content) - int(end))
        self.first = min(self.first, len(content))
        self.body = content[self.first : last + 1]
        self.status = 206 if wanted else 200
        self.tag = {"ETag": f'"{hashlib.md5(content).hexdigest()}"'}

    def content_range(self, shift=0, size=None):
        first = self.first + shift
        return self.tag | {"Content-Range": f"bytes {first}-{first + len(self.body) - 1}/"
                                            f"{len(self.content) if size is None else size}"}

    def headers(self):
        return self.content_range() if self.range else self.tag


class HostileHandler(webserver.Handler):
    """Answers the requests for which `server.is_hit(path, range)` is true as `server.kind` says, a
    status or the name of one of the functions below, and counts them in `server.hits`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer on an open connection waits for 40 ms

    def do_GET(self):
        path = self.path.partition("?")[0]
        wanted = self.headers.get("Range")
        kind = self.server.kind
        is_honest = self.headers["Host"].startswith("localhost")
        if kind is None or is_honest or not self.server.is_hit(path, wanted):
            super().do_GET()
            return
        self.server.hits += 1
        file = self.server.root / self.server.rewrite(self.path).lstrip("/")
        answer = Answer(file.read_bytes(), wanted)
        try:
            if kind.isdigit():
                self.send(int(kind), explanation(kind) if kind in CODES else b"",
                          **{"Content-Type": "application/xml"})
            else:
                getattr(self, kind.replace(" ", "_").replace("-", "_"))(answer)
        except ConnectionError:
            self.close_connection = True

    def send(self, status, body, length=None, **headers):
        self.start(status, headers)
        if status != 204:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def start(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)

    def abort(self):
        """The client sees a reset connection, not its end."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    # Statuses with more than a number.

    def retry_after(self, answer):
        self.send(429, b"", **{"Retry-After": "3600"})

    def page(self, answer):
        self.send(200, HTML, **{"Content-Type": "text/html; charset=utf-8"})

    def redirect_loop(self, answer):
        self.send(302, b"", Location=self.path)

    def redirect_to_another_host(self, answer):
        self.send(302, b"", Location=f"http://localhost:{self.server.server_port}{self.path}")

    def redirect_to_nowhere(self, answer):
        self.send(301, explanation("301"), **{"Content-Type": "application/xml"})

    # Bodies.

    def empty(self, answer):
        self.send(answer.status, b"", **answer.headers())

    def cut(self, answer):
        self.send(answer.status, answer.body[: len(answer.body) // 2], len(answer.body),
                  **answer.headers())
        self.close_connection = True

    def reset(self, answer):
        self.send(answer.status, answer.body[: len(answer.body) // 2], len(answer.body),
                  **answer.headers())
        self.abort()

    def reset_at_once(self, answer):
        self.abort()

    def shorter(self, answer):
        self.send(answer.status, answer.body[: len(answer.body) // 2], **answer.headers())

    def longer(self, answer):
        self.send(answer.status, answer.body + bytes(100), **answer.headers())

    def more_than_announced(self, answer):
        """What follows would be the answer to the next request."""
        self.send(answer.status, answer.body + bytes(100), len(answer.body), **answer.headers())

    def chunked(self, answer, body, is_complete):
        self.start(answer.status, answer.headers() | {"Transfer-Encoding": "chunked"})
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
            self.wfile.write(b"0\r\n\r\n" if is_complete else b"")
        self.close_connection = not is_complete

    def chunked_transfer(self, answer):
        self.chunked(answer, answer.body, True)

    def cut_chunked_transfer(self, answer):
        self.chunked(answer, answer.body[: len(answer.body) // 2], False)

    def unasked_gzip(self, answer):
        """The range, if any, is one of the compressed value."""
        packed = Answer(gzip.compress(answer.content), answer.range)
        self.send(packed.status, packed.body, **packed.headers(), **{"Content-Encoding": "gzip"})

    def cut_gzip(self, answer):
        packed = Answer(gzip.compress(answer.content)[:-12], answer.range)
        self.send(packed.status, packed.body, **packed.headers(), **{"Content-Encoding": "gzip"})

    def huge_length(self, answer):
        self.send(answer.status, answer.body, HUGE, **answer.headers())
        self.close_connection = True

    def drip(self, answer):
        self.send(answer.status, b"", 1000, **answer.headers())
        for _ in range(100):
            self.wfile.write(b"x")
            self.wfile.flush()
            time.sleep(0.1)
        self.close_connection = True

    def no_HTTP(self, answer):
        self.wfile.write(b"220 mail ready\r\n")
        self.close_connection = True

    # Ranges.

    def no_Content_Range(self, answer):
        self.send(206, answer.body, **answer.tag)

    def unreadable_Content_Range(self, answer):
        self.send(206, answer.body, **answer.tag | {"Content-Range": "bytes all"})

    def shifted_Content_Range(self, answer):
        self.send(206, answer.body, **answer.content_range(shift=1))

    def wrong_size(self, answer):
        """A value that is larger by 4 bytes, says the server."""
        self.send(206, answer.body, **answer.content_range(size=len(answer.content) + 4))

    def other_bytes(self, answer):
        """A part that begins later, as the server says itself."""
        answer.first += 4
        answer.body = answer.content[answer.first : answer.first + len(answer.body)]
        self.send(206, answer.body, **answer.content_range())

    def whole_value(self, answer):
        self.send(200, answer.content, **answer.tag)
