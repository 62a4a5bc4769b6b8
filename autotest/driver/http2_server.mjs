// A web server of HTTP/2 over TLS for tests: files of a folder, also in part. Counts connections of
// HTTP/2, their streams, and all connections, also those that send nothing; programs ask for the
// counts with HTTP/1.1. Prints its port.
//
// usage: node http2_server.mjs ROOT KEY CERTIFICATE
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { join } from "node:path";

const [root, key, certificate] = process.argv.slice(2);
const counts = { connections: 0, streams: 0, accepted: 0 };
const server = createSecureServer({
  key: readFileSync(key),
  cert: readFileSync(certificate),
  allowHTTP1: true,
});

function read(path) {
  try {
    return readFileSync(join(root, path));
  } catch {
    return null;
  }
}

server.on("connection", () => counts.accepted++);
server.on("session", () => counts.connections++);
server.on("request", (request, response) => {
  if (request.url === "/counts") {
    response.end(JSON.stringify(counts));
    return;
  }
  if (request.httpVersionMajor === 2) counts.streams++;
  answer(request, response);
});

function answer(request, response) {
  const content = read(request.url.split("?")[0]);
  if (content === null) {
    response.writeHead(404);
    response.end();
    return;
  }
  const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
  if (!range) {
    response.writeHead(200, { "content-length": content.length });
    response.end(content);
    return;
  }
  const [, from, to] = range;
  const first = from === "" ? Math.max(0, content.length - Number(to)) : Number(from);
  const last = from === "" || to === "" ? content.length - 1 : Number(to);
  const part = content.subarray(first, last + 1);
  response.writeHead(206, {
    "content-range": `bytes ${first}-${first + part.length - 1}/${content.length}`,
    "content-length": part.length,
  });
  response.end(part);
}

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
