"""An object store in memory, with the part of S3's interface that GDAL uses, conditions of puts
included. It does not look at signatures. It records when each request came and was answered:
it counts requests for tests and measurements, which need neither npm nor time for it."""
import hashlib
import threading
import time
import urllib.parse
from http.server import ThreadingHTTPServer
from pathlib import Path
from xml.sax.saxutils import escape, unescape

from object_requests import ObjectRequestHandler, s3_options

BUCKET = "bucket"
NO_SUCH_KEY = (b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code>'
               b"<Message>The specified key does not exist.</Message></Error>")
PRECONDITION_FAILED = (b'<?xml version="1.0"?><Error><Code>PreconditionFailed</Code>'
                       b"<Message>A condition does not hold.</Message></Error>")
MAX_KEYS = 1000  # of a page of a listing


class Handler(ObjectRequestHandler):
    def do(self):
        body = self.body()
        request = [time.monotonic(), None, self.command, self.path]
        self.server.requests.append(request)
        path, _, query = self.path.partition("?")
        key = urllib.parse.unquote(path).lstrip("/").removeprefix(BUCKET).lstrip("/")
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        handle = {"GET": self.get if key else self.list, "HEAD": self.get, "PUT": self.put,
                  "DELETE": self.delete, "POST": self.delete_several}[self.command]
        status = self.server.fail(self.command, self.path)
        if status is None:
            with self.server.lock:
                handle(key, query, body)
        else:
            self.answer(status, b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')
        request[1] = time.monotonic()

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = do

    def answer(self, status, body=b"", **headers):
        if self.server.lose(self.command, self.path):
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def get(self, key, _query, _body):
        content = self.server.objects.get(key)
        if content is None:
            self.answer(404, NO_SUCH_KEY)
            return
        status, headers = 200, {"ETag": f'"{hashlib.md5(content).hexdigest()}"'}
        if wanted := self.headers.get("Range"):
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            size = len(content)
            start = int(first) if first else max(0, size - int(last))
            if start >= size:
                self.answer(416)
                return
            content = content[start : int(last) + 1 if first and last else None]
            status = 206
            headers["Content_Range"] = f"bytes {start}-{start + len(content) - 1}/{size}"
        self.answer(status, content, **headers)

    def put(self, key, _query, body):
        source = self.headers.get("x-amz-copy-source")
        if source is not None:
            name = urllib.parse.unquote(source).lstrip("/").removeprefix(BUCKET).lstrip("/")
            if name not in self.server.objects:
                self.answer(404, NO_SUCH_KEY)
                return
            body = self.server.objects[name]
        if not self.meets_conditions(key):
            self.answer(412, PRECONDITION_FAILED)
            return
        self.server.objects[key] = body
        self.answer(200, b"<CopyObjectResult/>" if source else b"",
                    ETag=f'"{hashlib.md5(body).hexdigest()}"')

    def meets_conditions(self, key):
        present = self.server.objects.get(key)
        wanted = self.headers.get("If-Match")
        if self.headers.get("If-None-Match") == "*":
            return present is None
        return wanted is None or (
            present is not None and wanted.strip('"') == hashlib.md5(present).hexdigest())

    def delete(self, key, _query, _body):
        self.server.objects.pop(key, None)
        self.answer(204)

    def delete_several(self, _key, _query, body):
        """Reports absent objects as deleted, as S3 does."""
        deleted = ""
        for part in body.decode().split("<Key>")[1:]:
            name = part.partition("</Key>")[0]
            self.server.objects.pop(unescape(name), None)
            deleted += f"<Deleted><Key>{name}</Key></Deleted>"
        self.answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def list(self, _key, query, _body):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("marker", "")
        most = min(MAX_KEYS, int(query.get("max-keys", MAX_KEYS)))
        entries, last, is_truncated = {}, "", False
        for name in sorted(self.server.objects):
            if not name.startswith(prefix):
                continue
            folder, found, _ = name.removeprefix(prefix).partition(delimiter or "\0")
            entry = prefix + folder + delimiter if delimiter and found else name
            if entry <= after or entry in entries:
                continue
            if len(entries) == most:
                is_truncated = True
                break
            last = entry
            entries[entry] = entry == name
        contents = "".join(
            f"<Contents><Key>{escape(name)}</Key>"
            f"<LastModified>2024-01-01T00:00:00.000Z</LastModified>"
            f"<Size>{len(self.server.objects[name])}</Size>"
            f"<StorageClass>STANDARD</StorageClass></Contents>" if is_object else
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            for name, is_object in entries.items())
        more = ""
        if is_truncated:
            token = "NextContinuationToken" if "list-type" in query else "NextMarker"
            more = f"<{token}>{escape(last)}</{token}>"
        self.answer(200, (
            f'<?xml version="1.0"?><ListBucketResult><Name>{BUCKET}</Name>'
            f"<Prefix>{escape(prefix)}</Prefix>{more}"
            f"<IsTruncated>{str(is_truncated).lower()}</IsTruncated>{contents}"
            "</ListBucketResult>").encode(), Content_Type="application/xml")


class ObjectServer(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects = {}
        self.requests = []  # [start, end, method, path]
        self.fail = lambda method, path: None  # a status to answer with
        self.lose = lambda method, path: False  # whether to close the connection without an answer
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def load(self, folder, prefix):
        """Objects of the files of a folder, in place of all others."""
        self.objects = {f"{prefix}/{file.relative_to(folder).as_posix()}": file.read_bytes()
                        for file in folder.rglob("*") if file.is_file()}


def options(port):
    """GDAL's options for a server."""
    return s3_options(port, Path("/none")) | {"no_proxy": "127.0.0.1"}
