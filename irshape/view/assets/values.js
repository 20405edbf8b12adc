// The values of constants, from the page or from a .bin that the user opens.

const MOST_LISTED = 20000;

// For each element type, the array that reads its bytes, and the NumPy type in an .npy file.
const PLAIN = {
  f64: [Float64Array, "<f8"], f32: [Float32Array, "<f4"], i64: [BigInt64Array, "<i8"], u64: [BigUint64Array, "<u8"], i32: [Int32Array, "<i4"], u32: [Uint32Array, "<u4"],
  i16: [Int16Array, "<i2"], u16: [Uint16Array, "<u2"], i8: [Int8Array, "|i1"], u8: [Uint8Array, "|u1"], boolean: [Uint8Array, "|b1"],
};
const F4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6];
const BYTES = {
  f8e4m3: function (code) {
    const size = code & 0x7f;
    const value = size === 0x7f ? NaN : size < 8 ? size * 2 ** -9 : (1 + (size & 7) / 8) * 2 ** ((size >> 3) - 7);
    return code & 0x80 ? -value : value;
  },
  f8e5m2: function (code) { return half(code << 8); },
  f8e8m0: function (code) { return code === 255 ? NaN : 2 ** (code - 127); },
};

function half(code) {
  const exponent = (code >> 10) & 31;
  const fraction = code & 1023;
  const size = exponent === 31 ? (fraction ? NaN : Infinity) : exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24;
  return code & 0x8000 ? -size : size;
}

/** Returns the elements of a packed type of `bits` bits. The first element is in the low bits. */
function unpackedBits(bytes, count, bits) {
  const perByte = 8 / bits;
  return Uint8Array.from({ length: count }, function (_, at) { return (bytes[Math.floor(at / perByte)] >> (bits * (at % perByte))) & ((1 << bits) - 1); });
}

/** Returns the elements of a constant and their NumPy type, a wider one if NumPy lacks the type; null for other types. */
function decodedElements(type, bytes, count) {
  if (PLAIN[type]) {
    const [Kind, descr] = PLAIN[type];
    return { elements: new Kind(bytes.slice(0, count * Kind.BYTES_PER_ELEMENT).buffer), descr };
  }
  const wide = function (from) { return { elements: Float32Array.from({ length: count }, function (_, at) { return from(at); }), descr: "<f4" }; };
  const words = function () { return new Uint16Array(bytes.slice(0, 2 * count).buffer); };
  if (type === "f16") {
    const codes = words();
    return { elements: Float32Array.from(codes, half), descr: "<f2", raw: codes };
  }
  if (type === "bf16") return { elements: new Float32Array(Uint32Array.from(words(), function (code) { return code << 16; }).buffer), descr: "<f4" };
  if (BYTES[type]) return wide(function (at) { return BYTES[type](bytes[at]); });
  if (type === "u1") return { elements: Uint8Array.from({ length: count }, function (_, at) { return (bytes[at >> 3] >> (7 - (at & 7))) & 1; }), descr: "|u1" };
  if (type === "u2") return { elements: unpackedBits(bytes, count, 2), descr: "|u1" };
  if (type === "u4" || type === "nf4") return { elements: unpackedBits(bytes, count, 4), descr: "|u1", note: type === "nf4" ? "the codes of nf4, 0 to 15" : "" };
  if (type === "i4") return { elements: Int8Array.from(unpackedBits(bytes, count, 4), function (code) { return code > 7 ? code - 16 : code; }), descr: "|i1" };
  if (type === "f4e2m1") {
    const codes = unpackedBits(bytes, count, 4);
    return wide(function (at) { return codes[at] & 8 ? -F4[codes[at] & 7] : F4[codes[at]]; });
  }
  return null;
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), function (char) { return char.charCodeAt(0); });
}

/** Returns the elements of a constant; null if the page does not contain its bytes. */
function heldElements(constant) {
  if (!constant.data) return null;
  if (!constant.held) constant.held = decodedElements(typeOf(constant), bytesOf(constant.data), constant.elements);
  return constant.held;
}

function typeOf(constant) {
  return constant.tensor.replace(/ .*$/, "");
}

function shapeOf(constant) {
  const inside = constant.tensor.replace(/^[^[]*\[|\]$/g, "");
  return inside ? inside.split(",").map(Number) : [];
}

/** Writes a number. For f16 and f32, uses only as many digits as identify the value. */
function numberText(number, descr) {
  if (descr !== "<f4" && descr !== "<f2") return String(number);
  for (let digits = 4; digits < 9; digits++) {
    const text = Number(number.toPrecision(digits));
    if (Math.fround(text) === number) return String(text);
  }
  return String(Number(number.toPrecision(9)));
}

/** Writes the elements as lines of text, one for each row along the last axis. */
function listedElements({ elements, descr }, shape) {
  const row = shape.length ? shape[shape.length - 1] || 1 : 1;
  const lines = [];
  const most = Math.min(elements.length, MOST_LISTED);
  for (let at = 0; at < most; at += row)
    lines.push(Array.from(elements.subarray(at, Math.min(at + row, most)), function (number) { return numberText(number, descr); }).join(", "));
  if (most < elements.length) lines.push("… and " + numbers.format(elements.length - most) + " more");
  return lines.join("\n");
}

/** Returns an .npy file. */
function npy({ elements, descr, raw }, shape) {
  const sizes = shape.length === 1 ? shape[0] + "," : shape.join(", ");
  let header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  header += " ".repeat(63 - ((10 + header.length) % 64)) + "\n";
  const start = new Uint8Array(10 + header.length);
  start.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  start.set(new TextEncoder().encode(header), 10);
  return new Blob([start, raw || elements], { type: "application/octet-stream" });
}

/** Returns the range of the elements, and a histogram: how many are in each of 24 equal intervals. */
function spread(elements) {
  const about = { lowest: Infinity, highest: -Infinity, mean: 0, std: 0, zeros: 0, nan: 0, inf: 0 };
  let count = 0;
  let squares = 0;
  for (const element of elements) {
    const number = Number(element);
    if (Number.isNaN(number)) about.nan++;
    else if (!Number.isFinite(number)) about.inf++;
    else {
      count++;
      if (number < about.lowest) about.lowest = number;
      if (number > about.highest) about.highest = number;
      if (number === 0) about.zeros++;
      const apart = number - about.mean;
      about.mean += apart / count;
      squares += apart * (number - about.mean);
    }
  }
  if (!count) return null;
  about.std = Math.sqrt(squares / count);
  const counts = new Array(24).fill(0);
  const width = about.highest - about.lowest;
  for (const element of elements) {
    const number = Number(element);
    if (Number.isFinite(number)) counts[width ? Math.min(23, Math.floor(((number - about.lowest) / width) * 24)) : 12]++;
  }
  return { range: about, histogram: counts };
}

function constantValue(constant) {
  const held = constant.elements <= 16 ? heldElements(constant) : null;
  if (!held) return null;
  const texts = Array.from(held.elements, function (number) { return held.descr === "|b1" ? (number ? "true" : "false") : numberText(number, held.descr); });
  return shapeOf(constant).length ? "[" + texts.join(", ") + "]" : texts.join(", ");
}

/** Returns the elements of a constant, from the page or the opened .bin. Throws an Error with a message for the user. */
async function elementsOf(net, constant) {
  const held = heldElements(constant);
  if (held) return held;
  const end = constant.offset + constant.bytes;
  if (net.bin.size < end) throw new Error(net.bin.name + " has " + counted(net.bin.size, "byte") + "; this constant ends at byte " + numbers.format(end) + ".");
  const bytes = new Uint8Array(await net.bin.slice(constant.offset, end).arrayBuffer());
  const decoded = decodedElements(typeOf(constant), bytes, constant.elements);
  if (!decoded) throw new Error("The page does not read elements of type " + typeOf(constant) + ".");
  return decoded;
}
