// Puts the page together, and answers what a person does.

class Page {
  constructor(data) {
    this.data = data;
    this.nets = data.models.map(function (model, at) { return new Net(model, "ab"[at]); });
    this.selected = null;
    this.tab = "model";
    this.overlayId = "";
    this.way = null;
    this.pathFrom = null;
    this.following = false;
    this.panel = new Panel(this);
    this.readBeside();
    this.canvases = this.nets.map((net) => new Canvas(net, this, "graph of " + visible(net.data.path)));
    this.buildPage();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    for (const net of this.nets) net.openSome(this.nets.length > 1 ? 30 : 44);
    this.rebuild();
    for (const canvas of this.canvases) canvas.fit(0.75);
    this.tab = this.data.beside ? "changes" : this.nets.some(function (net) { return net.findings.some(function (finding) { return finding.severity !== "info"; }); }) ? "findings" : "model";
    const first = this.nets[0].data.overlays.find(function (overlay) { return overlay.first; });
    if (first) this.setOverlay(first.id);
    else this.showPanel();
    this.follow();
    window.addEventListener("hashchange", () => this.follow());
    window.addEventListener("resize", () => this.canvases.forEach(function (canvas) { canvas.drawSoon(); }));
    document.addEventListener("keydown", (event) => this.pressed(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches ? "dark" : "light"));
    document.documentElement.dataset.ready = "yes";
  }

  // the page

  buildPage() {
    const totals = { error: 0, warning: 0, info: 0 };
    for (const net of this.nets) for (const finding of net.findings) totals[finding.severity]++;
    const worst = SEVERITIES.find(function (severity) { return totals[severity]; });
    this.search = element("input", {
      type: "search", id: "search", placeholder: "Search: name, type, tensor, id, shape, finding", autocomplete: "off", role: "combobox",
      "aria-label": "Search layers", "aria-controls": "results", "aria-expanded": "false", oninput: () => this.find(), onfocus: () => this.find(),
      onkeydown: (event) => this.searchKey(event),
    });
    this.results = element("div", { id: "results", class: "results", role: "listbox", "aria-label": "Layers found", hidden: true });
    this.overlayChoice = element("select", { id: "overlay", "aria-label": "Overlay", onchange: () => this.setOverlay(this.overlayChoice.value) });
    const options = new Map([["", "No overlay"]]);
    for (const net of this.nets) for (const overlay of net.data.overlays) options.set(overlay.id, overlay.title);
    for (const [id, title] of options) this.overlayChoice.append(element("option", { value: id, text: title }));
    this.wheelScrolls = false;
    this.constantsBox = this.box("constants", (checked) => this.setConstants(checked));
    const check = function (box, text, title) { return element("label", { class: "check", title }, [box, text]); };
    const menu = element("details", { class: "menu" }, [element("summary", { text: "View" }), element("div", {}, [
      check(this.constantsBox, "Constants as layers", "c"),
      check(this.box("attributes", (checked) => this.setOption("showAttributes", checked)), "Attributes on layers"),
      check(this.box("sideways", (checked) => this.setOption("direction", checked ? "LR" : "TB")), "From left to right"),
      check(this.box("scrolls", (checked) => { this.wheelScrolls = checked; }), "Wheel moves, with Ctrl zooms"),
      button("Save as SVG", () => this.save("svg"), { title: "Save all that is open as a drawing" }),
      button("Save as PNG", () => this.save("png"), { title: "Save all that is open as a picture" }),
      button("Copy a link to this view", () => this.copyLink(null, null), { title: "What is open, where it is, and the layer that is chosen" }),
      button("Close all groups", () => this.closeAll(), { id: "close-all" }),
    ])]);
    const tabs = [["layer", "Layer"], ["findings", "Findings"], ["model", "Model"], ["overlay", "Overlay"], ["changes", "Changes"], ["path", "Path"]];
    this.tabs = new Map(tabs.map(([id, title]) => [id, element("button", {
      type: "button", role: "tab", id: "tab-" + id, "aria-controls": "panel", text: title, onclick: () => this.setTab(id),
    })]));
    const sum = totals.error + totals.warning + totals.info;
    if (sum) this.tabs.get("findings").append(element("span", { class: "chip " + worst, text: sum }));
    this.panelBox = element("div", { id: "panel", role: "tabpanel", tabindex: -1 });
    this.status = element("div", { class: "status", role: "status", "aria-live": "polite" });
    this.legend = element("div", { class: "legend", hidden: true });
    this.aside = element("aside", { "aria-label": "Details" }, [
      element("div", { class: "tabs", role: "tablist", "aria-label": "What to show" }, Array.from(this.tabs.values())),
      this.panelBox,
    ]);
    const views = this.canvases.map((canvas, at) => element("section", { class: "view", "aria-label": visible(this.nets[at].data.path) }, [
      this.nets.length > 1 ? element("p", { class: "path", text: ["before: ", "after: "][at] + this.nets[at].data.path }) : null, canvas.box,
    ]));
    this.graphs = element("main", { class: this.nets.length > 1 ? "beside" : "" }, [...views, this.legend, this.status]);
    const title = this.nets.map(function (net) { return net.data.path.replace(/^.*[/\\]/, "") || net.data.name; }).join(" → ");
    document.body.append(
      element("header", { class: "bar" }, [
        element("h1", { text: title, title: visible(this.nets[0].data.path) }),
        element("div", { class: "find", role: "search" }, [this.search, this.results]),
        options.size > 1 ? this.overlayChoice : null,
        menu,
        element("div", { class: "buttons" }, [
          button("−", () => this.canvases.forEach(function (canvas) { canvas.zoom(1 / 1.3); }), { "aria-label": "Zoom out", title: "Zoom out (-)" }),
          button("+", () => this.canvases.forEach(function (canvas) { canvas.zoom(1.3); }), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
          button("Fit", () => this.fit(), { title: "Show all (0)" }),
          button("◐", () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"), { "aria-label": "Dark or light", title: "Dark or light" }),
          button("☰", () => this.aside.classList.toggle("folded"), { "aria-label": "Details", title: "Show or hide the details", class: "aside-switch" }),
        ]),
      ]),
      element("div", { class: "body" }, [this.graphs, this.aside]),
    );
    document.addEventListener("click", (event) => {
      if (!event.target.closest(".find")) this.closeResults();
      if (!event.target.closest(".menu")) menu.open = false;
    });
  }

  box(id, act) {
    const box = element("input", { type: "checkbox", id, autocomplete: "off", onchange: () => act(box.checked) });
    return box;
  }

  setOption(option, value) {
    for (const net of this.nets) net.set(option, value);
    this.rebuild();
    for (const canvas of this.canvases) canvas.fit(0.75);
  }

  /** Saves the drawing of each model. form: svg or png. */
  save(form) {
    this.canvases.forEach((canvas, at) => {
      const drawing = canvas.drawing();
      drawing.querySelector("style").textContent = document.querySelector("style").textContent;
      const name = (this.nets[at].data.path.replace(/^.*[/\\]/, "").replace(/\.\w+$/, "") || "model") + "." + form;
      const blob = new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" });
      if (form === "svg") download(blob, name);
      else pictured(blob, canvas.scene, (picture) => download(picture, name));
    });
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    for (const canvas of this.canvases) if (canvas.scene.byNode) { canvas.drawMapImage(); canvas.refresh(); }
    this.drawLegend();
  }

  rebuild() {
    for (const canvas of this.canvases) canvas.build();
  }

  refresh() {
    for (const canvas of this.canvases) canvas.refresh();
  }

  fit() {
    for (const canvas of this.canvases) canvas.fit(0.02);
  }

  closeAll() {
    for (const net of this.nets) {
      for (const group of net.groups) { group.open = group === net.root; group.plan = null; }
      for (const layer of net.layers) { layer.node.open = false; layer.node.plan = null; }
    }
    this.rebuild();
    for (const canvas of this.canvases) canvas.fit(0.75);
  }

  setConstants(shown) {
    this.constantsBox.checked = shown;
    for (const net of this.nets) net.set("showConstants", shown);
    this.rebuild();
    if (this.selected && this.selected.layer) this.selectLayer(this.selected.net, this.selected.layer, true);
  }

  setTab(id) {
    this.tab = id;
    this.aside.classList.remove("folded");
    this.showPanel();
  }

  showPanel() {
    const { panel, selected } = this;
    const has = {
      layer: Boolean(selected), findings: true, model: true, overlay: Boolean(this.overlayId), changes: Boolean(this.data.beside), path: this.way !== null,
    };
    if (!has[this.tab]) this.tab = "model";
    for (const [id, tab] of this.tabs) {
      tab.hidden = !has[id];
      tab.setAttribute("aria-selected", String(id === this.tab));
    }
    this.panelBox.setAttribute("aria-labelledby", "tab-" + this.tab);
    const parts = {
      layer: () => (selected.layer ? panel.layer(selected.net, selected.layer) : panel.group(selected.net, selected.node)),
      findings: () => panel.findings(this.nets),
      model: () => panel.model(this.nets),
      overlay: () => panel.overlay(this),
      changes: () => panel.changeList(this),
      path: () => panel.way(this.way.net, this.way.layers),
    }[this.tab]();
    this.panelBox.replaceChildren(...parts.filter(Boolean));
    this.panelBox.scrollTop = 0;
  }

  focusPanel() {
    const head = this.panelBox.querySelector("[tabindex]");
    (head || this.panelBox).focus();
  }

  say(text) {
    this.status.textContent = visible(text);
  }

  // choosing

  canvasOf(net) {
    return this.canvases[this.nets.indexOf(net)];
  }

  selectedNode(net) {
    const selected = this.selected;
    if (!selected) return null;
    if (selected.net === net) return selected.layer ? net.nodeShowing(selected.layer) : selected.node;
    const partner = selected.layer && this.partnerOf(selected.net, selected.layer);
    return partner ? net.nodeShowing(partner) : null;
  }

  isSelected(net, node) {
    return this.selectedNode(net) === node;
  }

  select(net, node, follow) {
    if (node.layer) this.selectLayer(net, node.layer, follow);
    else {
      this.selected = { net, node, layer: null };
      this.after(net, node, follow);
      this.say("group " + node.name);
    }
  }

  /** Chooses a layer. follow: also bring it into view, and open what hides it. */
  selectLayer(net, layer, follow) {
    if (this.pathFrom) {
      this.endPath(net, layer);
      return;
    }
    const canvas = this.canvasOf(net);
    this.selected = { net, node: layer.node, layer };
    if (follow && net.reveal(net.shownFor(layer))) canvas.build();
    this.after(net, net.nodeShowing(layer), follow);
    this.say(canvas.spoken(layer.node));
    const hash = "#" + this.linkTo(net, layer);
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  after(net, node, follow) {
    const canvas = this.canvasOf(net);
    if (follow && !canvas.isInView(node)) canvas.show(node);
    canvas.svg.setAttribute("aria-activedescendant", canvas.idOf(node));
    this.moveOther(net, node);
    this.tab = "layer";
    this.showPanel();
    this.refresh();
  }

  /** Matched layers stand at the same height in both graphs. */
  moveOther(net, node) {
    if (this.nets.length < 2) return;
    const other = this.nets[net === this.nets[0] ? 1 : 0];
    const canvas = this.canvasOf(other);
    const layer = this.selected.layer;
    const partner = layer && this.partnerOf(net, layer);
    if (!partner) return;
    if (other.reveal(other.shownFor(partner))) canvas.build();
    canvas.view.k = this.canvasOf(net).view.k;
    canvas.show(other.nodeShowing(partner), this.canvasOf(net).screen(node));
  }

  moved(canvas, dx, dy, ratio, place) {
    if (this.canvases.length < 2 || this.following) return;
    const other = this.canvases[canvas === this.canvases[0] ? 1 : 0];
    this.following = true;
    if (place) other.zoom(ratio, place);
    else other.pan(dx, dy);
    this.following = false;
  }

  toggle(net, node) {
    const canvas = this.canvasOf(net);
    const before = canvas.itemOf(node);
    const place = before ? [canvas.screen(node)[0] + (before.w / 2) * canvas.view.k, canvas.screen(node)[1]] : [canvas.svg.clientWidth / 2, 60];
    net.setOpen(node, !node.open);
    if (!node.open && this.selected && this.selected.net === net && !this.selected.layer) this.selected.node = node;
    if (!node.layer) this.selected = { net, node, layer: null };
    canvas.build();
    canvas.keep(node, place);
    if (this.nets.length > 1 && !this.following) {
      const twin = this.twinOf(net, node);
      this.following = true;
      if (twin && twin.node.open !== node.open) this.toggle(twin.net, twin.node);
      this.following = false;
      this.selected = { net, node, layer: node.layer || null };
    }
    canvas.svg.setAttribute("aria-activedescendant", canvas.idOf(node));
    this.say((node.open ? "opened " : "closed ") + (node.name || node.kind));
    this.tab = "layer";
    this.showPanel();
  }

  openAll(net, node) {
    const visit = function (at) {
      if (at.children.length) net.setOpen(at, true);
      at.children.forEach(visit);
    };
    visit(node);
    this.canvasOf(net).build();
    this.canvasOf(net).show(node);
    this.showPanel();
  }

  clear() {
    this.selected = null;
    this.pathFrom = null;
    this.way = null;
    for (const canvas of this.canvases) canvas.highlight(null);
    this.graphs.classList.remove("choosing");
    this.say("");
    history.replaceState(null, "", "#");
    this.showPanel();
    this.refresh();
  }

  // links

  linkTo(net, layer) {
    return (this.nets.length > 1 ? net.side + ":" : "") + encodeURIComponent(layer.key);
  }

  follow() {
    let text = location.hash.slice(1);
    if (!text) return;
    let net = this.nets[0];
    if (text.startsWith("view=")) {
      const end = text.indexOf("&");
      this.restore(text.slice(5, end < 0 ? undefined : end));
      text = end < 0 ? "" : text.slice(end + 1);
    }
    if (this.nets.length > 1 && /^[ab]:/.test(text)) {
      net = this.nets["ab".indexOf(text[0])];
      text = text.slice(2);
    }
    try {
      text = decodeURIComponent(text);
    } catch (error) {
      return;
    }
    const layer = net.byKey.get(text);
    if (layer && !(this.selected && this.selected.layer === layer)) this.selectLayer(net, layer, true);
  }

  /** A link to what is open, where the view is, and the layer that is chosen. */
  linkToView() {
    const parts = this.nets.map((net, at) => {
      const { x, y, k } = this.canvases[at].view;
      const open = net.nodes().filter(function (node) { return node.open; }).map(function (node) { return node.begin; });
      return [Math.round(x), Math.round(y), k.toFixed(3), open.join(".")].join(",");
    });
    const layer = this.selected && this.selected.layer;
    return "view=" + parts.join(";") + "&" + (layer ? this.linkTo(this.selected.net, layer) : "");
  }

  restore(text) {
    text.split(";").slice(0, this.nets.length).forEach((part, at) => {
      const [x, y, k, open] = part.split(",");
      if (![x, y, k].every(function (each) { return Number.isFinite(Number(each)); })) return;
      const wanted = new Set((open || "").split(".").map(Number));
      for (const node of this.nets[at].nodes()) this.nets[at].setOpen(node, node === this.nets[at].root || wanted.has(node.begin));
      this.canvases[at].view = { x: Number(x), y: Number(y), k: Math.min(2.5, Math.max(0.02, Number(k))) };
      this.canvases[at].build();
    });
  }

  copyLink(net, layer) {
    this.copy(layer ? this.linkTo(net, layer) : this.linkToView());
  }

  copy(hash) {
    const link = location.href.replace(/#.*$/, "") + "#" + hash;
    history.replaceState(null, "", "#" + hash);
    const said = () => this.say("The link is " + link);
    if (navigator.clipboard) navigator.clipboard.writeText(link).then(() => this.say("The link is copied"), said);
    else said();
  }

  // search

  indexed(net) {
    if (!net.index) {
      net.index = net.layers.map(function (layer) {
        const parts = [layer.name, layer.type, layer.kind.opset, "id " + layer.key];
        for (const output of layer.outputs) parts.push(output.names, output.declared, output.inferred, output.symbols);
        for (const finding of layer.findings) parts.push(finding.code, finding.rule, finding.message);
        return parts.filter(Boolean).join("\n").toLowerCase();
      });
    }
    return net.index;
  }

  find() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      this.closeResults();
      return;
    }
    const fits = matcher(this.search.value, words);
    this.allHits = this.nets.map(function () { return []; });
    this.hits = [];
    let count = 0;
    for (const net of this.nets) {
      const index = this.indexed(net);
      for (let at = 0; at < index.length; at++) {
        if (!fits(index[at])) continue;
        count++;
        this.allHits[this.nets.indexOf(net)].push(net.layers[at]);
        if (this.hits.length < 300) this.hits.push([net, net.layers[at], score(net.layers[at], words)]);
      }
    }
    this.hits.sort(function (a, b) { return b[2] - a[2]; });
    this.hit = this.hits.length ? 0 : -1;
    const rows = this.hits.slice(0, 100).map(([net, layer], at) => element("button", {
      type: "button", role: "option", id: "hit-" + at, tabindex: -1, onclick: () => this.goTo(at),
    }, [
      element("b", { text: layer.type }),
      element("span", { class: "code", text: layer.name }),
      element("small", { text: "id " + layer.key + (layer.outputs[0] ? " · " + net.tensorText(layer.outputs[0]) : "") + (layer.findings[0] ? " · " + layer.findings[0].code : "") }),
    ]));
    this.results.replaceChildren(element("p", { class: "soft" }, [
      element("span", { text: (count > 100 ? "the first 100 of " : "") + counted(count, "layer") + " " }),
      count ? button("Highlight all", () => this.highlightHits(), { class: "link" }) : null,
    ]), ...rows);
    this.results.hidden = false;
    this.search.setAttribute("aria-expanded", "true");
    this.markHit();
  }

  highlightHits() {
    this.closeResults();
    this.canvases.forEach((canvas, at) => canvas.highlight(this.allHits[at]));
  }

  markHit() {
    const rows = this.results.querySelectorAll("[role=option]");
    rows.forEach((row, at) => {
      row.setAttribute("aria-selected", String(at === this.hit));
      if (at === this.hit) row.scrollIntoView({ block: "nearest" });
    });
    this.search.setAttribute("aria-activedescendant", this.hit >= 0 ? "hit-" + this.hit : "");
  }

  goTo(at) {
    const [net, layer] = this.hits[at];
    this.closeResults();
    this.selectLayer(net, layer, true);
    this.canvasOf(net).svg.focus({ preventScroll: true });
  }

  searchKey(event) {
    if (event.key === "Escape") {
      this.closeResults();
      this.search.blur();
    } else if (event.key === "Enter" && this.hit >= 0 && !this.results.hidden) this.goTo(this.hit);
    else if (event.key === "ArrowDown" && this.hits) this.hit = Math.min(this.hit + 1, Math.min(this.hits.length, 100) - 1);
    else if (event.key === "ArrowUp" && this.hits) this.hit = Math.max(this.hit - 1, 0);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.markHit();
  }

  closeResults() {
    this.results.hidden = true;
    this.search.setAttribute("aria-expanded", "false");
  }

  // keys

  pressed(event) {
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "/": () => this.search.focus(), "+": () => this.canvases.forEach(function (canvas) { canvas.zoom(1.3); }),
      "-": () => this.canvases.forEach(function (canvas) { canvas.zoom(1 / 1.3); }), "0": () => this.fit(),
      c: () => this.setConstants(!this.constantsBox.checked), Escape: () => this.clear(), n: () => this.next(1), N: () => this.next(-1),
      "?": () => this.setTab("model"),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** The layers of interest: changes, values of the overlay, or findings. */
  stops() {
    if (this.data.beside) {
      return this.changesInOrder.map((change) => (change.second >= 0 ? [this.nets[1], this.nets[1].layers[change.second]] : [this.nets[0], this.nets[0].layers[change.first]]));
    }
    const net = this.nets[0];
    const overlay = this.overlayFor(net);
    if (overlay) return this.overlayRows(net).slice(0, 200).map(function ([at]) { return [net, net.layers[at]]; });
    return net.findings.filter(function (finding) { return finding.layer; }).map(function (finding) { return [net, finding.layer]; });
  }

  next(step) {
    const stops = this.stops();
    if (!stops.length) return;
    const now = this.selected ? stops.findIndex(([, layer]) => layer === this.selected.layer) : -1;
    const at = now < 0 ? (step > 0 ? 0 : stops.length - 1) : (now + step + stops.length) % stops.length;
    this.selectLayer(stops[at][0], stops[at][1], true);
  }

  // path

  beginPath(net, layer) {
    this.pathFrom = { net, layer };
    this.graphs.classList.add("choosing");
    this.say("Choose the other layer: click it, or search for it. Escape leaves.");
  }

  endPath(net, layer) {
    const from = this.pathFrom;
    this.pathFrom = null;
    this.graphs.classList.remove("choosing");
    if (from.net !== net) return;
    let layers = net.path(from.layer, layer);
    if (!layers.length) layers = net.path(layer, from.layer);
    this.way = { net, layers };
    this.canvasOf(net).highlight(layers);
    this.tab = "path";
    this.showPanel();
    this.say(layers.length ? "A path of " + counted(layers.length - 1, "edge") : "No path between these layers");
  }

  trace(net, layer, upwards) {
    const layers = net.reached(layer, upwards);
    this.canvasOf(net).highlight(layers);
    this.say(counted(layers.length - 1, "layer") + (upwards ? " lead here" : " follow"));
  }

  openPath() {
    const { net, layers } = this.way;
    for (const layer of layers.slice(0, 300)) net.reveal(net.shownFor(layer));
    const canvas = this.canvasOf(net);
    canvas.build();
    canvas.show(net.nodeShowing(layers[0]));
  }

  // overlays

  overlayFor(net) {
    return net.data.overlays.find((overlay) => overlay.id === this.overlayId) || null;
  }

  overlayRows(net) {
    const overlay = this.overlayFor(net);
    if (!overlay) return [];
    const rows = overlay.values.slice();
    if (overlay.kind === "heat") return rows.filter(function (row) { return row[1] > 0; }).sort(function (a, b) { return b[1] - a[1]; });
    const plain = new Set(overlay.groups.flatMap(function ([, tone], at) { return tone === "none" || tone === "good" ? [at] : []; }));
    return rows.filter(function (row) { return !plain.has(row[1]); }).sort(function (a, b) { return a[1] - b[1]; });
  }

  overlayNotes(net, layer) {
    return net.data.overlays.flatMap(function (overlay) {
      if (!overlay.notes) overlay.notes = new Map(overlay.values.map(function ([at, , note]) { return [at, note]; }));
      const note = overlay.notes.get(layer.at);
      return note ? [[overlay.title, note]] : [];
    });
  }

  setOverlay(id) {
    this.overlayId = id;
    this.overlayChoice.value = id;
    for (const net of this.nets) net.tones = this.tonesOf(net);
    for (const canvas of this.canvases) { canvas.drawMapImage(); canvas.refresh(); }
    this.drawLegend();
    this.tab = id ? "overlay" : "model";
    this.showPanel();
  }

  /** For each node the value that colours it: for a group the most telling of its layers. */
  tonesOf(net) {
    const overlay = this.overlayFor(net);
    if (!overlay) return null;
    const tones = new Map();
    const heat = overlay.kind === "heat";
    for (const row of overlay.values) {
      const layer = net.layers[row[0]];
      const host = net.isShown(layer) ? layer : net.hostOf(layer) || layer;
      for (let node = host.node; node; node = node.parent) {
        const before = tones.get(node);
        if (!before || (heat ? row[1] > before[1] : row[1] < before[1])) tones.set(node, row);
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
    const overlay = this.overlayFor(net);
    const dark = document.documentElement.dataset.theme === "dark";
    if (overlay.kind !== "heat") {
      const [name, tone] = overlay.groups[row[1]];
      return tone === "none" ? null : { fill: TONES[tone][dark ? 1 : 0], text: name };
    }
    if (!(row[1] > 0)) return null;
    return { fill: heat(this.share(net, row[1]), dark), text: row[2] };
  }

  share(net, value) {
    if (net.most <= net.least) return 1;
    return Math.log(value / net.least) / Math.log(net.most / net.least);
  }

  drawLegend() {
    const net = this.nets[0];
    const overlay = this.overlayFor(net);
    this.legend.hidden = !overlay;
    if (!overlay) return;
    const dark = document.documentElement.dataset.theme === "dark";
    const parts = [element("b", { text: overlay.title })];
    const swatch = function (fill) {
      const box = element("i", {});
      box.style.setProperty("background", fill);
      return box;
    };
    if (overlay.kind === "heat") {
      parts.push(element("div", { class: "scale" }, [
        element("span", { text: short(net.least) }),
        ...[0, 0.2, 0.4, 0.6, 0.8, 1].map(function (part) { return swatch(heat(part, dark)); }),
        element("span", { text: short(net.most) + " " + overlay.unit }),
      ]));
    } else {
      const counts = new Map();
      for (const row of overlay.values) counts.set(row[1], (counts.get(row[1]) || 0) + 1);
      overlay.groups.forEach(function ([name, tone], at) {
        if (counts.get(at)) parts.push(element("div", { class: "key" }, [tone === "none" ? element("i", {}) : swatch(TONES[tone][dark ? 1 : 0]), element("span", { text: name + ": " + counts.get(at).toLocaleString("en") })]));
      });
    }
    for (const [at, label] of overlay.focus || [])
      parts.push(button(label, () => this.selectLayer(net, net.layers[at], true), { class: "focus" }));
    this.legend.replaceChildren(...parts);
  }

  // two models

  readBeside() {
    const beside = this.data.beside;
    this.changesInOrder = [];
    if (!beside) return;
    this.partners = [new Map(), new Map()];
    for (let at = 0; at < beside.pairs.length; at += 2) {
      this.partners[0].set(beside.pairs[at], beside.pairs[at + 1]);
      this.partners[1].set(beside.pairs[at + 1], beside.pairs[at]);
    }
    this.changesInOrder = beside.changes.map(function ([kind, first, second, lines]) {
      return { kind, first, second, lines, title: CHANGES[kind][1] };
    });
    this.changed = [new Map(), new Map()];
    for (const change of this.changesInOrder) {
      [change.first, change.second].forEach((at, side) => {
        if (at < 0) return;
        const net = this.nets[side];
        this.changed[side].set(at, change);
        const layer = net.layers[at];
        const host = layer.folded ? net.hostOf(layer) || layer : layer;
        for (let node = host.node; node; node = node.parent) {
          node.changes = node.changes || new Map();
          node.changes.set(change.kind, (node.changes.get(change.kind) || 0) + 1);
        }
      });
    }
  }

  partnerOf(net, layer) {
    const side = this.nets.indexOf(net);
    const at = this.partners && this.partners[side].get(layer.at);
    return at === undefined ? null : this.nets[1 - side].layers[at];
  }

  changeOf(net, layer) {
    return this.data.beside ? this.changed[this.nets.indexOf(net)].get(layer.at) || null : null;
  }

  /** The group of the other model that stands for one of this: the one of the same place and name. */
  twinOf(net, node) {
    const other = this.nets[net === this.nets[0] ? 1 : 0];
    const names = [];
    for (let at = node; at.parent; at = at.parent) names.unshift(at);
    let twin = other.root;
    for (const step of names) {
      const partner = step.layer ? this.partnerOf(net, step.layer) : null;
      twin = partner ? partner.node : twin.children.find(function (child) { return child.kind === step.kind && child.name === step.name && !child.layer; });
      if (!twin) return null;
    }
    return twin.children.length ? { net: other, node: twin } : null;
  }

  mark(net, node) {
    if (!node.changes) return null;
    const own = node.layer && this.changeOf(net, node.layer);
    if (own) return { kind: own.kind, sign: CHANGES[own.kind][0], text: own.title };
    if (node.layer && !node.children.length) return { kind: "changed", sign: CHANGES.changed[0], text: "its constants changed" };
    const kind = Object.keys(CHANGES).find(function (each) { return node.changes.has(each); });
    const total = Array.from(node.changes.values()).reduce(function (a, b) { return a + b; }, 0);
    return { kind, sign: CHANGES[kind][0], text: counted(total, "change") };
  }
}

const CHANGES = { removed: ["−", "removed"], added: ["+", "added"], changed: ["~", "changed"], values: ["≠", "other values"], inherited: ["·", "types or shapes follow"] };
const TONES = { good: ["#d8f0df", "#1d4a2c"], note: ["#d9e9fb", "#1b3a57"], warn: ["#fde7b8", "#5a4310"], bad: ["#f9c9c6", "#6b2326"] };

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
}

/** A drawing as PNG, as large as browsers allow. */
function pictured(blob, scene, done) {
  const image = new Image();
  image.onload = function () {
    const scale = Math.min(2, 16000 / Math.max(scene.w, scene.h, 1), Math.sqrt(1e8 / (scene.w * scene.h || 1)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil((scene.w + 40) * scale);
    canvas.height = Math.ceil((scene.h + 40) * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob(done, "image/png");
  };
  image.src = URL.createObjectURL(blob);
}

function heat(share, dark) {
  const stops = dark ? [[38, 40, 46], [92, 58, 30], [150, 52, 34]] : [[255, 248, 232], [253, 212, 148], [240, 132, 104]];
  const at = Math.max(0, Math.min(1, share)) * 2;
  const low = stops[Math.min(1, Math.floor(at))];
  const high = stops[Math.min(1, Math.floor(at)) + 1];
  const part = at - Math.min(1, Math.floor(at));
  return "rgb(" + low.map(function (value, index) { return Math.round(value + (high[index] - value) * part); }).join(",") + ")";
}

/** Whether a text fits a search: all words, or the expression between slashes. */
function matcher(text, words) {
  const between = /^\/(.+)\/$/.exec(text.trim());
  if (between) {
    try {
      const expression = new RegExp(between[1], "i");
      return function (index) { return expression.test(index); };
    } catch (error) {
      return function () { return false; };
    }
  }
  return function (index) { return words.every(function (word) { return index.includes(word); }); };
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

new Page(JSON.parse(document.getElementById("document").textContent));
