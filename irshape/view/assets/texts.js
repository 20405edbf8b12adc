// Elements and texts. Everything that comes from a model is written with textContent.

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 4000;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** Escapes invisible characters: those that control, reorder or break lines. Cuts a long text. */
function visible(text) {
  text = String(text);
  if (text.length > LONGEST) text = text.slice(0, LONGEST) + "…";
  return text.replace(HIDDEN, function (char) {
    const code = char.codePointAt(0);
    return code < 0x100 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16).padStart(4, "0");
  });
}

/** Makes an HTML element. attributes: `text` is its text, `on…` a listener; the rest as in HTML. */
function element(tag, attributes, children) {
  return filled(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes, children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") node.textContent = visible(value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children || []) if (child) node.append(child);
  return node;
}

function button(text, onclick, attributes) {
  return element("button", Object.assign({ type: "button", text: text, onclick: onclick }, attributes));
}

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

/** The width of a text in pixels. font: as in CSS. */
function widthOf(text, font) {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    pen.font = font;
    width = pen.measureText(text).width;
    if (widths.size < 50000) widths.set(key, width);
  }
  return width;
}

/** Shortens a text to a width of `most` pixels: an ellipsis replaces its middle. */
function fitted(text, font, most) {
  text = visible(text.length > 400 ? text.slice(0, 200) + "…" + text.slice(-100) : text);
  if (widthOf(text, font) <= most) return text;
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(cut(text, middle), font) <= most) low = middle;
    else high = middle - 1;
  }
  return cut(text, low);
}

function cut(text, length) {
  const tail = Math.floor(length / 3);
  return text.slice(0, length - tail) + "…" + (tail ? text.slice(-tail) : "");
}

const numbers = new Intl.NumberFormat("en");

function counted(count, noun) {
  return numbers.format(count) + " " + noun + (count === 1 ? "" : "s");
}

function short(number) {
  if (typeof number !== "number") return String(number);
  const size = Math.abs(number);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return number.toExponential(2);
  return String(Number(number.toPrecision(4)));
}
