// The page: takes files or text, asks the worker, and shows what it answers. What comes from a
// model is written as text, never as markup.

const at = (id) => document.getElementById(id);
const LIMIT = 1000; // findings and rows that are shown at once
const LARGEST = 2 ** 30; // bytes of a .bin that fit beside Python in the memory of a page
let files = [];
let main = "";
let weights = "beside";
let leftOut = "";
let asked = 0;
let worker;
let waiting = new Map();
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
  const name = new URL(".", document.baseURI).href; // a worker of a blob does not know the page
  worker = new Worker(source, { type: "module", name });
  worker.onerror = (event) => failed(event.message || "the worker could not start");
  worker.onmessage = ({ data }) => {
    if (data.kind === "stage") stage(data.text, "loading");
    else if (data.kind === "failed") failed(data.text);
    else if (data.kind === "ready") {
      at("check").disabled = false;
      stage(`Ready: ${data.version}`, "ready");
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

async function ask(name, values, sent) {
  const number = ++asked;
  const data = await new Promise((resolve) => {
    waiting.set(number, resolve);
    worker.postMessage({ number, name, values, files: sent });
  });
  waiting.delete(number);
  if (data.kind === "broken") {
    // the interpreter ended; a new one would be another request
    worker.terminate();
    stage("Python ended. Load the page again to go on.", "failed");
    return { error: `Python ended: ${data.text.slice(0, 300)}` };
  }
  const text = new TextDecoder().decode(data.bytes);
  if (name === "view" && !text.startsWith("{")) return { page: text };
  return { ...JSON.parse(text), text };
}

// Files

async function read(list) {
  const large = [...list].filter(({ name, size }) => name.endsWith(".bin") && size > LARGEST);
  let read;
  try {
    read = await Promise.all(
      [...list].filter((file) => !large.includes(file))
        .map(async (file) => ({ name: file.name, data: new Uint8Array(await file.arrayBuffer()) })),
    );
  } catch (error) {
    say(`The browser cannot read what you chose: ${error.message}`);
    return;
  }
  const others = read.filter(({ name }) => !name.endsWith(".bin"));
  const models = others.length > 1 ? others.filter(({ name }) => /\.(xml|onnx|json)$/i.test(name)) : others;
  if (models.length !== 1) {
    say("Choose one model, and what belongs to it: its .bin, or the data of an .onnx.");
    return;
  }
  const stem = models[0].name.replace(/\.[^.]*$/, "");
  const bins = read.filter(({ name }) => name.endsWith(".bin"));
  main = models[0].name;
  const beside = main.endsWith(".onnx") ? bins : bins.slice(0, 1).map(({ data }) => ({ name: `${stem}.bin`, data }));
  files = [models[0], ...beside, ...others.filter((file) => file !== models[0])];
  weights = bins.length || large.length === 0 && !main.endsWith(".xml") ? "beside" : "none";
  leftOut = large.length ? `, without its .bin, which is larger than ${LARGEST / 2 ** 20} MiB` : "";
  at("text").value = "";
  at("example").value = "";
  await check();
}

function pasted() {
  files = [{ name: "pasted.xml", data: new TextEncoder().encode(at("text").value) }];
  main = "pasted.xml";
  weights = "none";
  leftOut = "";
}

// The result

function say(text) {
  at("summary").textContent = text;
}

async function check() {
  if (at("check").disabled) return;
  at("check").disabled = true;
  const began = performance.now();
  const clock = setInterval(() => {
    stage(`Checking ${main}: ${((performance.now() - began) / 1000).toFixed(0)} s`, "busy");
  }, 1000);
  stage(`Checking ${main}`, "busy");
  shown.clear();
  for (const panel of document.querySelectorAll("[role=tabpanel]")) panel.replaceChildren();
  const report = await ask("validate", [main, weights], files);
  clearInterval(clock);
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  at("check").disabled = ended();
  document.querySelector("[role=tablist]").hidden = false;
  if (report.error) {
    say(report.error);
  } else {
    const { errors, warnings, infos } = report.summary;
    const note = leftOut || (weights === "none" ? ", without a .bin" : "");
    say(`${main}${note}: ${counted(errors, "error")}, ${counted(warnings, "warning")}, ${counted(infos, "info")}`);
    await findings(report.files[0]?.diagnostics ?? []);
    at("json").append(element("pre", { textContent: report.text }));
  }
  shown.add("findings").add("json");
  if (!ended()) stage(`Checked in ${seconds} s`, "ready");
  at("status").dataset.seconds = seconds;
  select("findings");
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

async function linesOf(list) {
  if (!main.endsWith(".onnx")) return new TextDecoder().decode(files[0].data).split("\n");
  return list.length ? (await ask("listing", [main])).lines ?? [] : [];
}

async function findings(list) {
  const lines = await linesOf(list);
  if (!list.length) at("findings").append(element("p", { textContent: "Nothing is wrong." }));
  for (const finding of list.slice(0, LIMIT)) at("findings").append(card(finding, lines));
  if (list.length > LIMIT) more("findings", list.length);
}

function more(id, total) {
  at(id).append(element("p", { className: "faint", textContent: `${LIMIT} of ${total} are shown.` }));
}

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

const PANELS = {
  async fix(panel) {
    const answers = [await ask("fix", [main, false]), await ask("fix", [main, true])];
    const [safe, likeliest] = answers;
    if (safe.error) return panel.append(element("p", { textContent: safe.error }));
    const titles = ["What has one right answer", "With the likeliest of several"];
    answers.forEach((answer, index) => {
      if (index && likeliest.diff === safe.diff) return;
      panel.append(element("h3", { textContent: `${titles[index]}: ${counted(answer.fixed.length, "finding")} corrected, ${answer.left} left` }));
      panel.append(answer.diff ? coloured(answer.diff) : element("p", { textContent: "No change." }));
      if (answer.diff) panel.append(download(answer.text));
    });
  },
  async ports(panel) {
    const answer = await ask("infer", [main]);
    if (answer.error) return panel.append(element("p", { textContent: answer.error }));
    const body = element("tbody");
    for (const layer of answer.layers.slice(0, LIMIT)) {
      for (const output of layer.outputs) {
        const cells = [layer.id, layer.type, layer.name, output.port, output.element_type, output.shape];
        body.append(element("tr", {}, ...cells.map((text, index) => element("td", { textContent: text, className: index === 5 ? "code" : "" }))));
      }
    }
    const heads = ["Id", "Type", "Name", "Port", "Element type", "Shape"];
    const head = element("thead", {}, element("tr", {}, ...heads.map((textContent) => element("th", { textContent, scope: "col" }))));
    panel.append(element("table", {}, head, body));
    if (answer.layers.length > LIMIT) more("ports", answer.layers.length);
  },
  async graph(panel) {
    const answer = await ask("view", [main]);
    if (answer.error) return panel.append(element("p", { textContent: answer.error }));
    const frame = element("iframe", { title: `Graph of ${main}`, srcdoc: answer.page });
    frame.setAttribute("sandbox", "allow-scripts");
    panel.append(frame);
  },
};

function coloured(diff) {
  const kinds = { "+": "added", "-": "removed" };
  return element("pre", {}, ...diff.trimEnd().split("\n").map((line, index) =>
    index > 1 && kinds[line[0]] ? element("span", { className: kinds[line[0]], textContent: line }) : `${line}\n`));
}

function download(text) {
  const link = element("a", { className: "button", textContent: "Save the corrected file", download: main });
  link.href = URL.createObjectURL(new Blob([text], { type: "text/xml" }));
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
  if (shown.has(id) || !main || ended()) return;
  shown.add(id);
  stage("Working", "busy");
  const panel = at(id);
  panel.setAttribute("aria-busy", "true");
  await PANELS[id](panel);
  panel.removeAttribute("aria-busy");
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

// What a person does

at("files").onchange = async ({ target }) => {
  const chosen = [...target.files];
  target.value = ""; // the same file can be chosen again, after it has changed
  await read(chosen);
};
at("check").onclick = () => {
  if (at("text").value.trim()) pasted();
  if (main) check();
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
  read(event.dataTransfer.files);
};

const examples = JSON.parse(at("examples").textContent);
at("example").append(element("option", { value: "", textContent: "choose one" }),
  ...Object.keys(examples).map((name) => element("option", { value: name, textContent: name })));
at("example").onchange = (event) => {
  if (!event.target.value) return;
  at("text").value = examples[event.target.value];
  at("check").click();
};

start();
