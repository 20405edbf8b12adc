// A model on the page: its layers, the tree of groups, and the findings of layers.

const SEVERITIES = ["error", "warning", "info"];

// Most layers share these empty objects: a model may have 35,000 layers.
const NONE = Object.freeze([]);
const NO_FINDINGS = Object.freeze({ error: 0, warning: 0, info: 0 });

class Net {
  constructor(data, side) {
    this.data = data;
    this.side = side;
    this.showConstants = false;
    this.showAttributes = false;
    this.showNames = false;
    this.direction = "TB";
    this.types = data.types.map(function ([type, opset, page]) { return { type, opset, page }; });
    this.layers = data.layers.map(([id, name, kind, line, group, folded, attributes, ports, inputs, outputs, tensors, xml, extra = {}], at) => {
      const [inputIds, outputIds] = data.ports[ports];
      const declaredInputs = extra.declared || {};
      return {
        at, id, name, kind: this.types[kind], type: this.types[kind].type, line, group, folded: folded === 1, attributes: data.attributes[attributes],
        inputs: inputIds.map(function (port, index) {
          return { port, layer: inputs[2 * index], output: inputs[2 * index + 1], declared: declaredInputs[index] || null };
        }),
        outputs: outputIds.map(function (port, index) {
          const [declared, inferred, symbols, clash, value, dynamic] = data.outputs[outputs[index]];
          return { port, declared, inferred, symbols, names: tensors[index] || null, clash: clash === 1, value, dynamic: dynamic === 1, users: NONE };
        }),
        xml, extra, findings: NONE, key: "", node: null,
      };
    });
    for (const overlay of data.overlays)
      overlay.values = overlay.values.flatMap(function ([value, note, layers]) { return layers.map(function (at) { return [at, value, note]; }); }).sort(function (a, b) { return a[0] - b[0]; });
    this.linkUsers();
    this.growTree();
    this.findings = data.findings.map((finding, number) => {
      const layer = finding.layer < 0 ? null : this.layers[finding.layer];
      const one = Object.assign({}, finding, { layer, number });
      if (layer && layer.findings === NONE) layer.findings = [];
      if (layer) layer.findings.push(one);
      return one;
    });
    this.nameLayers();
    this.countFindings();
  }

  linkUsers() {
    for (const layer of this.layers) {
      layer.inputs.forEach((input, index) => {
        const source = input.layer < 0 ? null : this.layers[input.layer];
        const output = source && source.outputs[input.output];
        if (!output) return;
        if (output.users === NONE) output.users = [];
        output.users.push([layer.at, index]);
      });
    }
  }

  attributesOf(layer) {
    const pairs = [];
    for (let at = 0; at < layer.attributes.length; at += 2) pairs.push(layer.attributes.slice(at, at + 2));
    return pairs;
  }

  growTree() {
    this.groups = this.data.groups.map(function ([kind, name, parent, layer], at) {
      return { at, kind, name, parent: null, layer: null, holder: layer, above: parent, children: [], open: false, plan: null, findings: NO_FINDINGS };
    });
    for (const layer of this.layers) {
      const parent = this.groups[layer.group];
      layer.node = { kind: "layer", layer, name: layer.name, parent, children: NONE, open: false, plan: null, findings: NO_FINDINGS };
      parent.children.push(layer.node);
    }
    for (const group of this.groups) {
      if (group.above < 0) continue;
      group.parent = group.holder >= 0 ? this.layers[group.holder].node : this.groups[group.above];
      if (group.parent.children === NONE) group.parent.children = [];
      group.parent.children.push(group);
    }
    this.root = this.groups[0];
    this.root.open = true;
    this.top = this.root; // the group that is drawn: the model, or one group alone
    let time = 0;
    const visit = function (node, depth) {
      node.depth = depth;
      node.begin = time++;
      for (const child of node.children) visit(child, depth + 1);
      node.end = time;
    };
    visit(this.root, 0);
  }

  /** Gives each layer its key for links, e.g. `12/body/3`: the ids of layers and names of bodies that lead to it. */
  nameLayers() {
    this.byKey = new Map();
    const prefixes = new Map([[this.root, ""]]);
    const prefix = function (node) {
      if (!prefixes.has(node))
        prefixes.set(node, prefix(node.parent) + (node.layer ? node.layer.id + "/" : node.kind === "body" ? node.name + "/" : ""));
      return prefixes.get(node);
    };
    for (const layer of this.layers) {
      const base = prefix(layer.node.parent) + layer.id;
      let key = base;
      for (let number = 2; this.byKey.has(key); number++) key = base + "~" + number;
      layer.key = key;
      this.byKey.set(key, layer);
    }
  }

  countFindings() {
    for (const finding of this.findings) {
      if (!finding.layer) continue;
      for (let node = this.hostOf(finding.layer).node; node; node = node.parent) {
        if (node.findings === NO_FINDINGS) node.findings = Object.assign({}, NO_FINDINGS);
        node.findings[finding.severity]++;
      }
    }
  }

  isShown(layer) {
    return this.showConstants || !layer.folded;
  }

  /** Returns the layer that shows a folded layer: its first consumer. All other layers show themselves. */
  hostOf(layer) {
    let at = layer;
    for (let step = 0; at && at.folded && step < 1000; step++) {
      const user = at.outputs.flatMap(function (output) { return output.users; })[0];
      at = user ? this.layers[user[0]] : null;
    }
    return at || layer;
  }

  shownFor(layer) {
    return this.isShown(layer) ? layer : this.hostOf(layer);
  }

  /** All groups, and all layers that have bodies. */
  nodes() {
    return [...this.groups, ...this.layers.filter(function (layer) { return layer.node.children.length; }).map(function (layer) { return layer.node; })];
  }

  members(node) {
    return node.children.filter((child) => child.kind !== "layer" || this.isShown(child.layer));
  }

  /** Returns how many blocks a group of repeated blocks has, including the blocks in its parts. */
  blocks(node) {
    return node.children.reduce((count, child) => count + (child.kind === "part" ? this.blocks(child) : 1), 0);
  }

  /** Returns all layers in a node that are drawn separately; for such a layer, also the layer itself. */
  leaves(node) {
    const all = [];
    const visit = (at) => {
      if (at.layer && this.isShown(at.layer)) all.push(at.layer);
      for (const child of at.children) visit(child);
    };
    visit(node);
    return all;
  }

  contains(node, other) {
    return node.begin <= other.begin && other.begin < node.end;
  }

  /** Returns the member of a node that contains `other`. */
  memberWith(node, other) {
    while (other.parent !== node) other = other.parent;
    return other;
  }

  /** Sets an option of the menu: what cards show, or the direction of the graph. */
  set(option, value) {
    this[option] = value;
    this.replan();
  }

  replan() {
    for (const layer of this.layers) layer.node.plan = null;
    for (const group of this.groups) group.plan = null;
  }

  setOpen(node, open) {
    if (!node.children.length) return;
    node.open = open;
    for (let at = node; at; at = at.parent) at.plan = null;
  }

  /** Opens all groups that hide a layer. Returns whether one of them was closed. */
  reveal(layer) {
    const closed = [];
    for (let node = layer.node.parent; node; node = node.parent) if (!node.open) closed.push(node);
    for (const node of closed) this.setOpen(node, true);
    return closed.length > 0;
  }

  /** Returns the node that shows a layer: its own node, or the closed group that hides it. */
  nodeShowing(layer) {
    let node = this.shownFor(layer).node;
    for (let at = node.parent; at && at !== this.top; at = at.parent) if (!at.open) node = at;
    return node;
  }

  /** Opens outer groups first, until about `most` layers are visible. */
  openSome(most) {
    let shown = this.members(this.root).length;
    const waiting = [this.root];
    while (waiting.length) {
      const node = waiting.shift();
      const inner = this.members(node).filter(function (child) { return child.children.length; });
      inner.sort((a, b) => this.members(a).length - this.members(b).length);
      for (const child of inner) {
        const count = this.members(child).length;
        if (child.kind === "repeat" || shown + count > most) continue;
        this.setOpen(child, true);
        shown += count;
        waiting.push(child);
      }
    }
  }

  /** Returns the shape and type of an output as text: inferred if possible, otherwise declared. */
  tensorText(output) {
    const known = output.inferred || output.declared || "?";
    if (!output.symbols) return known;
    return known.replace(/\[.*$/, "") + output.symbols;
  }

  /** Returns the name of an input in the specification. The last name may apply to several inputs. */
  inputName(layer, index) {
    const operands = layer.kind.page ? layer.kind.page.inputs : NONE;
    return operands.length ? operands[Math.min(index, operands.length - 1)][0] : "input " + index;
  }

  /** Returns the producers that are shown inside a layer, e.g. its constants. */
  foldedInputs(layer) {
    if (this.showConstants) return [];
    const rows = [];
    layer.inputs.forEach((input, index) => {
      const source = input.layer < 0 ? null : this.layers[input.layer];
      if (!source || !source.folded) return;
      const output = source.outputs[input.output];
      const value = (source.extra.constant && constantValue(source.extra.constant)) || output.value;
      rows.push({
        label: this.inputName(layer, index),
        text: value || this.tensorText(output),
        source,
      });
    });
    return rows;
  }

  /** Returns a layer with all layers on which it depends (`upwards`), or with all that depend on it. */
  reached(from, upwards) {
    const all = new Set([from.at]);
    const waiting = [from];
    while (waiting.length) {
      const layer = waiting.pop();
      const next = upwards
        ? layer.inputs.map(function (input) { return input.layer; })
        : layer.outputs.flatMap(function (output) { return output.users.map(function ([user]) { return user; }); });
      for (const at of next) {
        if (at < 0 || all.has(at)) continue;
        all.add(at);
        waiting.push(this.layers[at]);
      }
    }
    return Array.from(all, (at) => this.layers[at]);
  }

  /** Returns the layers on a shortest path along the edges; an empty list if there is no path. */
  path(from, to) {
    const before = new Map([[from.at, -1]]);
    let front = [from.at];
    while (front.length && !before.has(to.at)) {
      const next = [];
      for (const at of front) {
        for (const output of this.layers[at].outputs) {
          for (const [user] of output.users) {
            if (before.has(user)) continue;
            before.set(user, at);
            next.push(user);
          }
        }
      }
      front = next;
    }
    if (!before.has(to.at)) return [];
    const way = [];
    for (let at = to.at; at >= 0; at = before.get(at)) way.unshift(this.layers[at]);
    return way;
  }
}
