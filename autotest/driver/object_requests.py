"""What test servers of object stores share: reading requests, and GDAL's options for S3."""
from http.server import BaseHTTPRequestHandler


class ObjectRequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_):
        pass


def s3_options(port, folder):
    """For a server on this machine. `folder` has no files of credentials."""
    return {
        "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER", "AWS_HTTPS": "NO",
        "AWS_S3_ENDPOINT": f"127.0.0.1:{port}", "AWS_VIRTUAL_HOSTING": "FALSE",
        "CPL_AWS_CREDENTIALS_FILE": str(folder / "none"), "AWS_CONFIG_FILE": str(folder / "none")}
