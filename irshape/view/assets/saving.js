// Saves files from the page: graphs as SVG or PNG, and values.

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
}

/** Returns text as a file name without extension, and without characters that file systems refuse. */
function fileStem(text) {
  return visible(text).replace(/[^\w.-]+/g, "_").replace(/^[._]+/, "").slice(-80) || "constant";
}

/** Converts an SVG to PNG of twice its size, or less if browsers do not allow so large a picture. */
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

/** Saves the graph of each model with its open groups. form: svg or png. */
function saveDrawings(nets, canvases, form) {
  canvases.forEach(function (canvas, at) {
    const drawing = canvas.drawing();
    drawing.querySelector("style").textContent = document.querySelector("style").textContent;
    const name = (nets[at].data.path.replace(/^.*[/\\]/, "").replace(/\.\w+$/, "") || "model") + "." + form;
    const blob = new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" });
    if (form === "svg") download(blob, name);
    else pictured(blob, canvas.scene, function (picture) { download(picture, name); });
  });
}
