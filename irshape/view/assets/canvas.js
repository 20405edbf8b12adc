// Draws the open groups of a model, as far as they are in view. Handles mouse, touch and keys.

const MOST_DRAWN = 1500;
const FAMILIES = {
  matrix: "matrix", convolution: "matrix", activation: "activation", normalization: "norm", reduction: "norm",
  pooling: "norm", movement: "movement", shape: "movement", arithmetic: "arithmetic", elementwise: "arithmetic",
  comparison: "arithmetic", logical: "arithmetic", bitwise: "arithmetic", control_flow: "control", infrastructure: "ends",
  condition: "control", sequence: "control", quantization: "types", type_conversion: "types", detection: "control", image: "movement",
  tokenization: "control", embedding: "matrix", generation: "ends",
};

class Canvas {
  /** page: its `select`, `toggle` and `moved` are called when the user does so. */
  constructor(net, page, label) {
    this.net = net;
    this.page = page;
    this.view = { x: 0, y: 0, k: 1 };
    this.scene = { frames: [], edges: [], cards: [], pills: [], w: 0, h: 0 };
    this.live = new Map();
    this.path = null;
    this.layers = {};
    this.world = drawn("g", { class: "world" });
    for (const name of ["frames", "edges", "cards"]) this.world.append((this.layers[name] = drawn("g", { class: name })));
    this.svg = drawn("svg", {
      class: "graph", tabindex: 0, role: "application", "aria-roledescription": "graph", "aria-label": label,
    }, [
      drawn("defs", {}, [
        drawn("marker", { id: "tip" + net.side, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
          [drawn("path", { d: "M0 0.8 L7.5 4 L0 7.2 z", class: "tip" })]),
      ]),
      this.world,
    ]);
    this.map = element("canvas", { class: "minimap", "aria-hidden": "true" });
    this.mapImage = document.createElement("canvas");
    this.alone = element("div", { class: "alone", hidden: true });
    this.box = element("div", { class: "canvas" }, [this.svg, this.map, this.alone]);
    this.listen();
  }

  // the scene: all open groups and their members, with places that do not depend on the view

  build() {
    const scene = { frames: [], edges: [], cards: [], pills: [], byNode: new Map() };
    const root = planned(this.net, this.net.top);
    const put = (plan, x, y) => {
      for (const box of plan.boxes) {
        const item = { node: box.node, x: x + box.x, y: y + box.y, w: box.w, h: box.h };
        scene.byNode.set(box.node, item);
        if (box.node.open) {
          scene.frames.push(item);
          put(box.node.plan, item.x, item.y);
        } else scene.cards.push(item);
      }
      for (const edge of plan.edges) {
        const points = edge.points.map(function ([a, b]) { return [a + x, b + y]; });
        const xs = points.map(function (point) { return point[0]; });
        const ys = points.map(function (point) { return point[1]; });
        const left = Math.min(...xs);
        const top = Math.min(...ys);
        scene.edges.push({
          edge, points, place: edge.place && [edge.place[0] + x, edge.place[1] + y],
          x: left - 40, y: top - 10, w: Math.max(...xs) - left + 80, h: Math.max(...ys) - top + 20,
        });
      }
      for (const pill of plan.pills) scene.pills.push({ pill, x: x + pill.x, y: y + pill.y, w: pill.w, h: pill.h });
    };
    put(root, 0, 0);
    scene.w = root.w;
    scene.h = root.h;
    this.scene = scene;
    for (const shown of this.live.values()) shown.remove();
    this.live.clear();
    this.drawMapImage();
    this.draw();
  }

  // what is in view

  draw() {
    const { x, y, k } = this.view;
    this.world.setAttribute("transform", "translate(" + x + " " + y + ") scale(" + k + ")");
    const width = this.svg.clientWidth || 800;
    const height = this.svg.clientHeight || 600;
    const margin = 200;
    const left = (-x - margin) / k;
    const top = (-y - margin) / k;
    const right = (width - x + margin) / k;
    const bottom = (height - y + margin) / k;
    const inView = function (item) {
      return item.x < right && item.y < bottom && item.x + item.w > left && item.y + item.h > top;
    };
    const frames = this.scene.frames.filter(inView).filter(function (item) { return item.h * k > 4; });
    let cards = this.scene.cards.filter(inView);
    if (cards.length > MOST_DRAWN) cards = thinned(cards, MOST_DRAWN);
    const near = k > 0.22;
    const edges = cards.length > MOST_DRAWN / 2 && !near ? [] : this.scene.edges.filter(inView).slice(0, 2 * MOST_DRAWN);
    const pills = near ? this.scene.pills.filter(inView) : [];
    this.svg.classList.toggle("far", !near);
    const wanted = new Set();
    const keep = (item, layer, make) => {
      wanted.add(item);
      if (this.live.has(item)) return;
      const shown = make(item);
      this.live.set(item, shown);
      layer.append(shown);
    };
    for (const item of frames) keep(item, this.layers.frames, (one) => this.frame(one));
    for (const item of edges) keep(item, this.layers.edges, (one) => this.edge(one));
    for (const item of cards) keep(item, this.layers.cards, (one) => this.card(one));
    for (const item of pills) keep(item, this.layers.cards, (one) => this.pill(one));
    for (const [item, shown] of this.live) {
      if (wanted.has(item)) continue;
      shown.remove();
      this.live.delete(item);
    }
    this.drawMap();
  }

  /** Draws at the next frame. Several calls before that frame draw once. */
  drawSoon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  frame(item) {
    const node = item.node;
    const selected = this.page.isSelected(this.net, node);
    const title = frameTitle(node);
    const width = widthOf(title, TITLE);
    return drawn("g", {
      class: "frame " + node.kind + (selected ? " selected" : "") + " deep" + (node.depth % 2),
      transform: "translate(" + item.x + " " + item.y + ")",
    }, [
      drawn("rect", { width: item.w, height: item.h, rx: 10 }),
      drawn("g", {
        class: "head", role: "button", "aria-expanded": "true",
        id: this.idOf(node), "data-node": node.begin,
      }, [
        drawn("rect", { class: "hit", width: item.w, height: HEAD, rx: 10 }),
        toggleSign(10, 8, true),
        drawn("text", { class: "title", x: 32, y: 20, text: title }),
        drawn("text", { class: "count", x: 40 + width, y: 20, text: this.summary(node) }),
      ]),
    ]);
  }

  summary(node) {
    if (node.kind === "layer") return "";
    const count = counted(this.net.leaves(node).length, "layer");
    return node.kind === "repeat" ? "×" + numbers.format(this.net.blocks(node)) + ", " + count : count;
  }

  card(item) {
    const node = item.node;
    const shown = card(this.net, node);
    const layer = node.layer;
    const isGroup = node.children.length > 0;
    const tone = this.page.overlays.tone(this.net, node);
    const classes = ["card", isGroup ? "group" : "layer", node.kind];
    if (layer && layer.kind.page) classes.push("family-" + (FAMILIES[layer.kind.page.category] || "other"));
    if (layer && !layer.kind.page) classes.push("family-unknown");
    if (this.page.isSelected(this.net, node)) classes.push("selected");
    if (this.path) classes.push(this.path.has(node) ? "on-path" : "off-path");
    const worst = SEVERITIES.find(function (severity) { return node.findings[severity]; });
    if (worst) classes.push("has-" + worst);
    const mark = this.page.beside.mark(this.net, node);
    if (mark) classes.push("mark-" + mark.kind);
    const body = drawn("rect", { class: "body", width: item.w, height: item.h, rx: 7 });
    if (tone) body.style.setProperty("fill", tone.fill);
    if (tone) classes.push("toned");
    const parts = [];
    if (node.kind === "repeat") {
      parts.push(drawn("rect", { class: "behind", x: 8, y: 8, width: item.w, height: item.h, rx: 7 }));
      parts.push(drawn("rect", { class: "behind", x: 4, y: 4, width: item.w, height: item.h, rx: 7 }));
    }
    parts.push(body);
    if (layer) parts.push(drawn("path", { class: "stripe", d: "M0 7 a7 7 0 0 1 5 -6.7 V" + (item.h - 0.3) + " a7 7 0 0 1 -5 -6.7 z" }));
    const inset = isGroup ? 32 : 14;
    if (isGroup) parts.push(toggleSign(10, 7, false));
    parts.push(drawn("text", { class: "title", x: inset, y: 19, text: shown.title }));
    shown.lines.forEach(function (line, at) {
      parts.push(drawn("text", { class: line.style, x: 14, y: 35 + at * 15, text: line.text }));
    });
    if (worst) parts.push(badge(item.w, worst, node.findings[worst]));
    if (mark) parts.push(drawn("g", { class: "change " + mark.kind, transform: "translate(" + (item.w - 2) + " " + item.h + ")" }, [
      drawn("circle", { r: 9 }), drawn("text", { "text-anchor": "middle", y: 4, text: mark.sign }),
    ]));
    return drawn("g", {
      class: classes.join(" "), transform: "translate(" + item.x + " " + item.y + ")", role: "button",
      id: this.idOf(node), "data-node": node.begin,
      "aria-expanded": isGroup ? "false" : null,
    }, [...parts, drawn("title", { text: this.spoken(node) })]);
  }

  /** Returns the text that a screen reader reads for a node. */
  spoken(node) {
    const parts = [];
    if (node.layer) {
      parts.push(node.layer.type + " " + node.layer.name);
      const outputs = node.layer.outputs.map((output) => this.net.tensorText(output));
      if (outputs.length) parts.push(outputs.slice(0, 3).join(", "));
    } else parts.push((node.kind === "repeat" ? "repeated " : "") + "group " + node.name, this.summary(node));
    for (const severity of SEVERITIES)
      if (node.findings[severity]) parts.push(counted(node.findings[severity], severity));
    const tone = this.page.overlays.tone(this.net, node);
    if (tone && tone.text) parts.push(tone.text);
    const mark = this.page.beside.mark(this.net, node);
    if (mark) parts.push(mark.text);
    return parts.join("; ");
  }

  edge(item) {
    const { edge, points } = item;
    const label = edge.label;
    const classes = ["edge"];
    if (edge.loose) classes.push("loose");
    if (edge.soft) classes.push("soft");
    if (label && label.clash) classes.push("clash");
    if (label && label.dynamic) classes.push("dynamic");
    if (this.path) classes.push(edge.from && this.path.has(edge.from) && this.path.has(edge.to) ? "on-path" : "off-path");
    const parts = [drawn("path", { d: curve(points), "marker-end": "url(#tip" + this.net.side + ")" })];
    if (label && item.place) {
      const width = widthOf(label.text, CODE) + 8;
      parts.push(drawn("rect", { x: item.place[0] - width / 2, y: item.place[1] - 9, width, height: 17, rx: 4 }));
      parts.push(drawn("text", { x: item.place[0], y: item.place[1] + 4, "text-anchor": "middle", text: label.text }));
    }
    const group = drawn("g", { class: classes.join(" ") }, parts);
    if (edge.tensors) {
      parts[0].before(drawn("path", { class: "wide", d: curve(points) }));
      if (this.page.selected && this.page.selected.edge === edge) group.classList.add("selected");
      group.edge = edge;
      group.setAttribute("role", "img");
      group.prepend(drawn("title", { text: nodeName(edge.from) + " to " + nodeName(edge.to) + (label ? ": " + label.text : "") }));
    }
    return group;
  }

  pill(item) {
    const pill = item.pill;
    return drawn("g", {
      class: "pill", transform: "translate(" + item.x + " " + item.y + ")", role: "button",
      "data-layer": pill.target.at,
    }, [
      drawn("rect", { width: item.w, height: item.h, rx: 10 }),
      drawn("text", { x: item.w / 2, y: 14, "text-anchor": "middle", text: pill.text }),
    ]);
  }

  idOf(node) {
    return "node-" + this.net.side + "-" + node.begin;
  }

  /** Highlights these layers and the edges between them; null for none. */
  highlight(layers) {
    this.path = layers && new Set();
    for (const layer of layers || []) {
      for (let node = this.net.shownFor(layer).node; node && !this.path.has(node); node = node.parent) this.path.add(node);
    }
    this.refresh();
  }

  /** Returns everything that is open as an SVG for a file. */
  drawing() {
    const { scene } = this;
    const parts = [
      ...scene.frames.map((item) => this.frame(item)), ...scene.edges.map((item) => this.edge(item)),
      ...scene.cards.map((item) => this.card(item)), ...scene.pills.map((item) => this.pill(item)),
    ];
    return drawn("svg", {
      xmlns: SVG, class: "graph export", width: scene.w + 40, height: scene.h + 40, viewBox: "-20 -20 " + (scene.w + 40) + " " + (scene.h + 40),
      "data-theme": document.documentElement.dataset.theme,
    }, [drawn("style", { text: "" }), this.svg.querySelector("defs").cloneNode(true), drawn("rect", { class: "page", x: -20, y: -20, width: scene.w + 40, height: scene.h + 40 }), ...parts]);
  }

  /** Draws everything again, at unchanged places. */
  refresh() {
    for (const shown of this.live.values()) shown.remove();
    this.live.clear();
    this.draw();
  }

  // the view

  itemOf(node) {
    return this.scene.byNode.get(node);
  }

  /** Where a node is on the screen. */
  screen(node) {
    const item = this.itemOf(node);
    if (!item) return null;
    return [item.x * this.view.k + this.view.x, item.y * this.view.k + this.view.y];
  }

  /** Moves the view so that a node is at `place` on the screen; by default in the middle. */
  show(node, place) {
    const item = this.itemOf(node);
    if (!item) return;
    const width = this.svg.clientWidth || 800;
    const height = this.svg.clientHeight || 600;
    if (this.view.k < 0.5) this.view.k = 0.8;
    const k = this.view.k;
    if (place) {
      this.view.x = place[0] - item.x * k;
      this.view.y = place[1] - item.y * k;
    } else {
      this.view.x = width / 2 - (item.x + Math.min(item.w, width / k) / 2) * k;
      this.view.y = item.h * k < height * 0.8 ? height / 2 - (item.y + item.h / 2) * k : 60 - item.y * k;
    }
    this.draw();
  }

  /** Moves the view so that an opened or closed group keeps its place on the screen, if it fits there. */
  keep(node, [middle, top]) {
    const item = this.itemOf(node);
    const { k } = this.view;
    const width = this.svg.clientWidth || 800;
    const half = (item.w / 2) * k;
    const centre = 2 * half > width - 40 ? 20 + half : Math.min(Math.max(middle, 20 + half), width - 20 - half);
    this.view.x = centre - half - item.x * k;
    this.view.y = Math.max(top, 20) - item.y * k;
    this.draw();
  }

  isInView(node) {
    const item = this.itemOf(node);
    if (!item) return false;
    const { x, y, k } = this.view;
    const left = item.x * k + x;
    const top = item.y * k + y;
    const right = left + Math.min(item.w * k, 200);
    const bottom = top + Math.min(item.h * k, 100);
    const [width, height] = [this.svg.clientWidth, this.svg.clientHeight];
    const underMap = right > width - this.map.width - 16 && bottom > height - this.map.height - 16;
    return left > 0 && top > 0 && right < width && bottom < height && !underMap;
  }

  /** Zooms so that the whole graph is visible. least: the smallest scale. */
  fit(least) {
    const width = this.svg.clientWidth || 800;
    const height = this.svg.clientHeight || 600;
    const { w, h } = this.scene;
    const k = Math.max(least || 0.02, Math.min(1, (width - 40) / (w || 1), (height - 60) / (h || 1)));
    const down = this.net.direction === "TB";
    const near = this.scene.cards.filter(function (item) { return down ? item.y * k < height : item.x * k < width; });
    const middle = function (at, size) { return near.reduce(function (sum, item) { return sum + item[at] + item[size] / 2; }, 0) / (near.length || 1); };
    const start = function (size, room, place, along) {
      if (size * k < room - 60) return (room - size * k) / 2;
      return along ? 30 : room / 2 - place * k;
    };
    this.view = { k, x: start(w, width, middle("x", "w"), !down), y: start(h, height, middle("y", "h"), down) };
    this.draw();
  }

  zoom(factor, place) {
    const [px, py] = place || [this.svg.clientWidth / 2, this.svg.clientHeight / 2];
    const k = Math.min(2.5, Math.max(0.02, this.view.k * factor));
    const ratio = k / this.view.k;
    this.view = { k, x: px - (px - this.view.x) * ratio, y: py - (py - this.view.y) * ratio };
    this.drawSoon();
    this.page.moved(this, 0, 0, ratio, [px, py]);
  }

  pan(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.drawSoon();
    this.page.moved(this, dx, dy, 1, null);
  }

  // minimap

  drawMapImage() {
    const { w, h, frames, cards } = this.scene;
    const scale = Math.min(150 / (w || 1), 170 / (h || 1));
    const width = Math.max(24, Math.round(w * scale));
    const height = Math.max(24, Math.round(h * scale));
    this.mapScale = scale;
    this.mapImage.width = this.map.width = width;
    this.mapImage.height = this.map.height = height;
    const pencil = this.mapImage.getContext("2d");
    const colours = getComputedStyle(document.documentElement);
    pencil.fillStyle = colours.getPropertyValue("--frame");
    for (const item of frames) pencil.fillRect(item.x * scale, item.y * scale, item.w * scale, item.h * scale);
    const plain = colours.getPropertyValue("--line");
    const error = colours.getPropertyValue("--error");
    for (const item of cards) {
      const tone = this.page.overlays.tone(this.net, item.node);
      pencil.fillStyle = item.node.findings.error ? error : tone ? tone.fill : plain;
      pencil.fillRect(item.x * scale, item.y * scale, Math.max(1, item.w * scale), Math.max(1, item.h * scale));
    }
  }

  drawMap() {
    const { x, y, k } = this.view;
    const pencil = this.map.getContext("2d");
    const scale = this.mapScale || 1;
    pencil.clearRect(0, 0, this.map.width, this.map.height);
    pencil.drawImage(this.mapImage, 0, 0);
    pencil.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--link");
    pencil.lineWidth = 1.5;
    const left = Math.max(1, (-x / k) * scale);
    const top = Math.max(1, (-y / k) * scale);
    const right = Math.min(this.map.width - 1, ((this.svg.clientWidth - x) / k) * scale);
    const bottom = Math.min(this.map.height - 1, ((this.svg.clientHeight - y) / k) * scale);
    pencil.strokeRect(left, top, right - left, bottom - top);
  }

  // mouse, touch and keys

  listen() {
    const fingers = new Map();
    let moved = 0;
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const area = this.svg.getBoundingClientRect();
      if (event.shiftKey) this.pan(-event.deltaY, 0);
      else if (this.page.wheelScrolls && !event.ctrlKey) this.pan(-event.deltaX, -event.deltaY);
      else this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), [event.clientX - area.left, event.clientY - area.top]);
    }, { passive: false });
    this.svg.addEventListener("pointerdown", function (event) {
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      moved = 0;
    });
    this.svg.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const dx = event.clientX - before[0];
      const dy = event.clientY - before[1];
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved > 4 && !this.svg.hasPointerCapture(event.pointerId)) this.svg.setPointerCapture(event.pointerId);
      if (fingers.size === 2) {
        const other = Array.from(fingers).find(function ([id]) { return id !== event.pointerId; })[1];
        const distance = function (point) { return Math.hypot(point[0] - other[0], point[1] - other[1]); };
        const area = this.svg.getBoundingClientRect();
        this.zoom((distance([event.clientX, event.clientY]) || 1) / (distance(before) || 1), [other[0] - area.left, other[1] - area.top]);
      } else if (moved > 4) this.pan(dx, dy);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    const up = function (event) { fingers.delete(event.pointerId); };
    this.svg.addEventListener("pointerup", up);
    this.svg.addEventListener("pointercancel", up);
    this.svg.addEventListener("click", (event) => {
      if (moved > 4) return;
      const pill = event.target.closest("[data-layer]");
      const shown = event.target.closest("[data-node]");
      const line = event.target.closest(".edge");
      if (pill) this.page.select(this.net, this.net.layers[Number(pill.dataset.layer)].node, true);
      else if (shown) this.chosen(Number(shown.dataset.node), event.target.closest(".sign") !== null);
      else if (line && line.edge) this.page.selectEdge(this.net, line.edge);
      else this.page.clear();
    });
    this.map.addEventListener("pointerdown", (event) => {
      const go = (at) => {
        const area = this.map.getBoundingClientRect();
        const k = this.view.k;
        this.view.x = this.svg.clientWidth / 2 - ((at.clientX - area.left) / this.mapScale) * k;
        this.view.y = this.svg.clientHeight / 2 - ((at.clientY - area.top) / this.mapScale) * k;
        this.drawSoon();
      };
      this.map.setPointerCapture(event.pointerId);
      this.map.onpointermove = go;
      this.map.onpointerup = () => { this.map.onpointermove = null; };
      go(event);
    });
    this.svg.addEventListener("keydown", (event) => this.pressed(event));
  }

  chosen(number, onSign) {
    const node = this.nodeNumbered(number);
    if (node.children.length && (node.kind !== "layer" || onSign || node.open)) this.page.toggle(this.net, node);
    else this.page.select(this.net, node, false);
  }

  nodeNumbered(number) {
    for (const node of this.scene.byNode.keys()) if (node.begin === number) return node;
    return this.net.root;
  }

  pressed(event) {
    const direction = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (direction && event.shiftKey) this.pan(-80 * direction[0], -80 * direction[1]);
    else if (direction) this.step(direction);
    else if (event.key === "Enter" || event.key === " ") {
      const node = this.page.selectedNode(this.net);
      if (node && node.children.length) this.page.toggle(this.net, node);
      else if (node) this.page.focusPanel();
    } else return;
    event.preventDefault();
  }

  /** Selects the next node in a direction, if possible along an edge. Enters and leaves open groups. */
  step([dx, dy]) {
    const selected = this.page.selectedNode(this.net);
    const from = selected && this.itemOf(selected);
    if (!from) {
      const first = this.scene.cards.slice().sort(function (a, b) { return a.y - b.y; })[0];
      if (first) this.page.select(this.net, first.node, true);
      return;
    }
    const way = this.net.direction === "TB" ? dy : dx;
    const linked = this.linked(selected, way);
    const within = way > 0 && selected.open ? this.scene.cards.filter((item) => this.net.contains(selected, item.node)) : null;
    const centre = within ? [from.x + from.w / 2, from.y] : [from.x + from.w / 2, from.y + from.h / 2];
    let best = null;
    let least = Infinity;
    for (const item of within || this.scene.cards) {
      if (item.node === selected) continue;
      const x = item.x + item.w / 2 - centre[0];
      const y = item.y + item.h / 2 - centre[1];
      const ahead = dx * x + dy * y;
      const aside = Math.abs(dx ? y : x);
      if (ahead <= 1 && !linked.has(item.node)) continue;
      const distance = ahead + 2 * aside - (linked.has(item.node) ? 1e6 : 0);
      if (distance < least) [best, least] = [item.node, distance];
    }
    if (best) this.page.select(this.net, best, true);
  }

  /** Returns the nodes that show the consumers of a node or, if `way` is negative, its producers. */
  linked(node, way) {
    const { net } = this;
    const nodes = new Set();
    for (const layer of way && !(way > 0 && node.open) ? net.leaves(node) : []) {
      const next = way > 0
        ? layer.outputs.flatMap(function (output) { return output.users.map(function ([user]) { return user; }); })
        : layer.inputs.map(function (input) { return input.layer; });
      for (const at of next) {
        if (at < 0 || !net.isShown(net.layers[at]) || net.contains(node, net.layers[at].node)) continue;
        nodes.add(net.nodeShowing(net.layers[at]));
      }
    }
    return nodes;
  }

  /** Selects the open group that contains the selected node. */
  stepOut() {
    const selected = this.page.selectedNode(this.net);
    const around = selected && selected.parent;
    if (around && around !== this.net.top) this.page.select(this.net, around, true);
  }
}

function thinned(items, most) {
  const step = items.length / most;
  const kept = [];
  for (let at = 0; at < items.length; at += step) kept.push(items[Math.floor(at)]);
  return kept;
}

function toggleSign(x, y, open) {
  return drawn("g", { class: "sign", transform: "translate(" + x + " " + y + ")" }, [
    drawn("rect", { width: 15, height: 15, rx: 4 }),
    drawn("path", { d: open ? "M4 7.5 H11" : "M4 7.5 H11 M7.5 4 V11" }),
  ]);
}

function badge(width, severity, count) {
  const text = count > 99 ? "99+" : String(count);
  const size = Math.max(18, widthOf(text, SMALL) + 10);
  return drawn("g", { class: "badge " + severity, transform: "translate(" + (width - size + 6) + " -8)" }, [
    drawn("rect", { width: size, height: 18, rx: 9 }),
    drawn("text", { x: size / 2, y: 13, "text-anchor": "middle", text }),
  ]);
}

function curve(points) {
  const at = function ([x, y]) { return x.toFixed(1) + " " + y.toFixed(1); };
  if (points.length < 3) return "M" + points.map(at).join(" L");
  let path = "M" + at(points[0]);
  for (let index = 1; index < points.length - 1; index++) {
    const next = points[index + 1];
    const end = index === points.length - 2 ? next : [(points[index][0] + next[0]) / 2, (points[index][1] + next[1]) / 2];
    path += " Q" + at(points[index]) + " " + at(end);
  }
  return path;
}
