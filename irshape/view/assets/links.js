// Links to a layer, and links to a view: its open groups, place, selected layer and searches.

class Links {
  constructor(page) {
    this.page = page;
  }

  /** Returns the fragment of a URL that names a layer. */
  to(net, layer) {
    return (this.page.nets.length > 1 ? net.side + ":" : "") + encodeURIComponent(layer.key);
  }

  toView() {
    const { page } = this;
    const parts = page.nets.map(function (net, at) {
      const { x, y, k } = page.canvases[at].view;
      const open = net.nodes().filter(function (node) { return node.open; }).map(function (node) { return node.begin; });
      return [Math.round(x), Math.round(y), k.toFixed(3), open.join(".")].join(",");
    });
    const layer = page.selected && page.selected.layer;
    return ["view=" + parts.join(";"), layer ? this.to(page.selected.net, layer) : "", ...page.overlays.searches.map(encodeURIComponent)].join("&");
  }

  /** Shows the layer or view that the URL names. */
  follow() {
    const { page } = this;
    let text = location.hash.slice(1);
    if (!text) return;
    if (text.startsWith("view=")) {
      const [view, layer, ...searches] = text.slice(5).split("&");
      page.overlays.searches = searches.map(decoded).filter(Boolean).slice(0, MOST_SEARCHES);
      if (searches.length) page.overlays.layOverSearches();
      this.restore(view);
      text = layer || "";
    }
    let net = page.nets[0];
    if (page.nets.length > 1 && /^[ab]:/.test(text)) {
      net = page.nets["ab".indexOf(text[0])];
      text = text.slice(2);
    }
    const layer = net.byKey.get(decoded(text));
    if (layer && !(page.selected && page.selected.layer === layer)) page.selectLayer(net, layer, true);
  }

  restore(text) {
    const { nets, canvases } = this.page;
    for (const net of nets) this.page.leaveAlone(net);
    text.split(";").slice(0, nets.length).forEach(function (part, at) {
      const [x, y, k, open] = part.split(",");
      if (![x, y, k].every(function (each) { return Number.isFinite(Number(each)); })) return;
      const wanted = new Set((open || "").split(".").map(Number));
      for (const node of nets[at].nodes()) nets[at].setOpen(node, node === nets[at].root || wanted.has(node.begin));
      canvases[at].view = { x: Number(x), y: Number(y), k: Math.min(2.5, Math.max(0.02, Number(k))) };
      canvases[at].build();
    });
  }

  copy(fragment) {
    const link = location.href.replace(/#.*$/, "") + "#" + fragment;
    const said = () => this.page.say("The link is " + link);
    history.replaceState(null, "", "#" + fragment);
    if (navigator.clipboard) navigator.clipboard.writeText(link).then(() => this.page.say("The link is copied"), said);
    else said();
  }
}

/** Decodes a part of a URL. Returns an empty text if it is malformed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return "";
  }
}
