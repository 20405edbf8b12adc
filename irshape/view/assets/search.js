// The search: reads queries, finds layers, and handles keys in the list of results.

const MOST_HITS = 100;
const FIELDS = {
  name: function (layer) { return [layer.name]; },
  type: function (layer) { return [layer.type]; },
  opset: function (layer) { return [layer.kind.opset]; },
  id: function (layer) { return [layer.key]; },
  tensor: function (layer) { return layer.outputs.map(function (output) { return output.names; }); },
  shape: function (layer) { return layer.outputs.flatMap(function (output) { return [output.declared, output.inferred, output.symbols]; }); },
  value: function (layer) { return layer.outputs.map(function (output) { return output.value; }).concat(layer.extra.constant ? [constantValue(layer.extra.constant)] : []); },
  finding: function (layer) { return layer.findings.flatMap(function (finding) { return [finding.code, finding.rule, finding.severity, finding.message]; }); },
};
const TERM = /(-?)(?:(\w+)(:|!=|>=|<=|=|>|<))?("[^"]*"|\/(?:[^/\\]|\\.)+\/(?=\s|$)|\S+)/g;

/** Parses a query. Returns a test for layers, and the plain words in the query. */
function parsedQuery(net, text) {
  const tests = [];
  const words = [];
  for (const [whole, minus, name, sign, wanted] of text.trim().matchAll(TERM)) {
    const field = name && FIELDS[name.toLowerCase()];
    const plain = !name || (sign === ":" && !field);
    const asked = plain ? whole.slice(minus.length) : wanted;
    const test = plain ? wordTest(net, asked) : field ? fieldTest(field, sign, asked) : attributeTest(net, name, sign, asked);
    if (plain && !minus && !/^[/"]/.test(asked)) words.push(asked.toLowerCase());
    tests.push(minus ? function (layer) { return !test(layer); } : test);
  }
  return { words, fits: function (layer) { return tests.every(function (test) { return test(layer); }); } };
}

/** Returns a test whether a text contains `asked`, ignoring case. Between slashes, `asked` is a regular expression. */
function containing(asked) {
  const expression = /^\/(.+)\/$/.exec(asked);
  if (expression) {
    try {
      const regular = new RegExp(expression[1], "i");
      return function (text) { return regular.test(text); };
    } catch (error) {
      return function () { return false; };
    }
  }
  const word = unquoted(asked);
  return function (text) { return text.toLowerCase().includes(word); };
}

function unquoted(asked) {
  return asked.replace(/^"(.*)"$/, "$1").toLowerCase();
}

function wordTest(net, asked) {
  const fits = containing(asked);
  return function (layer) { return fits(net.index[layer.at]); };
}

function fieldTest(field, sign, asked) {
  const fits = sign === ":" ? containing(asked) : comparing(sign, asked);
  return function (layer) { return field(layer).some(function (text) { return Boolean(text) && fits(text); }); };
}

function attributeTest(net, name, sign, asked) {
  const wanted = name.toLowerCase();
  const fits = comparing(sign, asked);
  return function (layer) {
    return net.attributesOf(layer).some(function ([key, text]) { return key.toLowerCase() === wanted && fits(text); });
  };
}

/** Returns a test that compares a text with `asked`: as numbers if both are numbers. */
function comparing(sign, asked) {
  const word = unquoted(asked);
  const order = function (text) {
    const [left, right] = [Number(text), Number(word)];
    if (text.trim() && word && !Number.isNaN(left) && !Number.isNaN(right)) return left - right;
    return text.toLowerCase() === word ? 0 : NaN;
  };
  return {
    "=": function (text) { return order(text) === 0; }, "!=": function (text) { return order(text) !== 0; },
    ">": function (text) { return order(text) > 0; }, "<": function (text) { return order(text) < 0; },
    ">=": function (text) { return order(text) >= 0; }, "<=": function (text) { return order(text) <= 0; },
  }[sign];
}

function score(layer, words) {
  let score = 0;
  for (const word of words) {
    if (layer.key === word) score += 8;
    if (layer.name.toLowerCase() === word) score += 6;
    if (layer.type.toLowerCase() === word) score += 3;
    if (layer.name.toLowerCase().includes(word)) score += 2;
  }
  return score - (layer.folded ? 1 : 0);
}

class Search {
  constructor(page) {
    this.page = page;
    this.hits = [];
    this.hit = -1;
    this.input = element("input", {
      type: "search", id: "search", placeholder: "Search: name, type, shape, axis=1, /…/", autocomplete: "off", spellcheck: "false", role: "combobox",
      "aria-label": "Search layers", "aria-controls": "results", "aria-expanded": "false", oninput: () => this.find(), onfocus: () => this.find(),
      onkeydown: (event) => this.pressed(event),
    });
    this.results = element("div", { id: "results", class: "results", role: "listbox", "aria-label": "Matching layers", hidden: true });
    this.box = element("div", { class: "find", role: "search" }, [this.input, this.results]);
    document.addEventListener("click", (event) => { if (!event.target.closest(".find")) this.close(); });
  }

  /** Collects the texts of each layer that plain words search. */
  indexed(net) {
    if (net.index) return;
    net.index = net.layers.map(function (layer) {
      const parts = [layer.name, layer.type, layer.kind.opset, "id " + layer.key];
      for (const output of layer.outputs) parts.push(output.names, output.declared, output.inferred, output.symbols);
      for (const finding of layer.findings) parts.push(finding.code, finding.rule, finding.message);
      return parts.filter(Boolean).join("\n").toLowerCase();
    });
  }

  /** Returns the layers of a model that match a query. */
  fitting(net, text) {
    this.indexed(net);
    const { fits, words } = parsedQuery(net, text);
    return { layers: net.layers.filter(fits), words };
  }

  find() {
    if (!this.input.value.trim()) {
      this.close();
      return;
    }
    const ranked = [];
    let count = 0;
    for (const net of this.page.nets) {
      const { layers, words } = this.fitting(net, this.input.value);
      count += layers.length;
      for (const layer of layers.slice(0, 300)) ranked.push([net, layer, score(layer, words)]);
    }
    ranked.sort(function (a, b) { return b[2] - a[2]; });
    this.hits = ranked.slice(0, MOST_HITS);
    this.hit = this.hits.length ? 0 : -1;
    this.results.replaceChildren(...this.head(count), ...this.hits.map(([net, layer], at) => this.row(net, layer, at)));
    this.results.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
  }

  head(count) {
    if (!count) return [element("p", { class: "soft", text: "No layer matches. Search words can also be fields (type:MatMul), attributes (axis=1) or regular expressions (/b\\d+/); a minus excludes." })];
    return [element("p", { class: "row soft" }, [
      element("span", { text: count > MOST_HITS ? numbers.format(count) + " layers, the first " + MOST_HITS : counted(count, "layer") }),
      button("Highlight all", () => this.highlight(), { class: "link" }),
      button("Colour all", () => this.colour(), { class: "link", title: "Colour these layers; other searches keep their colours" }),
    ])];
  }

  row(net, layer, at) {
    return element("button", { type: "button", role: "option", id: "hit-" + at, tabindex: -1, onclick: () => this.goTo(at) }, [
      element("b", { text: layer.type }),
      element("span", { class: "code", text: layer.name }),
      element("small", { text: "id " + layer.key + (layer.outputs[0] ? " · " + net.tensorText(layer.outputs[0]) : "") + (layer.findings[0] ? " · " + layer.findings[0].code : "") }),
    ]);
  }

  highlight() {
    this.close();
    for (const canvas of this.page.canvases) canvas.highlight(this.fitting(canvas.net, this.input.value).layers);
  }

  colour() {
    this.close();
    this.page.overlays.addSearch(this.input.value.trim());
  }

  mark() {
    const rows = this.results.querySelectorAll("[role=option]");
    rows.forEach((row, at) => {
      row.setAttribute("aria-selected", String(at === this.hit));
      if (at === this.hit) row.scrollIntoView({ block: "nearest" });
    });
    this.input.setAttribute("aria-activedescendant", this.hit >= 0 ? "hit-" + this.hit : "");
  }

  goTo(at) {
    const [net, layer] = this.hits[at];
    this.close();
    this.page.selectLayer(net, layer, true);
    this.page.canvasOf(net).svg.focus({ preventScroll: true });
  }

  pressed(event) {
    if (event.key === "Escape") {
      this.close();
      this.input.blur();
    } else if (event.key === "Enter" && this.hit >= 0 && !this.results.hidden) this.goTo(this.hit);
    else if (event.key === "ArrowDown") this.hit = Math.min(this.hit + 1, this.hits.length - 1);
    else if (event.key === "ArrowUp") this.hit = Math.max(this.hit - 1, 0);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.mark();
  }

  close() {
    this.results.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
