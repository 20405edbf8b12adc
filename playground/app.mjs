// The page: reads files or pasted text, lets the worker check them, and shows the results. Texts
// from a model are inserted as text, never as markup.

const at = (id) => document.getElementById(id);
const LIMIT = 1000; // the maximum number of findings and rows on the page
const LARGEST = 2 ** 30; // bytes of a .bin that fit beside Python in the memory of a page
let given; // the model that the page shows: its name, its files, and a note about its weights
let choices = 0; // how often a model was chosen: the user may choose again before files are read
let asked = 0;
let worker;
const waiting = new Map();
const shown = new Set();

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// The worker

const script = `import ${JSON.stringify(new URL("worker.mjs", document.baseURI).href)};`;
const source = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));

function start() {
  const name = new URL(".", document.baseURI).href; // a worker from a blob does not know this URL
  worker = new Worker(source, { type: "module", name });
  worker.onerror = (event) => failed(event.message || "the worker could not start");
  worker.onmessage = ({ data }) => {
    if (data.kind === "stage") stage(data.text, "loading");
    else if (data.kind === "failed") failed(data.text);
    else if (data.kind === "ready") {
      at("check").disabled = false;
      if (!given) stage(`Ready: ${data.version}`, "ready");
    } else waiting.get(data.number)?.(data);
  };
}

function failed(text) {
  stage(`Python could not be loaded: ${text}`, "failed");
}

const ended = () => at("status").dataset.state === "failed";

function stage(text, state) {
  at("stage").textContent = text;
  at("status").dataset.state = state;
  at("progress").hidden = state !== "loading" && state !== "busy";
}

/** Calls a Python function in the worker. Returns its result as text. */
async function ask(name, values, sent) {
  const number = ++asked;
  const data = await new Promise((resolve) => {
    waiting.set(number, resolve);
    worker.postMessage({ number, name, values, files: sent });
  });
  waiting.delete(number);
  if (data.kind === "broken") {
    // Python ended; to start it again, the page would have to send requests
    worker.terminate();
    at("check").disabled = true;
    stage("Python ended. Reload the page to continue.", "failed");
    return JSON.stringify({ error: `Python ended: ${data.text.slice(0, 300)}` });
  }
  return new TextDecoder().decode(data.bytes);
}

const parsed = async (...question) => JSON.parse(await ask(...question));

// Files

async function read(list) {
  const choice = choose();
  const large = list.filter(({ name, size }) => name.endsWith(".bin") && size > LARGEST);
  let read;
  try {
    read = await Promise.all(
      list.filter((file) => !large.includes(file))
        .map(async (file) => ({ name: file.name, data: new Uint8Array(await file.arrayBuffer()) })),
    );
  } catch (error) {
    if (choice === choices) say(`The browser cannot read these files: ${error.message}`);
    return;
  }
  if (choice !== choices) return;
  at("text").value = "";
  at("example").value = "";
  const others = read.filter(({ name }) => !name.endsWith(".bin"));
  const models = others.length > 1 ? others.filter(({ name }) => /\.(xml|onnx|json)$/i.test(name)) : others;
  if (models.length !== 1) {
    say("Choose one model, with its .bin or, for an .onnx, its external data.");
    return;
  }
  const { name } = models[0];
  const stem = name.replace(/\.[^.]*$/, "");
  const bins = read.filter(({ name }) => name.endsWith(".bin"));
  const beside = name.endsWith(".onnx") ? bins : bins.slice(0, 1).map(({ data }) => ({ name: `${stem}.bin`, data }));
  const weights = bins.length || large.length === 0 && !name.endsWith(".xml") ? "beside" : "none";
  await check({
    name,
    weights,
    files: [models[0], ...beside, ...others.filter((file) => file !== models[0])],
    note: large.length
      ? `, without its .bin, which is larger than ${LARGEST / 2 ** 20} MiB`
      : weights === "none" ? ", without a .bin" : "",
  });
}

function checkText() {
  choose();
  const data = new TextEncoder().encode(at("text").value);
  return check({ name: "pasted.xml", weights: "none", files: [{ name: "pasted.xml", data }], note: ", without a .bin" });
}

// The result

function say(text) {
  at("summary").textContent = text;
}

/** Clears the page, since the user has chosen another model. */
function choose() {
  given = undefined;
  clear();
  return ++choices;
}

function clear() {
  shown.clear();
  say("Nothing has been checked yet.");
  document.querySelector("[role=tablist]").hidden = true;
  for (const panel of document.querySelectorAll("[role=tabpanel]")) {
    panel.replaceChildren();
    panel.hidden = true;
  }
}

async function check(model) {
  if (ended()) return;
  clear();
  given = model;
  say(`Checking ${model.name}`);
  const began = performance.now();
  const clock = setInterval(() => {
    if (given === model && at("status").dataset.state === "busy") {
      stage(`Checking ${model.name}: ${((performance.now() - began) / 1000).toFixed(0)} s`, "busy");
    }
  }, 1000);
  if (at("status").dataset.state !== "loading") stage(`Checking ${model.name}`, "busy");
  const text = await ask("validate", [model.name, model.weights], model.files);
  const report = JSON.parse(text);
  clearInterval(clock);
  const lines = report.error ? [] : await linesOf(model, report);
  if (given !== model) return;
  if (report.error) {
    say(report.error);
  } else {
    const { errors, warnings, infos } = report.summary;
    say(`${model.name}${model.note}: ${counted(errors, "error")}, ${counted(warnings, "warning")}, ${counted(infos, "info")}`);
    findings(report.files[0]?.diagnostics ?? [], lines);
    at("json").append(element("pre", { textContent: text }));
    document.querySelector("[role=tablist]").hidden = false;
    shown.add("findings").add("json");
    await select("findings");
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  if (!ended()) stage(`Checked in ${seconds} s`, "ready");
  at("status").dataset.seconds = seconds;
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

async function linesOf({ name, files }, report) {
  if (!report.files[0]?.diagnostics.length) return [];
  if (!name.endsWith(".onnx")) return new TextDecoder().decode(files[0].data).split("\n");
  return (await parsed("listing", [name])).lines ?? [];
}

function findings(list, lines) {
  if (!list.length) at("findings").append(element("p", { textContent: "Nothing is wrong." }));
  for (const finding of list.slice(0, LIMIT)) at("findings").append(card(finding, lines));
  if (list.length > LIMIT) at("findings").append(more(list.length));
}

const more = (total) => element("p", { className: "faint", textContent: `${LIMIT} of ${total} are shown.` });
const paragraph = (textContent) => element("p", { textContent });

function card(finding, lines) {
  const { severity, code, rule, message, line, column, layer, port, help, fixes = [] } = finding;
  const place = [`line ${line}, column ${column}`];
  if (layer) place.push(`${layer.type} '${layer.name}' (id ${layer.id})`);
  if (port) place.push(`${port.direction} port ${port.id}`);
  const made = element(
    "article",
    { className: `finding ${severity}` },
    element("p", {}, element("span", { className: "severity", textContent: severity }), ` ${code} ${rule}`),
    element("p", { textContent: message }),
    element("p", { className: "place", textContent: place.join(" · ") }),
  );
  const text = lines[line - 1];
  if (text !== undefined) {
    const from = Math.max(0, Math.min(column - 1, text.length) - 60);
    const excerpt = text.slice(from, from + 160);
    const pointer = " ".repeat(Math.max(0, column - 1 - from)) + "^";
    const margin = `${line} | `;
    made.append(element("pre", {}, `${margin}${excerpt.replaceAll("\t", " ")}\n${" ".repeat(margin.length)}`,
      element("span", { className: "mark", textContent: pointer })));
  }
  if (help) made.append(element("p", {}, element("strong", { textContent: "Help: " }), help));
  if (fixes.length) {
    made.append(element("p", { textContent: fixes[0].safe ? "Correction:" : "Possible corrections:" }),
      element("ul", {}, ...fixes.map((fix) => element("li", { textContent: fix.change }))));
  }
  return made;
}

/** The contents of the other tabs. The page asks for them when the user opens the tab. */
const PANELS = {
  async fix(name) {
    const answers = [await parsed("fix", [name, false]), await parsed("fix", [name, true])];
    const [safe, likeliest] = answers;
    if (safe.error) return [paragraph(safe.error)];
    const titles = ["Safe fixes", "With unsafe fixes"];
    return answers.slice(0, likeliest.diff === safe.diff ? 1 : 2).flatMap((answer, index) => [
      element("h3", { textContent: `${titles[index]}: ${counted(answer.fixed.length, "finding")} corrected, ${answer.left} left` }),
      ...(answer.diff ? [coloured(answer.diff), download(name, answer.file)] : [paragraph("No change.")]),
    ]);
  },
  async ports(name) {
    const answer = await parsed("infer", [name]);
    if (answer.error) return [paragraph(answer.error)];
    const body = element("tbody");
    for (const layer of answer.layers.slice(0, LIMIT)) {
      for (const output of layer.outputs) {
        const cells = [layer.id, layer.type, layer.name, output.port, output.element_type, output.shape];
        body.append(element("tr", {}, ...cells.map((text, index) => element("td", { textContent: text, className: index === 5 ? "code" : "" }))));
      }
    }
    const heads = ["Id", "Type", "Name", "Port", "Element type", "Shape"];
    const head = element("thead", {}, element("tr", {}, ...heads.map((textContent) => element("th", { textContent, scope: "col" }))));
    return [element("table", {}, head, body), ...(answer.layers.length > LIMIT ? [more(answer.layers.length)] : [])];
  },
  async graph(name) {
    const page = await ask("view", [name]);
    if (page.startsWith("{")) return [paragraph(JSON.parse(page).error)];
    const frame = element("iframe", { title: `Graph of ${name}`, srcdoc: page });
    frame.setAttribute("sandbox", "allow-scripts");
    return [frame];
  },
};

function coloured(diff) {
  const kinds = { "+": "added", "-": "removed" };
  return element("pre", {}, ...diff.trimEnd().split("\n").map((line, index) =>
    index > 1 && kinds[line[0]] ? element("span", { className: kinds[line[0]], textContent: line }) : `${line}\n`));
}

function download(name, file) {
  const link = element("a", { className: "button", textContent: "Save the corrected file", download: name });
  const bytes = Uint8Array.from(atob(file), (each) => each.charCodeAt(0));
  link.href = URL.createObjectURL(new Blob([bytes], { type: "text/xml" }));
  return link;
}

// The tabs

const tabs = [...document.querySelectorAll("[role=tab]")];

async function select(id) {
  for (const tab of tabs) {
    const chosen = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    at(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (shown.has(id) || !given || ended()) return;
  shown.add(id);
  stage("Working", "busy");
  const model = given;
  const panel = at(id);
  panel.setAttribute("aria-busy", "true");
  const content = await PANELS[id](model.name);
  panel.removeAttribute("aria-busy");
  if (given !== model) return;
  panel.replaceChildren(...content);
  if (!ended()) stage("Done", "ready");
}

for (const [index, tab] of tabs.entries()) {
  tab.onclick = () => select(tab.getAttribute("aria-controls"));
  tab.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(index + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  };
}

// Files, text and examples

at("files").onchange = async ({ target }) => {
  const chosen = [...target.files];
  target.value = ""; // the same file can be chosen again, after it has changed
  await read(chosen);
};
at("text").oninput = choose;
at("check").onclick = () => {
  if (at("text").value.trim()) checkText();
  else if (given) check({ ...given });
};
const drop = at("drop");
document.ondragover = (event) => {
  event.preventDefault();
  drop.classList.add("over");
};
document.ondragleave = () => drop.classList.remove("over");
document.ondrop = (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  read([...event.dataTransfer.files]);
};

const examples = JSON.parse(at("examples").textContent);
at("example").append(element("option", { value: "", textContent: "choose one" }),
  ...Object.keys(examples).map((name) => element("option", { value: name, textContent: name })));
at("example").onchange = (event) => {
  if (!event.target.value) return;
  at("text").value = examples[event.target.value];
  checkText();
};

start();
