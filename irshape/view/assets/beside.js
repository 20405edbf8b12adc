// Two models side by side: which layers match, and what changed.

const CHANGES = { removed: ["−", "removed"], added: ["+", "added"], changed: ["~", "changed"], values: ["≠", "other values"], inherited: ["·", "follows from other changes"] };

class Beside {
  constructor(page) {
    this.page = page;
    this.changes = [];
    this.partners = [new Map(), new Map()];
    this.changed = [new Map(), new Map()];
    if (page.data.beside) this.read(page.data.beside);
  }

  read(beside) {
    for (let at = 0; at < beside.pairs.length; at += 2) {
      this.partners[0].set(beside.pairs[at], beside.pairs[at + 1]);
      this.partners[1].set(beside.pairs[at + 1], beside.pairs[at]);
    }
    this.changes = beside.changes.map(function ([kind, first, second, lines]) {
      return { kind, first, second, lines, title: CHANGES[kind][1] };
    });
    for (const change of this.changes) {
      [change.first, change.second].forEach((at, side) => {
        if (at < 0) return;
        const net = this.page.nets[side];
        this.changed[side].set(at, change);
        for (let node = net.hostOf(net.layers[at]).node; node; node = node.parent) {
          node.changes = node.changes || new Map();
          node.changes.set(change.kind, (node.changes.get(change.kind) || 0) + 1);
        }
      });
    }
  }

  side(net) {
    return this.page.nets.indexOf(net);
  }

  other(net) {
    return this.page.nets[1 - this.side(net)];
  }

  partnerOf(net, layer) {
    const at = this.partners[this.side(net)].get(layer.at);
    return at === undefined ? null : this.other(net).layers[at];
  }

  changeOf(net, layer) {
    return this.changed[this.side(net)].get(layer.at) || null;
  }

  /** Returns the counterpart of a group: the group of the other model with the same place and name. */
  twinOf(net, node) {
    const other = this.other(net);
    const steps = [];
    for (let at = node; at.parent; at = at.parent) steps.unshift(at);
    let twin = other.root;
    for (const step of steps) {
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

  /** Moves the other graph so that the partner of a layer is at the same height. */
  align(net, node, layer) {
    const partner = layer && this.partnerOf(net, layer);
    if (!partner) return;
    const other = this.other(net);
    const canvas = this.page.canvasOf(other);
    if (other.reveal(other.shownFor(partner))) canvas.build();
    canvas.view.k = this.page.canvasOf(net).view.k;
    canvas.show(other.nodeShowing(partner), this.page.canvasOf(net).screen(node));
  }
}
