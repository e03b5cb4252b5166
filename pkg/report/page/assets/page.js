"use strict";
(() => {
const root = document.documentElement, charts = new Map();
let latest; // plots that came while uPlot was not there yet
root.classList.add("js");

// unpack reads what an element holds: text, compressed, in letters.
async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// load runs uPlot, whose hash the content security policy has.
async function load() {
  const script = document.createElement("script");
  script.textContent = await unpack("uplot");
  document.head.append(script);
}

const two = n => String(n).padStart(2, "0");

function elapsed(s) {
  if (s < 0) return "-" + elapsed(-s);
  if (s < 60) return +s.toPrecision(3) + " s";
  const t = Math.round(s), m = Math.floor(t / 60) % 60;
  return t < 3600 ? m + ":" + two(t % 60) : Math.floor(t / 3600) + ":" + two(m) + ":" + two(t % 60);
}

function millis(v) {
  for (const [ms, unit] of [[1e3, "s"], [1, "ms"], [1e-3, "µs"]]) {
    if (v >= ms) return +(v / ms).toPrecision(3) + " " + unit;
  }
  return +(v * 1e6).toPrecision(3) + " ns";
}

const shown = (v, unit) => v == null ? "–" : unit === "ms" ? millis(v) : (+v.toPrecision(4)).toLocaleString("en") + " " + unit;
const color = name => getComputedStyle(root).getPropertyValue(name).trim();

function options(plot, node) {
  const muted = color("--muted"), grid = color("--grid"), text = color("--text");
  const axis = {stroke: muted, grid: {stroke: grid, width: 1}, ticks: {stroke: grid, width: 1}, font: "12px system-ui, sans-serif"};
  const short = v => v == null ? "" : plot.unit === "ms" ? millis(v) : (+v.toPrecision(4)).toLocaleString("en");
  return {
    width: Math.max(node.clientWidth, 200), height: 260,
    cursor: {sync: {key: "warp", scales: ["x", null]}, drag: {x: true, y: false}, points: {size: 6}},
    scales: {x: {time: false}, y: plot.log ? {distr: 3} : {range: (u, min, max) => [0, max > 0 ? max * 1.05 : 1]}},
    axes: [
      {...axis, incrs: [.001, .01, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400], values: (u, vs) => vs.map(elapsed)},
      {...axis, size: 66, values: (u, vs) => vs.map(short)},
    ],
    series: [
      {label: "at", value: (u, v) => v == null ? "–" : elapsed(v) + (plot.t0 ? " (" + new Date(plot.t0 + 1e3 * v).toISOString().slice(11, 19) + " UTC)" : "")},
      ...plot.lines.map(l => ({
        label: l.label, stroke: color("--c" + l.color), width: l.class && l.class.includes("thin") ? 1 : 1.75,
        dash: l.class && l.class.includes("dash") ? [5, 4] : undefined, points: {show: plot.x.length < 3}, value: (u, v) => shown(v, plot.unit),
      })),
    ],
    bands: (plot.bands || []).map((b, i) => ({series: [b[0] + 1, b[1] + 1], fill: color("--c" + plot.bandColors[i]) + "2e"})),
    hooks: {draw: [u => {
      const {ctx, bbox} = u;
      (plot.marks || []).forEach((m, i) => {
        const x = Math.round(u.valToPos(m.x, "x", true));
        if (x < bbox.left || x > bbox.left + bbox.width) return;
        ctx.save();
        ctx.strokeStyle = ctx.fillStyle = text;
        ctx.setLineDash([3, 4]);
        ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
        ctx.fillText(i + 1, x + 4, bbox.top + 12 * devicePixelRatio);
        ctx.restore();
      });
    }]},
  };
}

const values = plot => [plot.x, ...plot.lines.map(l => l.y)];

function draw(plot) {
  const node = document.getElementById(plot.id);
  if (!window.uPlot || !node || !node.clientWidth) return;
  const old = charts.get(plot.id);
  if (old) old.u.destroy();
  node.classList.add("drawn");
  node.closest("figure").classList.add("zoomed");
  node.tabIndex = 0;
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", plot.title + ": arrow keys move along, plus and minus zoom, 0 shows all");
  const u = new uPlot(options(plot, node), values(plot), node);
  charts.set(plot.id, {u, plot, node});
  if (node.dataset.keys) return;
  node.dataset.keys = "yes";
  node.addEventListener("keydown", e => key(charts.get(plot.id), e));
  resized.observe(node);
}

// update gives a chart that is there new values; what is zoomed stays so.
function update(plot) {
  const c = charts.get(plot.id);
  if (!c || !c.node.isConnected || c.plot.lines.length !== plot.lines.length) return draw(plot);
  const x = c.u.scales.x, all = c.plot.x, zoomed = x.min > all[0] || x.max < all[all.length - 1];
  c.plot.x = plot.x; c.plot.lines = plot.lines; c.plot.marks = plot.marks;
  c.u.setData(values(plot), !zoomed);
  if (zoomed) c.u.redraw();
}

function key(c, e) {
  const {u, plot} = c, n = plot.x.length, x = u.scales.x;
  let i = u.cursor.idx ?? u.valToIdx((x.min + x.max) / 2);
  const move = to => {
    i = Math.min(Math.max(to, 0), n - 1);
    const v = plot.x[i], half = (x.max - x.min) / 2;
    if (v < x.min || v > x.max) u.setScale("x", {min: v - half, max: v + half});
    const y = plot.lines.map(l => l.y[i]).find(y => y != null);
    u.setCursor({left: u.valToPos(v, "x"), top: y == null ? 10 : u.valToPos(y, "y")});
  };
  const zoom = f => {
    const at = plot.x[i], half = Math.max((x.max - x.min) * f / 2, 1e-3);
    const min = Math.max(plot.x[0], at - half), max = Math.min(plot.x[n - 1], at + half);
    if (max > min) u.setScale("x", {min, max});
  };
  switch (e.key) {
  case "ArrowRight": move(i + (e.shiftKey ? 10 : 1)); break;
  case "ArrowLeft": move(i - (e.shiftKey ? 10 : 1)); break;
  case "Home": move(0); break;
  case "End": move(n - 1); break;
  case "+": case "=": zoom(.5); break;
  case "-": zoom(2); break;
  case "0": case "Escape": u.setScale("x", {min: plot.x[0], max: plot.x[n - 1]}); break;
  default: return;
  }
  e.preventDefault();
}

const drawAll = () => charts.forEach(c => draw(c.plot));
const resized = new ResizeObserver(entries => entries.forEach(e => {
  const c = charts.get(e.target.id), width = Math.max(Math.floor(e.contentRect.width), 200);
  if (c && c.u.width !== width) c.u.setSize({width, height: 260});
}));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = d.open || d.querySelectorAll("tr").length < 30; }));

async function start() {
  if (!("DecompressionStream" in window)) return; // the charts stay as they are
  const own = JSON.parse(await unpack("warp-plots"));
  await load();
  for (const plot of latest || own || []) draw(plot);
}
start();

// A page that is fed.
const live = document.getElementById("live");
if (!live) return;
const state = document.getElementById("state");

// swap takes what has changed. Charts that a script has drawn stay, and get new values.
function swap(old, html) {
  if (old.dataset.html === html) return;
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const now = fresh.content.firstElementChild;
  const focus = document.activeElement && old.contains(document.activeElement) ? document.activeElement.id : "";
  old.querySelectorAll("details").forEach((d, i) => { const n = now.querySelectorAll("details")[i]; if (n) n.open = d.open; });
  now.querySelectorAll(".plot[data-zooms]").forEach(n => {
    const c = charts.get(n.id);
    if (c && c.node.isConnected) {
      n.closest("figure").classList.add("zoomed");
      n.replaceWith(c.node);
    }
  });
  now.dataset.html = html;
  old.replaceWith(now);
  if (focus) document.getElementById(focus)?.focus({preventScroll: true});
}

function show(page) {
  latest = page.plots;
  document.title = page.title;
  swap(document.getElementById("top"), page.top);
  swap(document.querySelector("nav"), page.nav);
  const main = document.getElementById("main"), wanted = new Set(page.sections.map(s => s.id));
  for (const s of [...main.children]) if (!wanted.has(s.id)) s.remove();
  page.sections.forEach((s, i) => {
    if (!document.getElementById(s.id)) {
      const empty = document.createElement("section");
      empty.id = s.id;
      main.insertBefore(empty, main.children[i] || null);
    }
    swap(document.getElementById(s.id), s.html);
  });
  const ids = new Set((page.plots || []).map(p => p.id));
  charts.forEach((c, id) => { if (!ids.has(id)) { c.u.destroy(); charts.delete(id); } });
  (page.plots || []).forEach(update);
}

function over(text) {
  live.dataset.over = "true";
  state.textContent = text;
  document.getElementById("stop")?.remove();
  document.getElementById("mark")?.remove();
}

let last = Date.now();
const source = new EventSource("events" + location.search);
source.addEventListener("page", e => { last = Date.now(); show(JSON.parse(e.data)); });
source.addEventListener("state", e => {
  last = Date.now();
  live.classList.remove("lost");
  const s = JSON.parse(e.data);
  if (s.over) over(s.text); else state.textContent = s.text;
});
source.addEventListener("end", () => { source.close(); ended = true; });
let ended = false;
setInterval(() => {
  if (ended || live.dataset.over === "true" || Date.now() - last < 5000) return;
  live.classList.add("lost");
  state.textContent = "no connection to warp; the figures are those before";
  if (source.readyState === 2) location.reload(); // the browser has given up; a page that is there again goes on
}, 2000);

const token = live.dataset.token;
async function send(path, body) {
  try {
    const answer = await fetch(path, {method: "POST", headers: {"X-Warp-Token": token}, body});
    if (!answer.ok) state.textContent = (await answer.text()).trim();
    return answer.ok;
  } catch {
    state.textContent = "warp does not answer";
  }
}
document.getElementById("stop")?.addEventListener("click", e => {
  if (!confirm("Stop the run and report what was measured?")) return;
  e.target.disabled = true;
  send("stop");
});
document.getElementById("mark")?.addEventListener("submit", async e => {
  e.preventDefault();
  const field = document.getElementById("marktext");
  if (field.value.trim() && await send("mark", field.value.trim())) field.value = "";
});
live.querySelectorAll("a[download]").forEach(a => { a.href += location.search; });
})();
