// Starts Python with irshape, for the worker of the page and for the tests in Node.

export async function start(loadPyodide, options, archives, tell = () => {}) {
  tell("Starting Python");
  const python = await loadPyodide(options);
  tell("Unpacking irshape");
  for (const archive of archives) python.unpackArchive(archive, "zip", { extractDir: "/irshape" });
  python.runPython("import sys; sys.path.insert(0, '/irshape')");
  const doors = python.pyimport("playground");
  const call = (name, ...values) => {
    const bytes = doors.called(name, ...values);
    const copy = bytes.toJs();
    bytes.destroy();
    return copy;
  };
  return {
    version: python.runPython("import irshape, platform; f'irshape {irshape.__version__}, Python {platform.python_version()}'"),
    put(files) {
      files.forEach(({ name, data }, index) => doors.put(name, data, index === 0));
    },
    call,
  };
}
