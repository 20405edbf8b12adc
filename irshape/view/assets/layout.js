// Lays out the open groups, each separately. In the group around it, an open group is one box.

const TITLE = "600 13px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
const CODE = "11px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace";
const MOST_WIDTH = 250;
const HEAD = 30;
const MARGIN = 14;
const MOST_ROWS = 4;
const MOST_STEPS = 1600;

/** Returns the lines and the size of the card of a layer or a closed group. */
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

/** Returns the name of a layer on its card: without the prefixes that its groups show, and without a last part that
 *  only repeats the type. */
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

/** Returns the edges between the members of an open node, and the edges that leave the node. Caches them: they do not
 *  depend on which groups are open. */
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

/** Returns the places of the members of an open node, relative to its upper left corner. */
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
  const edges = Array.from(links.edges.values());
  const pills = pillsOf(net, links, node);
  const order = net.direction === "TB" ? chain(members, edges) : null;
  const inner = order ? column(net, order, boxes, edges, pills) : layered(net, members, boxes, edges, pills);
  node.plan = framed(node, inner);
  return node.plan;
}

/** Returns the members in order if each one uses an output of the one before; otherwise null. */
function chain(members, edges) {
  if (members.length < 2) return null;
  const next = new Map();
  const waiting = new Map();
  for (const member of members) { next.set(member, new Set()); waiting.set(member, 0); }
  for (const { from, to } of edges) { next.get(from).add(to); waiting.set(to, waiting.get(to) + 1); }
  const order = [];
  let at = members.find(function (member) { return !waiting.get(member); });
  while (at) {
    order.push(at);
    for (const to of next.get(at)) waiting.set(to, waiting.get(to) - 1);
    at = Array.from(next.get(at)).find(function (to) { return !waiting.get(to); });
  }
  return order.length === members.length ? order : null;
}

/** Places members one below the other. Edges that skip members run on the right; inputs of the group are on the left. */
function column(net, order, boxes, edges, pills) {
  const plan = { boxes: [], edges: [], pills: [] };
  const position = new Map(order.map(function (member, at) { return [member, at]; }));
  for (const edge of edges) edge.label = edge.label || edgeLabel(net, edge.tensors);
  const beside = function (pill) {
    return pill.into ? pill.member !== order[0] : pill.member !== order[order.length - 1];
  };
  const split = pills.flatMap(function (pill) {
    return pill.members.map(function (member) { return Object.assign({}, pill, { member }); });
  });
  const row = function (list, y) {
    let x = -list.reduce(function (sum, pill) { return sum + pill.w + 20; }, -20) / 2;
    for (const pill of list) { place(pill, x, y); x += pill.w + 20; }
  };
  const place = function (pill, x, y) { plan.pills.push(Object.assign(pill, { x, y })); };
  const linked = function (pill, points) {
    const middle = points[points.length - 1][1] + points[0][1];
    plan.edges.push({ pill, points, label: pill.label, place: pill.label ? [(points[0][0] + points[points.length - 1][0]) / 2, middle / 2] : null, soft: true });
  };
  const above = split.filter(function (pill) { return pill.into && !beside(pill); });
  const below = split.filter(function (pill) { return !pill.into && !beside(pill); });
  let y = 0;
  if (above.length) { row(above, 0); y = 20 + (above.some(function (pill) { return pill.label; }) ? 44 : 26); }
  const half = Math.max(...order.map(function (member) { return boxes.get(member).w; })) / 2;
  for (const member of order) {
    const box = boxes.get(member);
    const sides = [true, false].map(function (into) { return split.filter(function (pill) { return pill.member === member && pill.into === into && beside(pill); }); });
    const tall = Math.max(box.h, ...sides.map(function (list) { return list.length * 26; }));
    Object.assign(box, { x: -box.w / 2, y: y + (tall - box.h) / 2 });
    plan.boxes.push(box);
    const middle = y + tall / 2;
    sides.forEach(function (list, right) {
      list.forEach(function (pill, at) {
        const top = middle + (at - (list.length - 1) / 2) * 26 - 10;
        const room = pill.label ? widthOf(pill.label.text, CODE) + 40 : 30;
        const end = [(right ? 1 : -1) * box.w / 2, Math.min(Math.max(top + 10, box.y + 6), box.y + box.h - 6)];
        place(pill, right ? half + room : -half - room - pill.w, top);
        const start = [right ? pill.x : pill.x + pill.w, top + 10];
        linked(pill, right ? [end, start] : [start, end]);
      });
    });
    y += tall + 50;
  }
  y -= 50;
  for (const pill of above) linked(pill, [[pill.x + pill.w / 2, 20], [Math.max(-boxes.get(order[0]).w / 2 + 8, Math.min(boxes.get(order[0]).w / 2 - 8, pill.x + pill.w / 2)), boxes.get(order[0]).y]]);
  if (below.length) {
    const last = boxes.get(order[order.length - 1]);
    const top = y + (below.some(function (pill) { return pill.label; }) ? 44 : 26);
    row(below, top);
    for (const pill of below) linked(pill, [[Math.max(-last.w / 2 + 8, Math.min(last.w / 2 - 8, pill.x + pill.w / 2)), last.y + last.h], [pill.x + pill.w / 2, top]]);
  }
  const lanes = [];
  let outside = Math.max(half, ...plan.pills.filter(beside).map(function (pill) { return pill.x + pill.w; })) + 24;
  const passing = edges.filter(function ({ from, to }) { return position.get(to) - position.get(from) > 1; });
  passing.sort(function (a, b) { return position.get(a.to) - position.get(a.from) - position.get(b.to) + position.get(b.from); });
  for (const edge of edges) {
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
    if (passing.includes(edge)) continue;
    const points = [[0, from.y + from.h], [0, to.y]];
    plan.edges.push({ from: edge.from, to: edge.to, tensors: edge.tensors, label: edge.label, points, place: [0, (points[0][1] + points[1][1]) / 2] });
  }
  for (const edge of passing) {
    const [first, last] = [position.get(edge.from), position.get(edge.to)];
    let lane = lanes.find(function (each) { return each.taken.every(function ([start, end]) { return end <= first || last <= start; }); });
    if (!lane) {
      const width = widthOf(edge.label.text, CODE) + 20;
      lanes.push(lane = { taken: [], x: outside + width / 2 });
      outside += width;
    }
    lane.taken.push([first, last]);
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
    const [start, end] = [from.y + from.h - Math.min(12, from.h / 3), to.y + Math.min(12, to.h / 3)];
    plan.edges.push({
      from: edge.from, to: edge.to, tensors: edge.tensors, label: edge.label, place: [lane.x, (start + end) / 2],
      points: [[from.w / 2, start], [lane.x, start], [lane.x, (start + end) / 2], [lane.x, end], [to.w / 2, end]],
    });
  }
  return plan;
}

/** Lets dagre place the members in rows, producers above consumers. */
function layered(net, members, boxes, edges, pills) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: net.direction, nodesep: 26, edgesep: 14, ranksep: 30, marginx: 0, marginy: 0,
    ranker: members.length > 60 ? "tight-tree" : "network-simplex",
  });
  graph.setDefaultEdgeLabel(function () { return {}; });
  for (const [member, box] of boxes) graph.setNode("m" + member.begin, { width: box.w, height: box.h });
  const [laid, loose] = shortEdges(edges, members);
  const room = function (label) { return label ? { width: widthOf(label.text, CODE) + 8, height: 16, labelpos: "c", minlen: 1 } : { width: 0, height: 0 }; };
  for (const edge of laid) {
    edge.label = edge.label || edgeLabel(net, edge.tensors);
    graph.setEdge("m" + edge.from.begin, "m" + edge.to.begin, room(edge.label));
  }
  const ends = function (pill, member) { return pill.into ? [pill.key, "m" + member.begin] : ["m" + member.begin, pill.key]; };
  pills.forEach(function (pill, number) {
    pill.key = "p" + number;
    graph.setNode(pill.key, { width: pill.w, height: pill.h });
    for (const member of pill.members) graph.setEdge(...ends(pill, member), room(pill.members.length === 1 ? pill.label : null));
  });
  if (members.length) dagre.layout(graph);
  const placed = function (key) {
    const at = graph.node(key);
    return { x: at.x - at.width / 2, y: at.y - at.height / 2 };
  };
  const routed = function (from, to, more) {
    const edge = graph.edge(from, to);
    const points = edge.points.map(function (point) { return [point.x, point.y]; });
    return Object.assign({ points, place: more.label && edge.x !== undefined ? [edge.x, edge.y] : null }, more);
  };
  const plan = { boxes: [], edges: [], pills };
  for (const [member, box] of boxes) plan.boxes.push(Object.assign(box, placed("m" + member.begin)));
  for (const { from, to, tensors, label } of laid) plan.edges.push(routed("m" + from.begin, "m" + to.begin, { from, to, tensors, label }));
  for (const edge of loose) {
    const from = boxes.get(edge.from);
    const to = boxes.get(edge.to);
    plan.edges.push({
      from: edge.from, to: edge.to, tensors: edge.tensors, label: null, loose: true,
      points: [[from.x + from.w, from.y + from.h / 2], [Math.max(from.x + from.w, to.x + to.w) + 60, (from.y + to.y) / 2], [to.x + to.w, to.y + to.h / 2]],
    });
  }
  for (const pill of pills) {
    Object.assign(pill, placed(pill.key));
    for (const member of pill.members)
      plan.edges.push(routed(...ends(pill, member), { pill, label: pill.members.length === 1 ? pill.label : null, soft: true }));
  }
  return plan;
}

/** Adds margins for the frame of a node to its plan, and the size of the frame. */
function framed(node, plan) {
  const inside = node.parent !== null;
  const [head, side] = inside ? [HEAD + MARGIN, MARGIN] : [0, 0];
  const items = [...plan.boxes, ...plan.pills];
  const points = plan.edges.filter(function (edge) { return !edge.loose; }).flatMap(function (edge) {
    const half = edge.place && edge.label ? widthOf(edge.label.text, CODE) / 2 + 4 : 0;
    return half ? [...edge.points, [edge.place[0] - half, edge.place[1]], [edge.place[0] + half, edge.place[1]]] : edge.points;
  });
  const ends = function (axis, size) {
    const low = [...items.map(function (item) { return item[axis ? "y" : "x"]; }), ...points.map(function (point) { return point[axis]; })];
    const high = [...items.map(function (item) { return item[axis ? "y" : "x"] + item[size]; }), ...points.map(function (point) { return point[axis]; })];
    return low.length ? [low.reduce(function (a, b) { return Math.min(a, b); }), high.reduce(function (a, b) { return Math.max(a, b); })] : [0, 0];
  };
  const [left, right] = ends(0, "w");
  const [top, bottom] = ends(1, "h");
  plan.w = Math.max(right - left + 2 * side, inside ? frameWidth(node) : 0);
  plan.h = bottom - top + head + side;
  const [dx, dy] = [(plan.w - right - left) / 2, head - top];
  for (const item of items) { item.x += dx; item.y += dy; }
  for (const edge of plan.edges) {
    edge.points = edge.points.map(function ([x, y]) { return [x + dx, y + dy]; });
    if (edge.place) edge.place = [edge.place[0] + dx, edge.place[1] + dy];
  }
  return plan;
}

/** Divides edges into those that dagre lays out, and those that would cross too many rows. */
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

/** Returns small boxes for the producers and consumers outside a group, beside its layers. A single box has no label:
 *  the edge to the group has the label. */
function pillsOf(net, links, node) {
  const pills = [];
  let total = 0;
  for (const entry of links.entering.values()) total += entry.members.size;
  const add = function (text, pill) {
    pills.push(Object.assign(pill, { text, w: widthOf(text, SMALL) + 20, h: 20 }));
  };
  if (links.entering.size <= 24 && total <= 120) {
    for (const entry of links.entering.values()) {
      const label = total > 1 || node === net.top ? edgeLabel(net, entry.tensors) : null;
      const text = "from " + fitted(tensorName(entry.source), SMALL, 150);
      const members = Array.from(entry.members);
      // lines from a single box would run through the whole group, so each member has a box
      for (const group of members.length > 3 ? members.map(function (member) { return [member]; }) : [members])
        add(text, { target: entry.source, label, into: true, members: group });
    }
  }
  if (links.leaving.size <= 24 && node.kind !== "body") {
    for (const entry of links.leaving.values()) {
      const [first] = entry.takers;
      const text = entry.takers.size > 1 ? counted(entry.takers.size, "layer") + " outside" : fitted(tensorName(first), SMALL, 150);
      const label = links.leaving.size > 1 || node === net.top ? edgeLabel(net, entry.tensors) : null;
      add("to " + text, { target: first, label, into: false, members: [entry.member] });
    }
  }
  return pills;
}

function tensorName(layer) {
  return shortName(layer) || layer.type;
}

function frameWidth(node) {
  return Math.min(360, widthOf(frameTitle(node), TITLE) + 120);
}

function frameTitle(node) {
  const name = node.kind === "layer" ? node.layer.type + " " + shortName(node.layer) : node.name;
  return fitted(name || node.kind, TITLE, 300);
}
