// Builds the page, and reacts to the user.

const MOST_OPEN = 3000;

class Page {
  constructor(data) {
    this.data = data;
    this.nets = data.models.map(function (model, at) { return new Net(model, "ab"[at]); });
    this.selected = null;
    this.tab = "model";
    this.way = null;
    this.pathFrom = null;
    this.following = false;
    this.panel = new Panel(this);
    this.search = new Search(this);
    this.overlays = new Overlays(this);
    this.beside = new Beside(this);
    this.links = new Links(this);
    this.canvases = this.nets.map((net) => new Canvas(net, this, "graph of " + visible(net.data.path)));
    this.buildPage();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    for (const net of this.nets) net.openSome(this.nets.length > 1 ? 30 : 44);
    this.rebuild();
    for (const canvas of this.canvases) canvas.fit(0.75);
    this.tab = this.data.beside ? "changes" : this.nets.some(function (net) { return net.findings.some(function (finding) { return finding.severity !== "info"; }); }) ? "findings" : "model";
    const first = this.nets[0].data.overlays.find(function (overlay) { return overlay.first; });
    if (first) this.overlays.choose(first.id);
    else this.showPanel();
    this.links.follow();
    window.addEventListener("hashchange", () => this.links.follow());
    window.addEventListener("resize", () => this.canvases.forEach(function (canvas) { canvas.drawSoon(); }));
    document.addEventListener("keydown", (event) => this.pressed(event));
    window.addEventListener("beforeprint", () => document.body.append(
      element("div", { class: "print" }, this.canvases.map(function (canvas) {
        const drawing = canvas.drawing();
        drawing.querySelector("style").remove();
        return drawing;
      }))));
    window.addEventListener("afterprint", function () { document.querySelectorAll("body > .print").forEach(function (each) { each.remove(); }); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches ? "dark" : "light"));
    document.documentElement.dataset.ready = "yes";
  }

  // the page

  buildPage() {
    const totals = { error: 0, warning: 0, info: 0 };
    for (const net of this.nets) for (const finding of net.findings) totals[finding.severity]++;
    const worst = SEVERITIES.find(function (severity) { return totals[severity]; });
    this.wheelScrolls = false;
    this.constantsBox = this.box("constants", (checked) => this.setConstants(checked));
    const check = function (box, text, title) { return element("label", { class: "check", title }, [box, text]); };
    const menu = this.menu = element("details", { class: "menu" }, [element("summary", { text: "View" }), element("div", {}, [
      check(this.constantsBox, "Constants as layers", "c"),
      check(this.box("attributes", (checked) => this.setOption("showAttributes", checked)), "Attributes on layers"),
      check(this.box("names", (checked) => this.setOption("showNames", checked)), "Ids and whole names on layers"),
      check(this.box("sideways", (checked) => this.setOption("direction", checked ? "LR" : "TB")), "From left to right"),
      check(this.box("scrolls", (checked) => { this.wheelScrolls = checked; }), "Wheel scrolls; Ctrl and wheel zoom"),
      button("Save as SVG", () => saveDrawings(this.nets, this.canvases, "svg"), { title: "Save the graph, with its open groups, as a drawing" }),
      button("Save as PNG", () => saveDrawings(this.nets, this.canvases, "png"), { title: "Save the graph, with its open groups, as a picture" }),
      button("Copy a link to this view", () => this.links.copy(this.links.toView()), { title: "The link restores the open groups, the position, the selected layer and the coloured searches" }),
      button("Open all groups", () => this.openEverything(), { id: "open-all" }),
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
    this.aside = element("aside", { "aria-label": "Details" }, [
      element("div", { class: "tabs", role: "tablist", "aria-label": "What to show" }, Array.from(this.tabs.values())),
      this.panelBox,
    ]);
    const views = this.canvases.map((canvas, at) => element("section", { class: "view", "aria-label": visible(this.nets[at].data.path) }, [
      this.nets.length > 1 ? element("p", { class: "path", text: ["before: ", "after: "][at] + this.nets[at].data.path }) : null, canvas.box,
    ]));
    this.graphs = element("main", { class: this.nets.length > 1 ? "beside" : "" }, [...views, this.overlays.legend, this.status]);
    const title = this.nets.map(function (net) { return net.data.path.replace(/^.*[/\\]/, "") || net.data.name; }).join(" → ");
    document.body.append(
      element("header", { class: "bar" }, [
        element("h1", { text: title, title: visible(this.nets[0].data.path) }),
        this.search.box,
        this.overlays.choice,
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
    document.addEventListener("click", function (event) { if (!event.target.closest(".menu") || event.target.closest(".menu button")) menu.open = false; });
    document.addEventListener("copy", (event) => this.copied(event));
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

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    for (const canvas of this.canvases) if (canvas.scene.byNode) { canvas.drawMapImage(); canvas.refresh(); }
    this.overlays.drawLegend();
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
      this.leaveAlone(net);
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

  /** Opens all groups of models of up to `MOST_OPEN` layers. Larger models take too long to lay out. */
  openEverything() {
    const small = this.nets.filter(function (net) { return net.leaves(net.root).length <= MOST_OPEN; });
    if (small.length < this.nets.length) this.say("A model of more than " + numbers.format(MOST_OPEN) + " layers is too large to open all groups at once", true);
    for (const net of small) this.openAll(net, net.root);
    this.fit();
  }

  setTab(id) {
    this.tab = id;
    this.aside.classList.remove("folded");
    this.showPanel();
  }

  showPanel() {
    const { panel, selected } = this;
    const has = {
      layer: Boolean(selected), findings: true, model: true, overlay: Boolean(this.overlays.id), changes: Boolean(this.data.beside), path: this.way !== null,
    };
    if (!has[this.tab]) this.tab = "model";
    for (const [id, tab] of this.tabs) {
      tab.hidden = !has[id];
      tab.setAttribute("aria-selected", String(id === this.tab));
    }
    this.panelBox.setAttribute("aria-labelledby", "tab-" + this.tab);
    const parts = {
      layer: () => (selected.layer ? panel.layer(selected.net, selected.layer) : selected.edge ? panel.edge(selected.net, selected.edge) : panel.group(selected.net, selected.node)),
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

  /** Lets a screen reader read a text. shown: also shows the text for a while. */
  say(text, shown) {
    this.status.textContent = visible(text);
    if (!shown) return;
    this.status.classList.add("shown");
    setTimeout(() => this.status.classList.remove("shown"), 4000);
  }

  /** Copies the name of the selected layer to the clipboard, unless text is selected. */
  copied(event) {
    const layer = this.selected && this.selected.layer;
    if (!layer || String(document.getSelection()) || (event.target.closest && event.target.closest("input, textarea"))) return;
    event.clipboardData.setData("text/plain", layer.name);
    event.preventDefault();
    this.say("Copied " + layer.name, true);
  }

  // selection

  canvasOf(net) {
    return this.canvases[this.nets.indexOf(net)];
  }

  selectedNode(net) {
    const selected = this.selected;
    if (!selected) return null;
    if (selected.net === net) return selected.layer ? net.nodeShowing(selected.layer) : selected.node;
    const partner = selected.layer && this.beside.partnerOf(selected.net, selected.layer);
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

  /** Selects a layer. follow: also bring the layer into view, and open the groups that hide it. */
  selectLayer(net, layer, follow) {
    if (this.pathFrom) {
      this.endPath(net, layer);
      return;
    }
    const canvas = this.canvasOf(net);
    this.selected = { net, node: layer.node, layer };
    if (!net.contains(net.top, net.shownFor(layer).node)) this.showAlone(net, net.root);
    const revealed = follow && net.reveal(net.shownFor(layer));
    if (revealed) canvas.build();
    this.after(net, net.nodeShowing(layer), follow, revealed);
    this.say(canvas.spoken(layer.node));
    const hash = "#" + this.links.to(net, layer);
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  after(net, node, follow, moved) {
    const canvas = this.canvasOf(net);
    if (follow && (moved || !canvas.isInView(node))) canvas.show(node);
    canvas.svg.setAttribute("aria-activedescendant", canvas.idOf(node));
    if (this.nets.length > 1) this.beside.align(net, node, this.selected.layer);
    this.tab = "layer";
    this.showPanel();
    this.refresh();
  }

  /** Shows the tensors of an edge. */
  selectEdge(net, edge) {
    this.selected = { net, node: null, layer: null, edge };
    this.tab = "layer";
    this.showPanel();
    this.refresh();
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
    if (!node.open && node === net.top) {
      this.showAlone(net, net.root);
      return;
    }
    if (!node.open && this.selected && this.selected.net === net && !this.selected.layer) this.selected.node = node;
    if (!node.layer) this.selected = { net, node, layer: null };
    canvas.build();
    canvas.keep(node, place);
    if (this.nets.length > 1 && !this.following) {
      const twin = this.beside.twinOf(net, node);
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

  /** Draws only one group. For the root, draws the whole model. */
  showAlone(net, node) {
    const canvas = this.canvasOf(net);
    net.top = node;
    net.setOpen(node, true);
    canvas.alone.replaceChildren(
      element("span", { text: "Only " + (node.name || node.kind) + " is shown. " }),
      button("Show the whole model", () => this.showAlone(net, net.root)),
    );
    canvas.alone.hidden = node === net.root;
    canvas.build();
    canvas.fit(0.5);
    if (node === net.root && this.selected && this.selected.node) canvas.show(this.selected.layer ? net.nodeShowing(this.selected.layer) : this.selected.node);
    this.showPanel();
  }

  leaveAlone(net) {
    net.top = net.root;
    this.canvasOf(net).alone.hidden = true;
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

  // keys

  pressed(event) {
    if (event.key === "Escape" && this.menu.open) {
      this.menu.open = false;
      this.menu.querySelector("summary").focus();
      return;
    }
    if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      "/": () => this.search.input.focus(), "+": () => this.canvases.forEach(function (canvas) { canvas.zoom(1.3); }),
      "-": () => this.canvases.forEach(function (canvas) { canvas.zoom(1 / 1.3); }), "0": () => this.fit(), "1": () => this.canvases.forEach(function (canvas) { canvas.zoom(1 / canvas.view.k); }),
      c: () => this.setConstants(!this.constantsBox.checked), Escape: () => this.clear(), n: () => this.next(1), N: () => this.next(-1),
      "?": () => this.setTab("model"), u: () => this.canvases.forEach(function (canvas) { canvas.stepOut(); }),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Returns the layers at which the keys n and N stop: those with changes, values of the overlay, or findings. */
  stops() {
    if (this.data.beside) {
      return this.beside.changes.map((change) => (change.second >= 0 ? [this.nets[1], this.nets[1].layers[change.second]] : [this.nets[0], this.nets[0].layers[change.first]]));
    }
    const net = this.nets[0];
    const overlay = this.overlays.of(net);
    if (overlay) return this.overlays.rows(net).slice(0, 200).map(function ([at]) { return [net, net.layers[at]]; });
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
    this.say("Choose the other layer: click it, or search for it. Escape cancels.");
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
}

new Page(JSON.parse(document.getElementById("document").textContent));
