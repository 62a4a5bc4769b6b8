// Opens Icechunk repositories with the reference implementation. Each line of the input is a JSON object
// with `call` and the arguments of that function of `calls`; each line of the output is {"result": …} or
// {"error": "…"}. `at` is a folder, or {bucket, prefix, endpoint} of an S3 server.
import { createInterface } from "node:readline";
import { Repository, Storage } from "@earthmover/icechunk";
import * as zarr from "zarrita";

async function storage(at) {
  if (typeof at === "string") return Storage.newLocalFilesystem(at);
  const keys = { accessKeyId: "key", secretAccessKey: "secret" };
  return Storage.newS3(at.bucket, at.prefix, { type: "Static", field0: keys }, {
    region: "us-east-1", endpointUrl: at.endpoint, allowHttp: true, forcePathStyle: true });
}

// `allowed`: the prefixes of containers whose virtual chunks may be read.
const open = async (at, allowed = []) => Repository.open(
  await storage(at), null, Object.fromEntries(allowed.map((prefix) => [prefix, null])));

// An Icechunk store as zarrita sees stores.
const reader = (store) => ({
  get: async (key) => (await store.get(key.slice(1))) ?? undefined,
  getRange: async (key, range) => (await store.getRange(key.slice(1), range)) ?? undefined,
});

function inCOrder({ data, shape, stride }) {
  const values = [];
  const walk = (axis, position) => {
    if (axis === shape.length) return values.push(data[position]);
    for (let i = 0; i < shape[axis]; i++) walk(axis + 1, position + i * stride[axis]);
  };
  walk(0, 0);
  return values;
}

async function values(store, path) {
  const array = await zarr.open(zarr.root(reader(store)).resolve(path), { kind: "array" });
  if (array.shape.includes(0)) return "";
  const read = await zarr.get(array);
  const isScalar = array.shape.length === 0;
  const type = isScalar ? (await array.getChunk([])).data.constructor : read.data.constructor;
  const bytes = new Uint8Array(type.from(isScalar ? [read] : inCOrder(read)).buffer);
  return Buffer.from(bytes).toString("base64");
}

// `of`: "values" of arrays, or "bytes" of all keys.
async function contents(repository, version, of) {
  const { store, snapshotId } = await repository.readonlySession(version);
  const keys = (await store.list()).sort();
  const found = { snapshot: snapshotId, keys, documents: {}, values: {}, bytes: {} };
  if (of === "bytes")
    for (const key of keys) found.bytes[key] = Buffer.from(await store.get(key)).toString("base64");
  if (of !== "values") return found;
  for (const key of keys.filter((name) => /(^|\/)zarr\.json$/.test(name))) {
    const path = `/${key.replace(/\/?zarr\.json$/, "")}`;
    const document = JSON.parse(Buffer.from(await store.get(key)).toString());
    found.documents[path] = document;
    if (document.node_type === "array") found.values[path] = await values(store, path);
  }
  return found;
}

const exists = (lookup) => lookup().then(() => true, () => false);

async function changed(at, branch, changes) {
  const isMove = changes.some(([action]) => action === "move");
  const repository = await open(at);
  const session = await repository[isMove ? "rearrangeSession" : "writableSession"](branch);
  for (const [action, ...words] of changes) {
    if (action === "set") await session.store.set(words[0], Buffer.from(words[1], "base64"));
    else if (action === "delete") await session.store.delete(words[0]);
    else if (action === "delete_folder") await session.store.deleteDir(words[0]);
    else if (action === "move") await session.moveNode(`/${words[0]}`, `/${words[1]}`);
    else throw new Error(`unknown change ${action}`);
  }
  return session;
}

const calls = {
  async create({ at, format, config }) {
    await Repository.create(await storage(at), config ?? null, format);
  },

  // All refs, their ancestry, and what they hold.
  async describe({ at, of = "values", history = false, allowed }) {
    const repository = await open(at, allowed);
    const branches = {}, tags = {}, ancestry = {}, snapshots = {};
    for (const name of await repository.listBranches()) {
      // In format 1 it lists folders, in which a killed writer may have left no branch.
      if (!(await exists(() => repository.lookupBranch(name)))) continue;
      branches[name] = await contents(repository, { branch: name }, of);
      ancestry[name] = await repository.ancestry({ branch: name });
    }
    for (const name of await repository.listTags())
      if (await exists(() => repository.lookupTag(name)))
        tags[name] = await contents(repository, { tag: name }, of);
    if (history)
      for (const { id } of Object.values(ancestry).flat())
        snapshots[id] ??= await contents(repository, { snapshotId: id }, of);
    return { format: repository.specVersion, branches, tags, ancestry, snapshots };
  },

  async refs({ at }) {
    const repository = await open(at);
    const found = { branches: {}, tags: {} };
    for (const name of await repository.listBranches())
      found.branches[name] = await repository.lookupBranch(name);
    for (const name of await repository.listTags())
      found.tags[name] = await repository.lookupTag(name);
    return found;
  },

  async ancestry({ at, branch }) {
    return (await open(at)).ancestry({ branch });
  },

  async diff({ at, from, to }) {
    return (await open(at)).diff({ fromSnapshotId: from, toSnapshotId: to });
  },

  async manifests({ at, snapshot }) {
    return (await open(at)).lookupManifestFiles(snapshot);
  },

  async commit({ at, branch, changes, message = "by the reference", amend = false }) {
    const session = await changed(at, branch, changes);
    return amend ? session.amend(message) : session.commit(message);
  },

  // A session stays open between begin() and finish(), while others commit.
  async begin({ at, branch, changes }) {
    sessions.push(await changed(at, branch, changes));
    return sessions.length - 1;
  },
  async finish({ session, message = "by the reference", rebase = true }) {
    if (rebase) await sessions[session].rebase();
    return sessions[session].commit(message);
  },

  // Writes all chunks of a new array from this process, for comparisons of speed.
  async write_chunks({ at, document, count, content }) {
    const repository = await open(at);
    const session = await repository.writableSession("main");
    const value = Buffer.from(content, "base64");
    await session.store.set("a/zarr.json", Buffer.from(JSON.stringify(document)));
    const start = performance.now();
    for (let i = 0; i < count; i += 500)
      await Promise.all(Array.from({ length: Math.min(500, count - i) },
        (_, j) => session.store.set(`a/c/${i + j}`, value)));
    const written = performance.now();
    await session.commit("chunks");
    const seconds = (from, to) => (to - from) / 1000;
    return { write: seconds(start, written), commit: seconds(written, performance.now()),
      memory: process.memoryUsage.rss() };
  },

  async create_branch({ at, name, snapshot }) { await (await open(at)).createBranch(name, snapshot); },
  async delete_branch({ at, name }) { await (await open(at)).deleteBranch(name); },
  async reset_branch({ at, name, snapshot }) { await (await open(at)).resetBranch(name, snapshot); },
  async create_tag({ at, name, snapshot }) { await (await open(at)).createTag(name, snapshot); },
  async delete_tag({ at, name }) { await (await open(at)).deleteTag(name); },
  ping() { return "pong"; },
};
const sessions = [];

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const { call, ...words } = JSON.parse(line);
    answer = { result: (await calls[call](words)) ?? null };
  } catch (error) {
    answer = { error: String(error.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
