// Overlays: colours of layers by a value or a group, and colours of search results.

const TONES = {
  good: ["#d8f0df", "#1d4a2c"], note: ["#d9e9fb", "#1b3a57"], warn: ["#fde7b8", "#5a4310"], bad: ["#f9c9c6", "#6b2326"],
  search0: ["#ffe08a", "#6a5200"], search1: ["#b9dcff", "#114a80"], search2: ["#f7bfe0", "#75205a"],
  search3: ["#bfe8c0", "#1c5a24"], search4: ["#dac8fb", "#48308a"], search5: ["#ffcfae", "#7a3a0a"],
};
const MOST_SEARCHES = 6;

function heat(share, dark) {
  const stops = dark ? [[38, 40, 46], [92, 58, 30], [150, 52, 34]] : [[255, 248, 232], [253, 212, 148], [240, 132, 104]];
  const at = Math.max(0, Math.min(1, share)) * 2;
  const low = stops[Math.min(1, Math.floor(at))];
  const high = stops[Math.min(1, Math.floor(at)) + 1];
  const part = at - Math.min(1, Math.floor(at));
  return "rgb(" + low.map(function (value, index) { return Math.round(value + (high[index] - value) * part); }).join(",") + ")";
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

class Overlays {
  constructor(page) {
    this.page = page;
    this.id = "";
    this.searches = [];
    this.choice = element("select", { id: "overlay", "aria-label": "Overlay", autocomplete: "off", onchange: () => this.choose(this.choice.value) });
    this.legend = element("div", { class: "legend", hidden: true });
    this.offer();
  }

  /** Lists the overlays in the menu. */
  offer() {
    const options = new Map([["", "No overlay"]]);
    for (const net of this.page.nets) for (const overlay of net.data.overlays) options.set(overlay.id, overlay.title);
    this.choice.replaceChildren(...Array.from(options, function ([value, text]) { return element("option", { value, text }); }));
    this.choice.hidden = options.size < 2;
    this.choice.value = this.id;
  }

  of(net) {
    return net.data.overlays.find((overlay) => overlay.id === this.id) || null;
  }

  choose(id) {
    this.id = id;
    this.choice.value = id;
    for (const net of this.page.nets) net.tones = this.tonesOf(net);
    for (const canvas of this.page.canvases) { canvas.drawMapImage(); canvas.refresh(); }
    this.drawLegend();
    this.page.tab = id ? "overlay" : "model";
    this.page.showPanel();
  }

  /** Colours the layers that a search finds. Earlier searches keep their colours. */
  addSearch(text) {
    this.searches = this.searches.filter(function (each) { return each !== text; }).slice(1 - MOST_SEARCHES).concat([text]);
    this.layOverSearches();
  }

  removeSearch(text) {
    this.searches = this.searches.filter(function (each) { return each !== text; });
    this.layOverSearches();
  }

  layOverSearches() {
    for (const net of this.page.nets) {
      net.data.overlays = net.data.overlays.filter(function (overlay) { return overlay.id !== "searches"; });
      if (!this.searches.length) continue;
      const values = new Map();
      this.searches.forEach((text, at) => {
        for (const layer of this.page.search.fitting(net, text).layers)
          if (!values.has(layer.at)) values.set(layer.at, [layer.at, at, text]);
      });
      net.data.overlays.push({
        id: "searches", title: "Searches", about: "The layers that the searches find. A layer has the colour of the first search that finds it.", kind: "groups", unit: "", focus: [],
        groups: this.searches.map(function (text, at) { return [text, "search" + at]; }), values: Array.from(values.values()),
      });
    }
    this.id = this.searches.length ? "searches" : "";
    this.offer();
    this.choose(this.id);
  }

  rows(net) {
    const overlay = this.of(net);
    if (!overlay) return [];
    const rows = overlay.values.slice();
    if (overlay.kind === "heat") {
      const telling = rows.filter(function (row) { return row[1] !== 0; });
      return (telling.length ? telling : rows).sort(function (a, b) { return b[1] - a[1]; });
    }
    const plain = new Set(overlay.groups.flatMap(function ([, tone], at) { return tone === "none" || tone === "good" ? [at] : []; }));
    return rows.filter(function (row) { return !plain.has(row[1]); }).sort(function (a, b) { return a[1] - b[1]; });
  }

  /** Returns the text for the panel if the overlay has no layer to list. */
  nothing(net) {
    const overlay = this.of(net);
    const counts = (overlay.groups || []).map(function ([name], at) {
      const count = overlay.values.filter(function (row) { return row[1] === at; }).length;
      return count ? name + ", " + counted(count, "layer") : "";
    }).filter(Boolean);
    return counts.length ? "Nothing stands out: " + counts.join("; ") + "." : "No layer of this model has a value.";
  }

  /** Returns the title and the note of each overlay of a layer. Leaves out repeated notes. */
  notes(net, layer) {
    const told = new Set();
    return net.data.overlays.flatMap(function (overlay) {
      if (overlay.id === "searches") return [];
      if (!overlay.notes) overlay.notes = new Map(overlay.values.map(function ([at, , note]) { return [at, note]; }));
      const note = overlay.notes.get(layer.at);
      if (!note || told.has(note)) return [];
      told.add(note);
      return [[overlay.title, note]];
    });
  }

  /** Returns the value that colours each node. A group has the most important value of its layers. */
  tonesOf(net) {
    const overlay = this.of(net);
    if (!overlay) return null;
    const tones = new Map();
    const isHeat = overlay.kind === "heat";
    for (const row of overlay.values) {
      for (let node = net.shownFor(net.layers[row[0]]).node; node; node = node.parent) {
        const before = tones.get(node);
        if (!before || (isHeat ? row[1] > before[1] : row[1] < before[1])) tones.set(node, row);
      }
    }
    const values = overlay.values.map(function (row) { return row[1]; }).filter(function (value) { return value > 0; });
    net.most = Math.max(...values.slice(0, 100000), 0) || 1;
    net.least = Math.min(...values.slice(0, 100000), net.most);
    return tones;
  }

  tone(net, node) {
    const row = net.tones && net.tones.get(node);
    if (!row) return null;
    const overlay = this.of(net);
    if (overlay.kind !== "heat") {
      const [name, tone] = overlay.groups[row[1]];
      return tone === "none" ? null : { fill: TONES[tone][isDark() ? 1 : 0], text: name };
    }
    if (!(row[1] > 0)) return null;
    return { fill: heat(this.share(net, row[1]), isDark()), text: row[2] };
  }

  share(net, value) {
    if (net.most <= net.least) return 1;
    return Math.log(value / net.least) / Math.log(net.most / net.least);
  }

  drawLegend() {
    const net = this.page.nets[0];
    const overlay = this.of(net);
    this.legend.hidden = !overlay;
    if (!overlay) return;
    const swatch = function (fill) {
      const box = element("i", {});
      box.style.setProperty("background", fill);
      return box;
    };
    const parts = [element("b", { text: overlay.title })];
    if (overlay.kind === "heat") {
      parts.push(element("div", { class: "scale" }, [
        element("span", { text: short(net.least) }),
        ...[0, 0.2, 0.4, 0.6, 0.8, 1].map(function (part) { return swatch(heat(part, isDark())); }),
        element("span", { text: short(net.most) + " " + overlay.unit }),
      ]));
    } else {
      const counts = new Map();
      for (const row of overlay.values) counts.set(row[1], (counts.get(row[1]) || 0) + 1);
      overlay.groups.forEach(([name, tone], at) => {
        const isSearch = overlay.id === "searches";
        if (counts.get(at) || isSearch) parts.push(element("div", { class: "key" }, [
          tone === "none" ? element("i", {}) : swatch(TONES[tone][isDark() ? 1 : 0]),
          element("span", { text: name + ": " + numbers.format(counts.get(at) || 0) }),
          isSearch ? button("×", () => this.removeSearch(name), { class: "remove", "aria-label": "Remove the search " + visible(name), title: "Remove" }) : null,
        ]));
      });
    }
    for (const [at, label] of overlay.focus || [])
      parts.push(button(label, () => this.page.selectLayer(net, net.layers[at], true), { class: "focus" }));
    this.legend.replaceChildren(...parts);
  }
}
