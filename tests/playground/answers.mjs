// usage: node answers.mjs PAGE < REQUESTS
//
// Asks the Python of the playground in the folder PAGE, without a browser. Each line of REQUESTS is
// JSON: {"name", "values", "files": [{"name", "path"}]}. For each, a line of JSON is printed:
// {"text", "seconds"}, or {"broken"} if the interpreter ended; then a new one goes on.

import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const page = path.resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(path.join(page, "pyodide", "pyodide.mjs")));
const { start } = await import(pathToFileURL(path.join(page, "engine.mjs")));
const bytes = (file) => new Uint8Array(fs.readFileSync(file));
const fresh = () => start(loadPyodide, { indexURL: path.join(page, "pyodide") + path.sep }, ["irshape.zip", "onnx.zip"].map((name) => bytes(path.join(page, name))));

let engine = await fresh();
for await (const line of createInterface({ input: process.stdin })) {
  const { name, values, files } = JSON.parse(line);
  let answer;
  const began = performance.now();
  try {
    engine.put(files.map((file) => ({ name: file.name, data: bytes(file.path) })));
    const text = new TextDecoder().decode(engine.call(name, ...values));
    answer = { text, seconds: (performance.now() - began) / 1000 };
  } catch (error) {
    answer = { broken: String(error).slice(0, 300) };
    engine = await fresh();
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
