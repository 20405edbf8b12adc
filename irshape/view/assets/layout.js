// Places what is open. Each open group is laid out alone; outside it is one box.

const TITLE = "600 13px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
const CODE = "11px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace";
const MOST_WIDTH = 250;
const HEAD = 30;
const MARGIN = 14;
const MOST_ROWS = 4;
const MOST_STEPS = 1600;

/** What a node shows while it is closed, with its size. */
function card(net, node) {
  const shape = (net.showConstants ? "c" : "") + (net.showAttributes ? "a" : "") + (net.showNames ? "n" : "");
  if (node.card && node.card.shape === shape) return node.card;
  const layer = node.kind === "layer" ? node.layer : null;
  const lines = [];
  let title;
  if (layer) {
    title = fitted(layer.type || "no type", TITLE, MOST_WIDTH - 44);
    const name = net.showNames ? "id " + layer.key + "  " + layer.name : shortName(layer);
    if (name) lines.push({ style: "name", text: fitted(name, SMALL, (net.showNames ? 2 : 1) * MOST_WIDTH - 28) });
    const rows = net.foldedInputs(layer);
    for (const row of rows.slice(0, MOST_ROWS))
      lines.push({ style: "row", text: fitted(row.label + "  " + row.text, CODE, MOST_WIDTH - 28) });
    if (rows.length > MOST_ROWS) lines.push({ style: "name", text: "and " + (rows.length - MOST_ROWS) + " more" });
    if (net.showAttributes) {
      for (const [name, text] of net.attributesOf(layer).slice(0, 2 * MOST_ROWS))
        lines.push({ style: "row", text: fitted(name + " = " + text, CODE, MOST_WIDTH - 28) });
    }
    if (node.children.length) lines.push({ style: "name", text: node.children.map(function (body) { return body.name; }).join(", ") });
  } else {
    const leaves = net.leaves(node);
    title = fitted(node.name || node.kind, TITLE, MOST_WIDTH - 60);
    lines.push({ style: "name", text: node.kind === "repeat"
      ? counted(net.blocks(node), "equal block") + ", " + counted(leaves.length, "layer")
      : counted(leaves.length, "layer") });
    lines.push({ style: "name", text: fitted(commonTypes(leaves), SMALL, MOST_WIDTH - 28) });
  }
  let width = widthOf(title, TITLE) + (node.children.length ? 62 : 38);
  for (const line of lines)
    width = Math.max(width, widthOf(line.text, line.style === "row" ? CODE : SMALL) + 26);
  node.card = {
    shape, title, lines,
    width: Math.max(84, Math.ceil(width)),
    height: 28 + lines.length * 15 + (lines.length ? 4 : 0),
  };
  return node.card;
}

/** What tells a layer from others of its group: its name without the scope that the group shows, and without a last part
 *  that only repeats the type. */
function shortName(layer) {
  const parts = layer.name.split("/").filter(Boolean);
  if (parts.length > 1 && parts[parts.length - 1] === layer.type) parts.pop();
  const last = parts.pop() || "";
  if (!last.startsWith("aten::") || !parts.length) return last;
  const module = parts.pop().split(".").pop();
  const group = layer.node && layer.node.parent ? layer.node.parent.name.split(/[./]/).pop() : "";
  return module === group || !module ? last : module + "/" + last;
}

function commonTypes(layers) {
  const counts = new Map();
  for (const layer of layers) counts.set(layer.type, (counts.get(layer.type) || 0) + 1);
  const most = Array.from(counts).sort(function (a, b) { return b[1] - a[1]; }).slice(0, 3);
  return most.map(function ([type, count]) { return count > 1 ? type + " ×" + count : type; }).join(", ");
}

/** The connections between the members of an open node, and those that leave it. They do not
 *  depend on what is open, so they are kept. */
function connections(net, node) {
  if (!node.links || node.links.constants !== net.showConstants)
    node.links = Object.assign(connected(net, node), { constants: net.showConstants });
  return node.links;
}

function connected(net, node) {
  const edges = new Map();
  const entering = new Map();
  const leaving = new Map();
  if (node.kind === "layer") return { edges, entering, leaving };
  const inside = net.leaves(node);
  for (const layer of inside) {
    const member = net.memberWith(node, layer.node);
    layer.inputs.forEach(function (input) {
      if (input.layer < 0) return;
      const source = net.layers[input.layer];
      if (!net.isShown(source)) return;
      if (net.contains(node, source.node)) {
        const from = net.memberWith(node, source.node);
        if (from !== member) noted(edges, from.begin + ">" + member.begin, { from, to: member }, source, input, layer);
      } else noted(entering, source.at + ":" + input.output, { source }, source, input, layer, member);
    });
    layer.outputs.forEach(function (output, index) {
      for (const [user] of output.users) {
        const taker = net.layers[user];
        if (net.isShown(taker) && !net.contains(node, taker.node))
          noted(leaving, layer.at + ":" + index, { source: layer, member }, layer, { output: index }, taker);
      }
    });
  }
  return { edges, entering, leaving };
}

function noted(map, key, fresh, source, input, taker, member) {
  let entry = map.get(key);
  if (!entry) map.set(key, (entry = Object.assign(fresh, { tensors: new Map(), members: new Set(), takers: new Set() })));
  const tensor = source.at + ":" + input.output;
  if (!entry.tensors.has(tensor)) entry.tensors.set(tensor, { source, output: input.output, takes: [] });
  if (input.declared) entry.tensors.get(tensor).takes.push(input.declared);
  if (member) entry.members.add(member);
  if (entry.source) entry.takers.add(taker);
}

/** The label of an edge. */
function edgeLabel(net, tensors) {
  const list = Array.from(tensors.values());
  const clash = list.find(function (one) { return one.source.outputs[one.output].clash || one.takes.length; });
  const one = clash || list[0];
  const output = one.source.outputs[one.output];
  let text = list.length > 1 && !clash ? counted(list.length, "tensor") : net.tensorText(output);
  if (output.clash) text = "declared " + output.declared + ", inferred " + net.tensorText(output);
  else if (one.takes.length) text = net.tensorText(output) + ", taken as " + one.takes[0];
  const dynamic = list.some(function (each) { return each.source.outputs[each.output].dynamic; });
  return { text: fitted(text, CODE, clash ? 420 : 240), clash: Boolean(clash), dynamic };
}

/** Places the members of an open node. Sizes and places are relative to its upper left corner. */
function planned(net, node) {
  if (node.plan) return node.plan;
  const members = net.members(node);
  const boxes = new Map();
  for (const member of members) {
    if (member.open) {
      const inner = planned(net, member);
      boxes.set(member, { node: member, w: inner.w, h: inner.h });
    } else {
      const closed = card(net, member);
      boxes.set(member, { node: member, w: closed.width, h: closed.height });
    }
  }
  const links = connections(net, node);
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: net.direction, nodesep: 26, edgesep: 14, ranksep: 30, marginx: 0, marginy: 0,
    ranker: members.length > 60 ? "tight-tree" : "network-simplex",
  });
  graph.setDefaultEdgeLabel(function () { return {}; });
  for (const [member, box] of boxes) graph.setNode("m" + member.begin, { width: box.w, height: box.h });
  const plan = { boxes: [], edges: [], pills: [], w: 0, h: 0 };
  const [laid, loose] = shortEdges(Array.from(links.edges.values()), members);
  for (const edge of laid) {
    edge.label = edge.label || edgeLabel(net, edge.tensors);
    graph.setEdge("m" + edge.from.begin, "m" + edge.to.begin,
      { width: widthOf(edge.label.text, CODE) + 8, height: 16, labelpos: "c", minlen: 1 });
  }
  addPills(net, graph, plan, links, node);
  if (members.length) dagre.layout(graph);
  readPlan(graph, plan, boxes, laid, loose, node);
  node.plan = plan;
  return plan;
}

/** Edges that would cross too many ranks are drawn without a place of their own. */
function shortEdges(edges, members) {
  const rank = new Map();
  const waiting = new Map();
  const after = new Map();
  for (const member of members) { waiting.set(member, 0); after.set(member, []); rank.set(member, 0); }
  for (const edge of edges) { waiting.set(edge.to, waiting.get(edge.to) + 1); after.get(edge.from).push(edge.to); }
  const ready = members.filter(function (member) { return !waiting.get(member); });
  while (ready.length) {
    const member = ready.pop();
    for (const next of after.get(member)) {
      rank.set(next, Math.max(rank.get(next), rank.get(member) + 1));
      waiting.set(next, waiting.get(next) - 1);
      if (!waiting.get(next)) ready.push(next);
    }
  }
  const span = function (edge) { return Math.max(1, rank.get(edge.to) - rank.get(edge.from)); };
  const ordered = edges.slice().sort(function (a, b) { return span(a) - span(b); });
  const laid = [];
  const loose = [];
  let steps = 0;
  for (const edge of ordered) {
    steps += span(edge);
    if (span(edge) > 12 && steps > MOST_STEPS / 4 || steps > MOST_STEPS) loose.push(edge);
    else laid.push(edge);
  }
  laid.sort(function (a, b) { return a.from.begin - b.from.begin || a.to.begin - b.to.begin; });
  return [laid, loose];
}

/** What a group takes from outside, and what it gives, as small boxes beside its layers. */
function addPills(net, graph, plan, links, node) {
  let total = 0;
  for (const entry of links.entering.values()) total += entry.members.size;
  const few = links.entering.size <= 24 && total <= 120;
  let number = 0;
  const add = function (pill, edges) {
    const key = "p" + number++;
    const width = widthOf(pill.text, SMALL) + 20;
    graph.setNode(key, { width, height: 20 });
    for (const [from, to, label] of edges(key))
      graph.setEdge(from, to, label ? { width: widthOf(label.text, CODE) + 8, height: 16, labelpos: "c" } : { width: 0, height: 0 });
    plan.pills.push(Object.assign(pill, { key, w: width, h: 20, links: edges(key) }));
  };
  if (few) {
    for (const entry of links.entering.values()) {
      const label = edgeLabel(net, entry.tensors);
      const text = "from " + fitted(tensorName(entry.source), SMALL, 150);
      const members = Array.from(entry.members);
      // one box for each member where lines from a single one would run through the whole group
      for (const group of members.length > 3 ? members.map(function (member) { return [member]; }) : [members])
        add({ text, target: entry.source, label, into: true },
          (key) => group.map(function (member) { return [key, "m" + member.begin, group.length === 1 ? label : null]; }));
    }
  }
  if (links.leaving.size <= 24 && node.kind !== "body") {
    for (const entry of links.leaving.values()) {
      const [first] = entry.takers;
      const text = entry.takers.size > 1 ? counted(entry.takers.size, "layer") + " outside" : fitted(tensorName(first), SMALL, 150);
      add({ text: "to " + text, target: first, label: edgeLabel(net, entry.tensors), into: false },
        (key) => [["m" + entry.member.begin, key, edgeLabel(net, entry.tensors)]]);
    }
  }
}

function tensorName(layer) {
  return shortName(layer) || layer.type;
}

function readPlan(graph, plan, boxes, laid, loose, node) {
  const framed = node.parent !== null;
  const head = framed ? HEAD + MARGIN : 0;
  const side = framed ? MARGIN : 0;
  const size = graph.graph();
  const wide = framed ? frameWidth(node) : 0;
  const inner = boxes.size ? [size.width, size.height] : [0, 0];
  plan.w = Math.max(inner[0] + 2 * side, wide);
  plan.h = inner[1] + head + side;
  const left = (plan.w - inner[0]) / 2;
  const placed = function (key) {
    const at = graph.node(key);
    return { x: at.x - at.width / 2 + left, y: at.y - at.height / 2 + head };
  };
  const moved = function (points) {
    return points.map(function (point) { return [point.x + left, point.y + head]; });
  };
  for (const [member, box] of boxes) plan.boxes.push(Object.assign(box, placed("m" + member.begin)));
  const where = function (key) {
    const edge = graph.edge(key[0], key[1]);
    return { points: moved(edge.points), label: edge.x === undefined ? null : [edge.x + left, edge.y + head] };
  };
  for (const edge of laid) {
    const at = where(["m" + edge.from.begin, "m" + edge.to.begin]);
    plan.edges.push({ from: edge.from, to: edge.to, tensors: edge.tensors, label: edge.label, points: at.points, place: at.label });
  }
  for (const edge of loose) {
    const from = boxes.get(edge.from);
    const to = boxes.get(edge.to);
    plan.edges.push({
      from: edge.from, to: edge.to, tensors: edge.tensors, label: null, loose: true,
      points: [[from.x + from.w, from.y + from.h / 2], [Math.max(from.x + from.w, to.x + to.w) + 60, (from.y + to.y) / 2], [to.x + to.w, to.y + to.h / 2]],
    });
  }
  for (const pill of plan.pills) {
    Object.assign(pill, placed(pill.key));
    for (const key of pill.links) {
      const at = where(key);
      plan.edges.push({ pill, points: at.points, label: key[2], place: key[2] ? at.label : null, soft: true });
    }
  }
}

function frameWidth(node) {
  return Math.min(360, widthOf(frameTitle(node), TITLE) + 120);
}

function frameTitle(node) {
  const name = node.kind === "layer" ? node.layer.type + " " + shortName(node.layer) : node.name;
  return fitted(name || node.kind, TITLE, 300);
}
