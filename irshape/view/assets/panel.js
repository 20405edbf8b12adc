// The side panel. It shows a layer, a group, the findings, the model, an overlay, or the changes.

function section(title, children, closed) {
  const kept = children.filter(Boolean);
  if (!kept.length) return null;
  return element("details", { class: "section", open: !closed }, [element("summary", { text: title }), ...kept]);
}

function table(rows, head) {
  if (!rows.length) return null;
  const cells = function (row, tag) {
    return element("tr", {}, row.map(function (cell) {
      return cell instanceof Node ? element(tag, {}, [cell]) : element(tag, { text: cell });
    }));
  };
  return element("div", { class: "scroll" }, [element("table", {}, [
    head ? element("thead", {}, [cells(head, "th")]) : null,
    element("tbody", {}, some(rows, function (row) { return cells(row, "td"); })),
  ])]);
}

class Panel {
  constructor(page) {
    this.page = page;
  }

  layer(net, layer) {
    const page = this.page;
    const constants = layer.extra.constant;
    return [
      element("header", { class: "what" }, [
        element("h2", { text: layer.type || "no type", tabindex: -1 }),
        element("p", { class: "code name", text: layer.name }),
        element("p", { class: "soft", text: ["id " + layer.key, layer.kind.opset, layer.line ? "line " + layer.line : ""].filter(Boolean).join(" · ") }),
        element("div", { class: "row" }, [
          button("Show", function () { page.selectLayer(net, layer, true); }, { title: "Show it in the graph" }),
          button("Link", function () { page.links.copy(page.links.to(net, layer)); }, { title: "Copy a link to this layer" }),
          button("Above", function () { page.trace(net, layer, true); }, { title: "Highlight all layers on which this layer depends" }),
          button("Below", function () { page.trace(net, layer, false); }, { title: "Highlight all layers that depend on this layer" }),
          button("Path to …", function () { page.beginPath(net, layer); }, { title: "Show the path from this layer to another one" }),
        ]),
      ]),
      layer.findings.length ? element("div", { class: "list" }, some(layer.findings, (finding) => this.finding(net, finding, false))) : null,
      this.changes(net, layer),
      this.overlays(net, layer),
      constants ? section("Constant", [this.constant(net, layer)]) : null,
      section("Inputs", this.inputs(net, layer)),
      section("Outputs", this.outputs(net, layer)),
      section("Attributes", [table(net.attributesOf(layer))]),
      section("Port map", [layer.extra.portMaps ? table(layer.extra.portMaps.map(function (row) { return [row[0], row[1], row.slice(2).join(" ")]; })) : null]),
      section("rt_info", [tree(layer.extra.rtInfo)], true),
      this.xml(net, layer),
      this.operation(layer),
    ];
  }

  link(net, layer, text) {
    return button(text || nodeName(layer.node), () => this.page.selectLayer(net, layer, true), { class: "link", title: visible(layer.name) });
  }

  inputs(net, layer) {
    return some(layer.inputs, (input, index) => {
      const source = input.layer < 0 ? null : net.layers[input.layer];
      const output = source && source.outputs[input.output];
      return element("div", { class: "port" }, [
        element("b", { text: net.inputName(layer, index) }),
        element("small", { text: "port " + input.port }),
        output ? this.tensor(net, output, Boolean(source.extra.constant)) : null,
        input.declared ? element("p", { class: output ? "code clash" : "code", text: (output ? "this port declares " : "") + input.declared }) : null,
        source ? element("p", { class: "soft" }, ["from ", this.link(net, source)]) : element("p", { class: "soft", text: "nothing feeds it" }),
        source && source.extra.constant ? this.constant(net, source) : null,
      ]);
    });
  }

  outputs(net, layer) {
    return some(layer.outputs, (output, index) => element("div", { class: "port" }, [
      element("b", { text: layer.outputs.length > 1 ? "output " + index : "output" }),
      element("small", { text: "port " + output.port }),
      this.tensor(net, output),
      output.names ? element("p", { class: "soft" }, ["names ", element("code", { text: output.names })]) : null,
      output.users.length ? this.takers(net, output.users) : null,
    ]));
  }

  takers(net, users) {
    const links = users.slice(0, 40).flatMap(([user], at) => [at ? ", " : "to ", this.link(net, net.layers[user])]);
    return element("p", { class: "soft" }, [...links, users.length > 40 ? ", …" : ""]);
  }

  tensor(net, output, isConstant) {
    const rows = [];
    if (output.clash) {
      rows.push(element("p", { class: "code clash" }, [element("span", { text: "declared " + output.declared })]));
      rows.push(element("p", { class: "code", text: "inferred " + output.inferred }));
    } else if (output.inferred) {
      rows.push(element("p", { class: "code" + (output.dynamic ? " dynamic" : ""), text: output.inferred }));
      if (output.declared && output.declared !== output.inferred)
        rows.push(element("p", { class: "code soft", text: "declared " + output.declared }));
    } else {
      rows.push(element("p", { class: "code" + (output.dynamic ? " dynamic" : ""), text: output.declared || "not known" }));
      rows.push(element("p", { class: "soft", text: output.declared ? "declared, not inferred" : "neither declared nor inferred" }));
    }
    if (output.symbols) rows.push(element("p", { class: "code symbols", text: "= " + output.symbols }));
    if (output.value && !isConstant) rows.push(element("p", { class: "code soft", text: "value " + output.value }));
    return element("div", { class: "tensor" }, rows);
  }

  constant(net, layer) {
    const constant = layer.extra.constant;
    const about = [constant.tensor + ", " + counted(constant.elements, "element") + ", " + counted(constant.bytes, "byte")];
    const value = constantValue(constant);
    if (value) about.push("values " + value);
    else if (constant.begin) about.push("begins " + constant.begin.join(", ") + ", …");
    const box = element("div", { class: "constant" }, about.map(function (text) { return element("p", { class: "code", text }); }));
    if (constant.range && constant.elements > 16) box.append(...spreadOf(constant.range, constant.histogram, constant.sampled));
    const all = element("div", { class: "all-values" });
    box.append(all);
    this.offerValues(net, layer, all);
    return box;
  }

  /** Adds buttons that list and save all values of a constant, or a field to open the .bin with them. */
  offerValues(net, layer, box) {
    const constant = layer.extra.constant;
    const act = async (use) => {
      try {
        use(await elementsOf(net, constant));
      } catch (problem) {
        box.append(element("p", { class: "clash", text: problem.message }));
      }
    };
    const list = (held) => {
      const parts = [element("pre", { class: "code values", tabindex: 0, "aria-label": "All values", text: "" })];
      parts[0].textContent = listedElements(held, shapeOf(constant));
      if (held.note) parts.unshift(element("p", { class: "soft", text: held.note }));
      const told = constant.range ? null : spread(held.elements);
      if (told && constant.elements > 16) parts.unshift(...spreadOf(told.range, told.histogram, 0));
      box.replaceChildren(save, ...parts);
    };
    const save = button("Save as .npy", function () {
      act(function (held) { download(npy(held, shapeOf(constant)), fileStem(layer.name || "constant") + ".npy"); });
    }, { class: "save-npy", title: "An array that numpy.load reads" });
    if (constant.data || net.bin) box.replaceChildren(element("div", { class: "row" }, [constant.elements > 16 ? button("All values", function () { act(list); }) : null, save]));
    else if (constant.offset !== undefined) box.replaceChildren(this.binChooser(net, () => this.offerValues(net, layer, box)));
  }

  binChooser(net, then) {
    const input = element("input", { type: "file", accept: ".bin", class: "bin", "aria-label": "Open the .bin to see all values", onchange: () => {
      net.bin = input.files[0] || null;
      if (net.bin) then();
    } });
    return element("label", { class: "chooser soft" }, ["The page does not contain these values. Open the .bin to see them; nothing leaves this page. ", input]);
  }

  /** Shows the tensors of an edge, with their producers and consumers. */
  edge(net, edge) {
    const tensors = Array.from(edge.tensors.values());
    return [
      element("header", { class: "what" }, [
        element("h2", { text: counted(tensors.length, "tensor"), tabindex: -1 }),
        element("p", { class: "soft", text: "from " + nodeName(edge.from) + " to " + nodeName(edge.to) }),
      ]),
      ...some(tensors, ({ source, output }) => {
        const port = source.outputs[output];
        const takers = port.users.filter(function ([user]) { return net.contains(edge.to, net.shownFor(net.layers[user]).node); });
        return element("div", { class: "port" }, [
          element("p", { class: "soft" }, ["from ", this.link(net, source)]),
          this.tensor(net, port),
          port.names ? element("p", { class: "soft" }, ["names ", element("code", { text: port.names })]) : null,
          this.takers(net, takers),
        ]);
      }),
    ];
  }

  finding(net, finding, linked) {
    const page = this.page;
    const head = [
      element("span", { class: "chip " + finding.severity, text: finding.severity }),
      element("b", { text: finding.code }), element("span", { class: "soft", text: finding.rule }),
    ];
    const parts = [
      element("div", { class: "row" }, head),
      linked && finding.layer ? element("p", { class: "soft", text: finding.layer.type + " " + finding.layer.name + " · line " + finding.line }) : null,
      linked && !finding.layer ? element("p", { class: "soft", text: "the file · line " + finding.line }) : null,
      element("p", { class: "message", text: finding.message }),
      finding.port && !linked ? element("p", { class: "soft", text: "at " + finding.port }) : null,
      finding.help ? element("p", { class: "soft", text: finding.help }) : null,
      finding.fixes && !linked && !(finding.help || "").includes(finding.fixes[0]) ? element("p", { class: "soft", text: "change: " + finding.fixes[0] }) : null,
    ];
    if (!linked || !finding.layer) return element("div", { class: "finding " + finding.severity }, parts);
    return element("button", {
      type: "button", class: "finding " + finding.severity, "data-finding": finding.number,
      onclick: function () { page.selectLayer(net, finding.layer, true); },
    }, parts);
  }

  changes(net, layer) {
    const change = this.page.beside.changeOf(net, layer);
    if (!change) return null;
    return element("div", { class: "finding change " + change.kind }, [
      element("b", { text: change.title }),
      ...change.lines.map(function ([what, old, now]) {
        return changed("code", what, old, now);
      }),
    ]);
  }

  overlays(net, layer) {
    const notes = this.page.overlays.notes(net, layer);
    if (!notes.length) return null;
    return section("Overlays", [table(notes)]);
  }

  xml(net, layer) {
    if (layer.xml < 0) return null;
    const text = element("pre", { class: "code", tabindex: 0, "aria-label": "XML", text: "…" });
    const part = section("Lines " + layer.line + " …", [text], true);
    part.addEventListener("toggle", function () {
      if (part.open && text.textContent === "…")
        xmlOf(net, layer).then(function (lines) { text.textContent = dedented(lines); });
    });
    part.querySelector("summary").textContent = "XML, line " + layer.line;
    return part;
  }

  operation(layer) {
    const page = layer.kind.page;
    if (!page) return section("Operation", [element("p", { class: "soft", text: "No operation " + layer.type + " of " + (layer.kind.opset || "this opset") + " is known." })]);
    return section("Operation " + layer.type + " of " + layer.kind.opset, [
      ...page.text.split(/\n\s*\n/).map(function (paragraph) { return element("p", { text: paragraph }); }),
      page.inputs.length ? element("h3", { text: "Inputs" }) : null, table(page.inputs),
      page.attributes.length ? element("h3", { text: "Attributes" }) : null, table(page.attributes),
      page.constraints.length ? element("h3", { text: "Constraints" }) : null,
      page.constraints.length ? element("ul", {}, page.constraints.map(function (text) { return element("li", { text }); })) : null,
    ], true);
  }

  group(net, node) {
    const leaves = net.leaves(node);
    const types = new Map();
    for (const layer of leaves) types.set(layer.type, (types.get(layer.type) || 0) + 1);
    const kinds = { scope: "scope", repeat: "repeated block", part: "part", body: "body", root: "model" };
    return [
      element("header", { class: "what" }, [
        element("h2", { text: node.name || node.kind, tabindex: -1 }),
        element("p", { class: "soft", text: kinds[node.kind] + " · " + counted(leaves.length, "layer") + (node.kind === "repeat" ? " in " + counted(net.blocks(node), "block") : "") }),
        element("div", { class: "row" }, [
          button(node.open ? "Close" : "Open", () => this.page.toggle(net, node)),
          node.parent && net.top !== node ? button("Show alone", () => this.page.showAlone(net, node), { title: "Draw only this group" }) : null,
          leaves.length <= 3000 ? button("Open all inside", () => this.page.openAll(net, node)) : null,
        ]),
      ]),
      section("Layers", [table(Array.from(types).sort(function (a, b) { return b[1] - a[1]; }).map(function ([type, count]) { return [type, count.toLocaleString("en")]; }))]),
    ];
  }

  findings(nets) {
    const parts = [];
    for (const net of nets) {
      if (nets.length > 1) parts.push(element("h3", { text: net.data.path }));
      if (!net.findings.length) parts.push(element("p", { class: "soft", text: "Nothing found." }));
      const chosen = net.findings.slice().sort(function (a, b) { return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.number - b.number; });
      parts.push(element("div", { class: "list" }, some(chosen, (finding) => this.finding(net, finding, true))));
    }
    return parts;
  }

  model(nets) {
    return nets.flatMap((net) => {
      const top = net.layers.filter(function (layer) { return layer.node.parent && !layer.key.includes("/"); });
      const named = (type) => top.filter(function (layer) { return layer.type.toLowerCase() === type; }).map((layer) => {
        const output = type === "parameter" ? layer.outputs[0] : layer.inputs[0] && layer.inputs[0].layer >= 0 ? net.layers[layer.inputs[0].layer].outputs[layer.inputs[0].output] : null;
        return [this.link(net, layer, shortName(layer) || layer.id), element("code", { text: output ? net.tensorText(output) : "?" })];
      });
      return [
        element("header", { class: "what" }, [element("h2", { text: net.data.name || net.data.path, tabindex: -1 })]),
        table(net.data.facts),
        section("Inputs", [table(named("parameter"))]),
        section("Outputs", [table(named("result"))]),
        section("Symbols", [table(net.data.symbols.map(function ([name, tensor, axis, range]) { return [name, tensor + ", axis " + axis, range]; }), ["symbol", "dimension", "sizes"])]),
        section("Conditions on symbols", [table(net.data.constraints.map(function ([text, assumed]) { return [text, assumed ? "assumed" : "required"]; }))], true),
        section("rt_info", [tree(net.data.rtInfo)], true),
      ];
    }).concat([section("Keys", [table([
      ["arrows", "next layer in that direction, if possible along an edge"], ["Enter", "open or close a group; read a layer"],
      ["/", "search"], ["n, N", "next and previous finding, change or value of the overlay"], ["+, -, 0, 1", "zoom in, out, show all, full size"],
      ["shift and arrows", "move the view"], ["u", "the group around it"], ["c", "show constants as layers"], ["Ctrl and c", "copy the name of the layer"],
      ["Escape", "close the menu; clear the selection"],
    ])], true), section("Search", [table([
      ["relu block1", "all words occur: in the name, type, tensor names, shapes or findings"], ["type:MatMul", "in one field: name, type, opset, id, tensor, shape, value, finding"],
      ["axis=1 axis>0", "an attribute, with =, !=, <, <=, > or >="], ["/conv_\\d+$/", "a regular expression, also name:/…/"], ["\"a b\"", "words with a space between them"], ["-type:Const", "a minus excludes"],
    ])], true)]);
  }

  overlay(page) {
    const parts = [];
    for (const net of page.nets) {
      const overlay = page.overlays.of(net);
      if (!overlay) continue;
      parts.push(element("header", { class: "what" }, [element("h2", { text: overlay.title, tabindex: -1 }), element("p", { class: "soft", text: overlay.about })]));
      if (overlay.focus && overlay.focus.length) parts.push(element("div", { class: "list" }, overlay.focus.map(([at, label]) => element("button", {
        type: "button", class: "finding error focus", onclick: () => page.selectLayer(net, net.layers[at], true),
      }, [element("b", { text: label }), element("p", { class: "code", text: net.layers[at].type + " " + net.layers[at].name })]))));
      const rows = page.overlays.rows(net);
      if (!rows.length) parts.push(element("p", { text: page.overlays.nothing(net) }));
      parts.push(element("div", { class: "list" }, some(rows, ([at, , note]) => element("button", {
        type: "button", class: "finding plain", onclick: () => page.selectLayer(net, net.layers[at], true),
      }, [element("p", { class: "code", text: net.layers[at].type + " " + net.layers[at].name }), element("p", { class: "soft", text: note })]))));
    }
    return parts;
  }

  changeList(page) {
    const parts = [element("header", { class: "what" }, [
      element("h2", { text: "What changed", tabindex: -1 }), element("p", { class: "soft", text: page.data.beside.summary }),
    ])];
    for (const note of page.data.beside.notes) parts.push(element("p", { class: "soft", text: note }));
    for (const [what, old, now] of page.data.beside.model)
      parts.push(element("div", { class: "finding change changed" }, [changed("code", what, old, now)]));
    parts.push(element("div", { class: "list" }, some(page.beside.changes, function (change, number) {
      const net = page.nets[change.second >= 0 ? 1 : 0];
      const layer = net.layers[change.second >= 0 ? change.second : change.first];
      return element("button", {
        type: "button", class: "finding change " + change.kind, "data-change": number,
        onclick: function () { page.selectLayer(net, layer, true); },
      }, [
        element("div", { class: "row" }, [element("span", { class: "chip " + change.kind, text: change.title }), element("b", { text: layer.type })]),
        element("p", { class: "code", text: layer.name }),
        ...change.lines.slice(0, 6).map(function ([what, old, now]) { return changed("soft", what, old, now); }),
      ]);
    })));
    return parts;
  }

  way(net, way) {
    if (!way.length) return [element("p", { text: "No path connects these layers, in either direction." })];
    return [
      element("header", { class: "what" }, [
        element("h2", { text: "Path of " + counted(way.length - 1, "edge"), tabindex: -1 }),
        element("div", { class: "row" }, [button("Open all groups on it", () => this.page.openPath()), button("Leave", () => this.page.clear())]),
      ]),
      element("ol", { class: "way" }, some(way, (layer) => element("li", {}, [
        this.link(net, layer), element("p", { class: "code soft", text: layer.outputs.length ? net.tensorText(layer.outputs[0]) : "" }),
      ]))),
    ];
  }
}

/** Draws the first `step` items, and a button that draws more. */
function some(items, draw, step = 100) {
  const parts = items.slice(0, step).map(draw);
  if (items.length <= step) return parts;
  let shown = step;
  const more = button("", function () {
    more.before(...items.slice(shown, shown + step).map(function (item, at) { return draw(item, shown + at); }));
    shown += step;
    label();
  }, { class: "more" });
  const label = function () {
    more.textContent = "Show more: " + numbers.format(items.length - shown) + " are left";
    more.hidden = shown >= items.length;
  };
  label();
  return [...parts, more];
}

/** Shows a change: old and new value. Without `now`, shows only one: the producers or consumers of the layer. */
function changed(style, what, old, now) {
  const said = element("p", { class: style }, [element("span", { text: what + ": " })]);
  if (now === undefined) said.append(element("span", { text: old }));
  else said.append(element("del", { text: old === null ? "none" : old }), " → ", element("ins", { text: now === null ? "none" : now }));
  return said;
}

function nodeName(node) {
  return node.layer ? node.layer.type + " " + shortName(node.layer) : node.name || node.kind;
}

/** Shows the range of values as text, and their histogram. */
function spreadOf(range, counts, sampled) {
  const odd = [["nan", "NaN"], ["inf", "infinite"], ["beyond_f16", "beyond f16"], ["zeros", "zero"]]
    .filter(function ([key]) { return range[key]; }).map(function ([key, word]) { return numbers.format(range[key]) + " " + word; });
  const text = short(range.lowest) + " to " + short(range.highest) + ", mean " + short(range.mean) + (range.std === undefined ? "" : ", deviation " + short(range.std)) + (odd.length ? ", " + odd.join(", ") : "");
  return [
    histogram(counts, range, text),
    element("p", { class: "soft", text: text + (sampled ? "; from " + counted(sampled, "evenly spaced element") : "") }),
  ];
}

function tree(info) {
  if (!info || !Object.keys(info).length) return null;
  return element("dl", { class: "tree" }, Object.entries(info).flatMap(function ([key, value]) {
    const nested = value && typeof value === "object";
    return [element("dt", { text: key }), element("dd", nested ? {} : { text: value }, nested ? [tree(value)] : [])];
  }));
}

function histogram(counts, range, text) {
  const most = Math.max(...counts, 1);
  const bar = 240 / counts.length;
  return drawn("svg", { class: "histogram", viewBox: "0 0 240 46", role: "img", "aria-label": "Distribution of the values: " + text },
    counts.map(function (count, at) {
      const height = count ? Math.max(1.5, 44 * Math.sqrt(count / most)) : 0;
      return drawn("rect", { x: at * bar + 0.5, y: 45 - height, width: bar - 1, height });
    }));
}

/** Removes the indentation that all lines share. The first line has none. */
function dedented(text) {
  const [first, ...lines] = text.replace(/\t/g, "  ").split("\n");
  const least = Math.min(...lines.filter(function (line) { return line.trim(); }).map(function (line) { return line.search(/\S/); }), 80);
  return [visible(first), ...lines.map(function (line) { return visible(line.slice(Math.min(least, line.search(/\S|$/)))); })].join("\n");
}

const XML_PART = 1 << 18; // as in texts.py
const LONGEST_XML = 4000;
const unpacked = new Map();

/** Decompresses a part of the XML. */
function unpack(net, part) {
  const key = net.side + part;
  if (!unpacked.has(key) && part < net.data.xml.length)
    unpacked.set(key, new Response(new Blob([bytesOf(net.data.xml[part])]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
  return unpacked.get(key) || new ArrayBuffer(0);
}

/** Returns the XML of a layer, without its bodies. */
async function xmlOf(net, layer) {
  const part = Math.floor(layer.xml / XML_PART);
  const bytes = await new Blob([await unpack(net, part), await unpack(net, part + 1)]).arrayBuffer();
  const start = layer.xml - part * XML_PART;
  const text = new TextDecoder().decode(bytes.slice(start, start + LONGEST_XML));
  const whole = /^<layer[^>]*\/>|^[^]*?<\/layer>/.exec(text);
  const body = layer.node.children.length ? text.search(/<(then_|else_)?body/) : -1;
  return body >= 0 ? text.slice(0, body) + "…" : whole ? whole[0] : text + "…";
}
