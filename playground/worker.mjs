// Runs Python in a worker, so the page stays responsive while irshape checks a model.

const base = self.location.protocol === "blob:" ? self.name : new URL(".", self.location).href;

function withoutNetwork() {
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport"]) {
    self[name] = undefined;
  }
}

const tell = (text) => self.postMessage({ kind: "stage", text });

async function prepared() {
  tell("Loading Python");
  const fetched = (name) => fetch(base + name).then((answer) => answer.arrayBuffer());
  const [{ loadPyodide }, { start }, ...archives] = await Promise.all([
    import(`${base}pyodide/pyodide.mjs`),
    import(`${base}engine.mjs`),
    fetched("irshape.zip"),
    fetched("onnx.zip"),
  ]);
  const engine = await start(loadPyodide, { indexURL: `${base}pyodide/` }, archives, tell);
  withoutNetwork();
  self.postMessage({ kind: "ready", version: engine.version });
  return engine;
}

const engine = prepared();
engine.catch((error) => self.postMessage({ kind: "failed", text: String(error) }));

self.onmessage = async ({ data: { number, files, name, values } }) => {
  const python = await engine;
  try {
    if (files) python.put(files);
    const bytes = python.call(name, ...values);
    self.postMessage({ kind: "answer", number, bytes }, [bytes.buffer]);
  } catch (error) {
    self.postMessage({ kind: "broken", number, text: String(error) });
  }
};
