"use strict";
// Filters the table, moves in it by keyboard, and opens a cell. Whatever comes from a report is put in as text.
(() => {
  const began = performance.now();
  const data = JSON.parse(document.getElementById("payload").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const table = document.querySelector("table.rules");
  const groups = [...table.tBodies].map((body) => ({ body, head: body.rows[0], rows: [...body.rows].slice(1) }));
  const rows = groups.flatMap((group) => group.rows);
  const text = new Map();
  root.classList.add("js");
  for (const node of document.querySelectorAll(".filters, .modes, .keys")) node.hidden = false;

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  // --- colours ---------------------------------------------------------------------------------------------------

  const themes = ["auto", "light", "dark"];
  function setTheme(theme) {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    $("theme").lastElementChild.textContent = theme;
    $("theme").setAttribute("aria-label", theme === "auto" ? "Colours: as the system has them" : `Colours: ${theme}`);
    try { localStorage.setItem("bridge-conformance-theme", theme); } catch { /* A page from a mail may store nothing. */ }
  }
  try {
    const kept = localStorage.getItem("bridge-conformance-theme");
    if (themes.includes(kept)) setTheme(kept);
  } catch { /* The same. */ }
  $("theme").addEventListener("click", () => setTheme(themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3]));

  // --- filters ---------------------------------------------------------------------------------------------------

  const chips = [...document.querySelectorAll(".chip")];
  const chosen = (key) => chips.filter((chip) => chip.dataset[key] && chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset[key]);
  const words = (row) => {
    if (!text.has(row)) {
      const number = Number(row.dataset.r);
      const findings = [...row.querySelectorAll("a[href]")].map((link) => plain(findingOf(link)));
      const tests = data.cells[number].flat().map(([test]) => data.tests[test][1]);
      text.set(row, `${row.cells[0].textContent} ${data.rules[number].source} ${findings.join(" ")} ${tests.join(" ")}`.toLowerCase());
    }
    return text.get(row);
  };

  // Without a script a link leads into the body, so that the browser opens what is around it.
  const findingOf = (link) => document.getElementById(link.hash.slice(1).replace(/-body$/, ""));
  function plain(finding) {
    const written = finding.querySelector("noscript")?.textContent ?? finding.textContent;
    return written.replace(/<[^>]*>/g, " ").replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(code)).replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  }

  function filter() {
    const wanted = $("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const levels = chosen("level"), verdicts = chosen("verdict");
    const surface = $("surface").value, relation = $("relation").value, split = $("split").checked;
    let shown = 0;
    for (const group of groups) {
      let any = false;
      for (const row of group.rows) {
        const has = row.dataset.v.split(" ");
        const fits = (!surface || group.body.dataset.surface === surface)
          && (!relation || row.dataset.relation === relation)
          && (!levels.length || levels.includes(row.dataset.level))
          && (!verdicts.length || verdicts.some((verdict) => has.includes(verdict)))
          && (!split || "split" in row.dataset)
          && wanted.every((word) => words(row).includes(word));
        if (row.hidden === fits) row.hidden = !fits;
        any ||= fits;
        shown += fits;
      }
      group.body.hidden = !any;
    }
    const narrowed = shown < rows.length;
    $("shown").textContent = narrowed ? `${shown} of ${rows.length} rules shown. The totals above are of all.` : rows.length === 1 ? "The one rule is shown." : `All ${rows.length} rules shown.`;
    $("reset").disabled = !narrowed;
    document.querySelector(".nothing").hidden = shown > 0;
    table.hidden = shown === 0;
    keep();
    roam();
  }

  function reset() {
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    $("text").value = $("surface").value = $("relation").value = "";
    $("split").checked = false;
    filter();
  }

  // The filters stand in the address, so that a view can be handed on.
  function keep() {
    const asked = new URLSearchParams();
    if ($("text").value) asked.set("text", $("text").value);
    if ($("surface").value) asked.set("surface", groups[$("surface").value].head.querySelector(".name").textContent);
    if ($("relation").value) asked.set("relation", $("relation").value);
    if ($("split").checked) asked.set("split", "1");
    for (const key of ["level", "verdict"]) if (chosen(key).length) asked.set(key, chosen(key).join(","));
    if ($("cell").open && here) {
      asked.set("rule", data.rules[Number(here.parentElement.dataset.r)].id);
      asked.set("on", data.columns[here.cellIndex - 1].label);
    }
    const address = asked.size ? `#?${asked}` : location.hash.startsWith("#?") ? "#" : "";
    if (address) history.replaceState(null, "", address);
  }

  function recall() {
    if (!location.hash.startsWith("#?")) return;
    const asked = new URLSearchParams(location.hash.slice(2));
    $("text").value = asked.get("text") ?? "";
    const at = groups.findIndex((group) => group.head.querySelector(".name").textContent === asked.get("surface"));
    $("surface").value = at < 0 ? "" : String(at);
    $("relation").value = asked.get("relation") ?? "";
    $("split").checked = asked.has("split");
    for (const key of ["level", "verdict"]) {
      const wanted = (asked.get(key) ?? "").split(",");
      for (const chip of chips) if (chip.dataset[key]) chip.setAttribute("aria-pressed", String(wanted.includes(chip.dataset[key])));
    }
  }

  let waiting = 0;
  $("text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  for (const id of ["surface", "relation", "split"]) $(id).addEventListener("change", filter);
  for (const chip of chips) chip.addEventListener("click", () => {
    chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    filter();
  });
  $("reset").addEventListener("click", reset);
  document.querySelector(".again").addEventListener("click", () => { reset(); $("text").focus(); });

  // --- moving in the table ---------------------------------------------------------------------------------------

  // One stop of the tab key for the whole table; the arrows go on from there.
  table.setAttribute("role", "grid");
  table.setAttribute("aria-describedby", "keys");
  let here = null;
  for (const link of table.querySelectorAll("td.c a")) link.tabIndex = -1;
  function roam(cell = here && !here.parentElement.hidden && !here.closest("tbody").hidden ? here : visible()[0]?.cells[1]) {
    if (here) here.tabIndex = -1;
    here = cell ?? null;
    if (here) here.tabIndex = 0;
  }
  const visible = () => rows.filter((row) => !row.hidden && !row.parentElement.hidden);
  table.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td.c");
    if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
    const shown = visible(), at = shown.indexOf(cell.parentElement), last = cell.parentElement.cells.length - 1;
    const go = {
      ArrowDown: [at + 1, cell.cellIndex], ArrowUp: [at - 1, cell.cellIndex],
      ArrowRight: [at, cell.cellIndex + 1], ArrowLeft: [at, cell.cellIndex - 1],
      PageDown: [Math.min(at + 10, shown.length - 1), cell.cellIndex], PageUp: [Math.max(at - 10, 0), cell.cellIndex],
      Home: [at, 1], End: [at, last],
    }[event.key];
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(cell); return; }
    if (!go) return;
    event.preventDefault();
    const target = shown[go[0]]?.cells[Math.min(go[1], last)];
    if (target && target.cellIndex > 0) { roam(target); target.focus(); }
  });
  table.addEventListener("click", (event) => {
    const cell = event.target.closest("td.c");
    if (!cell || String(getSelection()).length > 0) return;
    event.preventDefault();
    roam(cell);
    open(cell);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !$("cell").open && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      $("text").focus();
    }
  });

  // --- pictures --------------------------------------------------------------------------------------------------

  function draw(within) {
    for (const figure of within.querySelectorAll("figure[data-d]")) {
      const picture = new DOMParser().parseFromString(data.pictures[Number(figure.dataset.d)], "image/svg+xml");
      figure.tabIndex = 0;
      figure.replaceChildren(document.importNode(picture.documentElement, true));
      delete figure.dataset.d;
    }
  }
  // The body of a finding is one text until somebody looks at it.
  function unfold(finding) {
    const held = finding.querySelector("noscript");
    if (held) held.replaceWith(...new DOMParser().parseFromString(held.textContent, "text/html").body.childNodes);
    return finding.querySelector(".body");
  }
  document.getElementById("all-findings").addEventListener("toggle", (event) => {
    if (event.target.matches("details.finding[open]")) draw(unfold(event.target));
  }, true);

  // --- one cell --------------------------------------------------------------------------------------------------

  const dialog = $("cell");
  function badge(code, word) {
    const [slug, name, glyph] = data.verdicts[code];
    return make("span", { class: `v ${slug}` }, make("span", { class: "g", "aria-hidden": "true" }, glyph), ` ${word ?? name}`);
  }
  // A cell's verdict as it stands in the table.
  const tag = (cell) => make("span", { class: `${cell.className} tag` }, (cell.querySelector("a") ?? cell).firstChild.textContent);
  // What everybody else answered to the same rule: a stated difference shows here.
  function beside(row, cell) {
    const strip = make("div", { class: "beside", role: "group", "aria-label": "The same rule on each implementation" });
    for (const other of [...row.cells].slice(1)) {
      const column = data.columns[other.cellIndex - 1];
      const button = make("button", { type: "button" }, make("span", { class: "quiet" }, column.label), tag(other));
      if (other === cell) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => { roam(other); open(other); });
      strip.append(button);
    }
    return strip;
  }
  function open(cell) {
    const row = cell.parentElement, number = Number(row.dataset.r), at = cell.cellIndex - 1;
    const column = data.columns[at], rule = data.rules[number], proofs = data.cells[number][at];
    const head = row.cells[0], body = $("cell-body");
    $("cell-title").replaceChildren(make("code", {}, rule.id), make("span", { class: "on" }, `${column.label} · ${column.who}`));
    body.replaceChildren();
    const code = data.verdicts.findIndex(([slug]) => cell.classList.contains(slug));
    body.append(make("p", { class: "said" }, tag(cell), " ", make("span", { class: "quiet" }, cell.classList.contains("differs") ? "Pi differs from the rule in just the way that the rule states" : data.verdicts[code][3])));
    const words = make("div", { class: "words" }, head.querySelector(".tags").cloneNode(true), make("p", { class: "sentence" }, head.querySelector(".text").textContent));
    const pi = head.querySelector(".pi");
    if (pi) words.append(pi.cloneNode(true));
    if (rule.reading) words.append(make("p", { class: "quiet" }, `Reading: ${rule.reading}`));
    words.append(make("p", { class: "quiet" }, "Source: ", make("code", {}, rule.source)));
    body.append(words);
    if (data.columns.length > 1) body.append(beside(row, cell));
    const link = cell.querySelector("a");
    const finding = link && findingOf(link);
    if (finding) {
      const copy = unfold(finding).cloneNode(true);
      copy.removeAttribute("id");
      copy.querySelector(".sentence").remove();
      body.append(copy);
      draw(copy);
    }
    if (proofs.length) {
      body.append(make("h3", {}, proofs.length === 1 ? "Its proof" : `Its ${proofs.length} proofs`));
      const list = make("ul", { class: "proofs" });
      for (const [test, code, ms] of proofs) {
        const [item, title, lines] = data.tests[test];
        const name = title || item.replace(/^invariant:/, "invariant ");
        const line = make("summary", {}, badge(code), ` ${name}`, make("span", { class: "quiet" }, ms ? ` ${ms} ms` : ""));
        const whole = make("details", {}, line);
        whole.addEventListener("toggle", () => {
          if (whole.open && whole.children.length === 1)
            whole.append(lines.length ? make("pre", { class: "steps" }, lines.join("\n")) : make("p", { class: "quiet" }, "It is judged in every run, whatever the run is about."), make("code", { class: "id" }, item));
        });
        list.append(make("li", {}, whole));
        if (proofs.length <= 2 && !finding) whole.open = true;
      }
      body.append(list);
    } else if (!finding) {
      body.append(make("p", { class: "quiet" }, "Nothing of this rule is asked of this implementation."));
    }
    if (proofs.length)
      body.append(make("h3", {}, "The whole rule again"), make("pre", { class: "command" }, `bridge-conformance run --bridge=${column.given} --rule=${rule.id}`));
    const list = visible(), place = list.indexOf(row);
    const away = (step) => list[place + step]?.cells[cell.cellIndex];
    for (const [id, step] of [["previous", -1], ["next", 1]]) {
      $(id).disabled = !away(step);
      $(id).onclick = () => { roam(away(step)); open(here); };
    }
    if (!dialog.open) dialog.showModal();
    keep();
    body.scrollTop = 0;
    body.focus();
  }
  $("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  // It is told of in a task of its own: whoever has gone on meanwhile keeps the focus.
  dialog.addEventListener("close", () => {
    const at = document.activeElement;
    if (at === document.body || dialog.contains(at)) here?.focus();
    keep();
  });

  // An address may name one cell, by its rule and the label of the implementation.
  function reopen() {
    const asked = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : "");
    const row = rows.find((each) => data.rules[Number(each.dataset.r)].id === asked.get("rule"));
    const at = data.columns.findLastIndex((column) => column.label === asked.get("on"));
    if (!row || at < 0) return;
    if (row.hidden || row.parentElement.hidden) reset();
    row.scrollIntoView();
    roam(row.cells[at + 1]);
    open(here);
  }

  // A link to a rule that a filter hides shows it.
  function follow() {
    const target = location.hash.length > 1 && !location.hash.startsWith("#?") ? document.getElementById(decodeURIComponent(location.hash.slice(1)).replace(/-body$/, "")) : null;
    if (!target) return;
    if (target.matches("tr") && target.hidden) { reset(); target.scrollIntoView(); }
    if (target.matches("details.finding")) { target.open = true; target.scrollIntoView(); }
  }
  // What the address asks for is carried out; the filters write it down anew on the way.
  function obey() {
    const asked = location.hash;
    recall();
    filter();
    if (asked) history.replaceState(null, "", asked);
    follow();
    reopen();
  }
  addEventListener("hashchange", obey);

  // The head of the table stands below the filters, and what a link leads to below both.
  const filters = document.querySelector(".filters");
  const measure = () => {
    const stuck = getComputedStyle(filters).position === "sticky";
    root.style.setProperty("--below", stuck ? `${filters.offsetHeight}px` : "0px");
  };
  new ResizeObserver(measure).observe(filters);

  obey();
  root.dataset.ready = String(Math.round(performance.now()));
  root.dataset.script = String(Math.round(performance.now() - began));
})();
