// Reads arrays with zarrita and writes one JSON object, by the names of the arrays:
//
//   node read.mjs STORE ARRAY…   ->   {"a": {"shape", "dtype", "attributes", "values"}, …}
//
// `values` are in C order: texts as they are, numbers as the base64 of their little-endian bytes.
import { resolve } from "node:path";
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

// zarrita keeps the order of v2's F arrays, and leaves it to the strides to say so.
function inCOrder({ data, shape, stride }) {
  const values = [];
  const walk = (axis, position) => {
    if (axis === shape.length) {
      values.push(data.get ? data.get(position) : data[position]);
      return;
    }
    for (let i = 0; i < shape[axis]; i++) walk(axis + 1, position + i * stride[axis]);
  };
  walk(0, 0);
  return values;
}

async function read(root, name) {
  const array = await zarr.open(root.resolve(name), { kind: "array" });
  const chunk = await zarr.get(array);
  const isScalar = array.shape.length === 0;
  const values = isScalar ? [chunk] : inCOrder(chunk);
  const isText = typeof values[0] === "string";
  const { shape, dtype, attrs: attributes } = array;
  if (isText) return { shape, dtype, attributes, values };
  const type = (await array.getChunk(shape.map(() => 0))).data.constructor;
  const bytes = new Uint8Array(type.from ? type.from(values).buffer : Uint8Array.from(values));
  return { shape, dtype, attributes, values: Buffer.from(bytes).toString("base64") };
}

const [store, ...names] = process.argv.slice(2);
const root = zarr.root(new FileSystemStore(resolve(store)));
const arrays = {};
// One after the other: codecs have memory of their own.
for (const name of names) arrays[name] = await read(root, name);
process.stdout.write(JSON.stringify(arrays));
