"use strict";
(function () {
  const findings = Array.from(document.querySelectorAll(".finding"));
  const search = document.getElementById("search");
  const shown = document.getElementById("shown");
  if (search === null) return;
  search.closest("label").hidden = false;
  const texts = findings.map(function (finding) {
    const heads = [finding.closest(".file").querySelector("h2"), finding.closest(".card").querySelector("h3"), finding];
    return heads.map(function (element) { return element.textContent; }).join(" ").toLowerCase();
  });
  function chosen(id) {
    const element = document.getElementById(id);
    return element === null ? "" : element.value;
  }
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rule = chosen("rule");
    const file = chosen("file");
    let visible = 0;
    findings.forEach(function (finding, index) {
      const box = document.getElementById("show-" + finding.dataset.severity);
      const wrong = [
        !box.checked,
        rule !== "" ? finding.dataset.rule !== rule : false,
        file !== "" ? finding.closest(".file").dataset.file !== file : false,
        !words.every(function (word) { return texts[index].includes(word); }),
      ];
      finding.hidden = wrong.includes(true);
      visible += finding.hidden ? 0 : 1;
    });
    document.querySelectorAll(".card, .file").forEach(function (group) {
      group.hidden = group.querySelector(".finding:not([hidden])") === null;
    });
    shown.textContent = visible === findings.length ? "" : visible + " of " + findings.length + " shown";
    document.getElementById("none").hidden = visible !== 0;
  }
  document.querySelector("form.bar").addEventListener("input", filter);
  document.querySelector("form.bar").addEventListener("submit", function (event) { event.preventDefault(); });
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const page = target === null ? null : target.querySelector("details.page");
    if (page !== null) page.open = true;
  }
  window.addEventListener("hashchange", unfold);
  unfold();
  filter();
})();
