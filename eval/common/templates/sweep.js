// Filters, the table of planners and datasets, figures and episodes, all of the data in the page.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const MOST = 200, SERIES = 6, Z = 1.959963984540054;
  const [SWEEP, EPISODE, OBJECTS, LENGTH, FAULTS, REASON, RECOVERABLE, REACHED, RIGHT, ERRORS, PROMISED] = Array(11).keys();
  const element = (id) => document.getElementById(id);
  const unique = (values) => [...new Set(values)];
  const chosen = (id) => element(id).value;
  const sweepOf = (row) => data.sweeps[row[SWEEP]];
  const rows = data.episodes.map((row, number) => Object.assign(row, { number }));
  const planners = unique(data.sweeps.map((sweep) => sweep[0]));
  const datasets = unique(data.sweeps.map((sweep) => sweep[1]));
  let shown = [];

  function fill(id, values, words = (value) => value) {
    for (const value of values) element(id).add(new Option(words(value), value));
  }
  fill("cause", data.faults.keys(), (i) => data.faults[i]);
  fill("size", unique(rows.map((row) => row[OBJECTS])).sort((a, b) => a - b));
  fill("sensor", unique(data.sweeps.map((sweep) => sweep[2])));
  fill("dataset", datasets);
  fill("planner", planners);
  fill("reason", data.reasons.keys(), (i) => data.reasons[i]);

  // good and all of some episodes by the measure
  const measures = {
    reached: (row) => (row[RECOVERABLE] ? [row[REACHED], 1] : [0, 0]),
    recovered: (row) => [row[RIGHT], row[ERRORS]],
    promised: (row) => (row[RECOVERABLE] ? [row[PROMISED], 1] : [0, 0]),
    success: (row) => [row[REASON] < 0 ? 1 : 0, 1],
  };
  function share(some) {
    const of = measures[chosen("measure")];
    let good = 0, total = 0;
    for (const row of some) {
      const [yes, all] = of(row);
      good += yes; total += all;
    }
    if (!total) return null;
    const p = good / total, middle = (p + Z * Z / (2 * total)) / (1 + Z * Z / total);
    const half = (Z / (1 + Z * Z / total)) * Math.sqrt(p * (1 - p) / total + Z * Z / (4 * total * total));
    return { p, total, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
  }
  const percent = (value) => (100 * value).toFixed(1);
  const interval = (s) => `${percent(s.low)} to ${percent(s.high)} %, of ${s.total}`;

  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "line", "circle", "rect", "text", "polyline", "g", "title", "path"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function filtered(without = []) {
    const [cause, size, sensor, dataset, planner] = ["cause", "size", "sensor", "dataset", "planner"].map(
      (id) => (without.includes(id) ? "" : chosen(id)));
    return rows.filter((row) => {
      const sweep = sweepOf(row);
      return (cause === "" || row[FAULTS].includes(Number(cause))) && (size === "" || row[OBJECTS] === Number(size)) &&
        (sensor === "" || sweep[2] === sensor) && (dataset === "" || sweep[1] === dataset) && (planner === "" || sweep[0] === planner);
    });
  }

  function pivot() {
    const some = filtered(["dataset", "planner"]);
    const found = planners.map((planner) => datasets.map((dataset) => share(of(some, planner, dataset))));
    const best = datasets.map((_, i) => Math.max(...found.map((line) => line[i]?.p ?? -1)));
    element("pivot").tBodies[0].replaceChildren(...planners.map((planner, p) =>
      make("tr", {}, make("th", { scope: "row" }, planner), ...datasets.map((dataset, d) => {
        const s = found[p][d];
        if (!s) return make("td", {}, "-");
        const button = make("button", { type: "button", "aria-pressed": chosen("planner") === planner && chosen("dataset") === dataset },
          make("b", s.p === best[d] ? { class: "best" } : {}, `${percent(s.p)} %`), make("span", { class: "soft" }, interval(s)));
        button.addEventListener("click", () => {
          const pressed = button.getAttribute("aria-pressed") === "true";
          element("planner").value = pressed ? "" : planner;
          element("dataset").value = pressed ? "" : dataset;
          draw();
          if (!pressed) element("episodes").scrollIntoView();
        });
        return make("td", {}, button);
      }))));
  }
  const of = (some, planner, dataset) => some.filter((row) => sweepOf(row)[0] === planner && sweepOf(row)[1] === dataset);

  const label = () => `${data.measures[chosen("measure")]}, %`;
  function axis(svg, x, top, bottom) {
    for (const value of [0, 25, 50, 75, 100]) {
      svg.append(make("line", { class: "grid", x1: x(value / 100), x2: x(value / 100), y1: top, y2: bottom }),
        make("text", { class: "tick", x: x(value / 100), y: bottom + 14, "text-anchor": "middle" }, String(value)));
    }
    svg.append(make("text", { class: "tick", x: x(0.5), y: bottom + 30, "text-anchor": "middle" }, label()));
  }
  const figure = (title, svg, text) => {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", text);
    return make("figure", {}, make("figcaption", {}, title), svg);
  };

  function byDataset() {
    const some = filtered();
    element("by-dataset").replaceChildren(...datasets.flatMap((dataset) => {
      const lines = planners.map((planner) => [planner, share(of(some, planner, dataset))]).filter(([, s]) => s);
      if (!lines.length) return [];
      const x = (value) => 112 + 200 * value, bottom = 10 + 20 * lines.length;
      const svg = make("svg", { viewBox: `0 0 330 ${bottom + 36}` });
      axis(svg, x, 4, bottom);
      lines.forEach(([planner, s], i) => {
        const y = 18 + 20 * i;
        svg.append(make("text", { x: 104, y: y + 4, "text-anchor": "end" }, planner), make("line", { class: "bar", x1: x(s.low), x2: x(s.high), y1: y, y2: y }),
          make("circle", { class: "mark", cx: x(s.p), cy: y, r: 4 }, make("title", {}, `${planner}: ${percent(s.p)} %, ${interval(s)}`)));
      });
      return [figure(`Dataset ${dataset}`, svg, `${label()} on dataset ${dataset}: ${lines.map(([planner, s]) => `${planner} ${percent(s.p)}`).join(", ")}`)];
    }));
  }

  function bySize() {
    const some = filtered(["size"]), sizes = unique(some.map((row) => row[OBJECTS])).sort((a, b) => a - b);
    const lines = planners.map((planner) => [planner, sizes.map((size) => [size, share(some.filter((row) => sweepOf(row)[0] === planner && row[OBJECTS] === size))]).filter(([, s]) => s)])
      .filter(([, points]) => points.length);
    element("by-size").replaceChildren(...lines.map(([planner, points], i) => {
      const x = (size) => 44 + 250 * (sizes.length > 1 ? (size - sizes[0]) / (sizes.at(-1) - sizes[0]) : 0.5), y = (value) => 130 - 120 * value;
      const svg = make("svg", { viewBox: "0 0 330 168", class: `series${i % SERIES}` });
      for (const value of [0, 0.5, 1]) svg.append(make("line", { class: "grid", x1: 36, x2: 304, y1: y(value), y2: y(value) }), make("text", { class: "tick", x: 32, y: y(value) + 4, "text-anchor": "end" }, String(100 * value)));
      for (const size of sizes) svg.append(make("text", { class: "tick", x: x(size), y: 146, "text-anchor": "middle" }, String(size)));
      svg.append(make("text", { class: "tick", x: 170, y: 163, "text-anchor": "middle" }, `objects; upwards: ${label()}`));
      svg.append(make("polyline", { class: "line", points: points.map(([size, s]) => `${x(size)},${y(s.p)}`).join(" ") }));
      for (const [size, s] of points) {
        svg.append(make("line", { class: "bar", x1: x(size), x2: x(size), y1: y(s.low), y2: y(s.high) }),
          make("circle", { class: "mark", cx: x(size), cy: y(s.p), r: 3.6 }, make("title", {}, `${size} objects: ${percent(s.p)} %, ${interval(s)}`)));
      }
      return figure(planner, svg, `${label()} of ${planner}: ${points.map(([size, s]) => `${size} objects ${percent(s.p)}`).join(", ")}`);
    }));
  }

  function list() {
    const [outcome, reason] = [chosen("outcome"), chosen("reason")];
    shown = filtered().filter((row) => (outcome === "" || (outcome === "failed") === row[REASON] >= 0) && (reason === "" || row[REASON] === Number(reason)));
    // those that the page says more of first
    shown.sort((a, b) => (b.number in data.details) - (a.number in data.details) || a.number - b.number);
    element("count").textContent = `${shown.length} episodes${shown.length > MOST ? `, the first ${MOST} of them here` : ""}.`;
    element("list").tBodies[0].replaceChildren(...shown.slice(0, MOST).map((row) => {
      const [planner, dataset, sensor] = sweepOf(row), detail = data.details[row.number];
      const name = `${dataset} ${row[EPISODE]}`;
      const first = detail ? make("button", { type: "button" }, name) : name;
      if (detail) first.addEventListener("click", () => tell(row, detail));
      const outcomeText = row[REASON] < 0 ? "✓ as it should be" : `✗ ${data.reasons[row[REASON]]}`;
      return make("tr", row[REASON] < 0 ? {} : { class: "error" }, make("th", { scope: "row" }, first), ...[planner, sensor, row[OBJECTS], row[LENGTH],
        row[FAULTS].map((i) => data.faults[i]).join(", "), outcomeText].map((text) => make("td", {}, String(text))),
        make("td", {}, detail?.report ? make("a", { href: detail.report }, "report") : "-"));
    }));
  }

  function tell(row, detail) {
    const [planner, dataset, sensor] = sweepOf(row);
    const actions = detail.actions.map(([action, faults, wrong, noticed, back]) => {
      const notes = [back ? "way back" : "", faults, wrong ? "something is wrong afterwards" : "", noticed ? "noticed" : ""].filter(Boolean).join("; ");
      return make("li", wrong ? { class: "wrong" } : {}, action, ...(notes ? [make("span", { class: "soft" }, ` ${notes}`)] : []));
    });
    const panel = element("detail");
    panel.replaceChildren(make("h3", { tabindex: "-1" }, `Episode ${row[EPISODE]} of dataset ${dataset}, ${planner}, sensor ${sensor}`),
      make("p", {}, row[REASON] < 0 ? "As it should be." : `Failed: ${data.reasons[row[REASON]]}. ${detail.says ? `The planner says: ${detail.says}.` : ""}`),
      ...(detail.wrong ? [make("p", {}, `In the end: ${detail.wrong}.`)] : []), make("ol", {}, ...actions),
      make("p", {}, detail.report ? make("a", { href: detail.report }, "report with pictures") : "There is no report of it; --reports N makes reports of the first failed episodes."));
    panel.querySelector("h3").focus({ preventScroll: true });
    panel.scrollIntoView();
  }

  function draw() {
    pivot(); byDataset(); bySize(); list();
    const some = filtered(), s = share(some);
    element("chosen").textContent = s ? `${some.length} episodes: ${percent(s.p)} % (${interval(s)})` : `${some.length} episodes`;
    element("detail").replaceChildren();
  }
  element("filters").addEventListener("change", draw);
  element("filters").addEventListener("reset", () => setTimeout(draw));
  element("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["outcome", "reason"]) element(id).addEventListener("change", list);
  draw();
})();
