"use strict";
(() => {
document.documentElement.classList.add("js");

// All charts over time show the values of one moment, in seconds since the begin of their axis: the
// one under the pointer, or the one that the arrow keys have reached.
let moment = null, keyed = false, swapping = false;
const overTime = ".plot[data-length]";

const places = plot => (plot.dataset.places || "").split(" ").filter(Boolean).map(Number);

// area returns the place of a chart between its axes. Its own element also has what sticks out.
const area = plot => plot.querySelector("svg").getBoundingClientRect();

// nearest returns the index of the place nearest to a moment.
function nearest(all, at) {
  let best = 0;
  all.forEach((x, i) => { if (Math.abs(x - at) < Math.abs(all[best] - at)) best = i; });
  return best;
}

// part returns a part of a plot that the script adds, and makes it if need be.
function part(plot, name, make) {
  let node = plot.querySelector("." + name);
  if (!node) {
    node = make();
    node.setAttribute("class", name);
  }
  return node;
}

// read marks the moment on a chart, and shows its values from the table below the chart.
function read(plot) {
  const all = places(plot), length = +plot.dataset.length, chart = plot.querySelector(".area");
  const line = part(plot, "cursor", () => chart.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line")));
  const box = part(plot, "reading", () => plot.appendChild(document.createElement("div")));
  const shown = moment !== null && moment <= length;
  line.setAttribute("visibility", shown ? "visible" : "hidden");
  box.hidden = !shown || !all.length;
  if (!shown) return;
  const i = nearest(all, moment), at = all.length ? all[i] : moment, x = 100 * at / length + "%";
  for (const [name, value] of [["x1", x], ["x2", x], ["y1", 0], ["y2", "100%"]]) line.setAttribute(name, value);
  if (box.hidden) return;
  const table = plot.closest("figure").querySelector("table"), row = table.tBodies[0].rows[i];
  const begin = +plot.dataset.begin;
  const when = document.createElement("b");
  when.textContent = row.cells[0].textContent + (begin ? " (" + new Date(begin + 1e3 * at).toISOString().slice(11, 19) + " UTC)" : "");
  box.replaceChildren(when);
  [...row.cells].slice(1).forEach((cell, k) => {
    if (!cell.textContent) return;
    const value = document.createElement("span");
    value.textContent = table.tHead.rows[0].cells[k + 1].textContent + " " + cell.textContent;
    box.append("\n", value);
  });
  box.setAttribute("aria-live", plot === document.activeElement ? "polite" : "off");
  const outer = plot.getBoundingClientRect(), inner = area(plot);
  const left = inner.left - outer.left + at / length * inner.width, right = outer.width - left;
  box.style.left = left <= right ? left + 8 + "px" : "auto";
  box.style.right = left <= right ? "auto" : right + 8 + "px";
}

let waiting = false;
function show(at) {
  if (at === moment && at === null) return;
  moment = at;
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    document.querySelectorAll(overTime).forEach(read);
  });
}

// point shows the values under the pointer.
function point(e) {
  const plot = e.target.closest?.(overTime);
  if (!plot) return keyed || show(null);
  const box = area(plot);
  keyed = false;
  show(Math.min(Math.max((e.clientX - box.left) / box.width, 0), 1) * plot.dataset.length);
}
addEventListener("pointermove", point);
addEventListener("pointerdown", point);
document.documentElement.addEventListener("pointerleave", () => keyed || show(null));

addEventListener("keydown", e => {
  const plot = e.target.closest?.(overTime);
  if (!plot || e.ctrlKey || e.altKey || e.metaKey) return;
  const all = places(plot), last = all.length - 1, far = e.shiftKey ? 10 : 1;
  const i = moment === null ? -1 : nearest(all, moment);
  const to = {ArrowRight: i + far, ArrowLeft: i < 0 ? last : i - far, Home: 0, End: last}[e.key];
  if (e.key === "Escape") show(null);
  else if (to === undefined || last < 0) return;
  else {
    keyed = true;
    show(all[Math.min(Math.max(to, 0), last)]);
  }
  e.preventDefault();
});
addEventListener("focusout", e => {
  if (!keyed || swapping || !e.target.closest?.(overTime)) return;
  keyed = false;
  show(null);
});

// prepare makes charts with values reachable by the keyboard.
function prepare() {
  document.querySelectorAll(overTime + "[data-places]").forEach(plot => {
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", plot.closest("figure").querySelector("figcaption").firstChild.textContent.trim() + ": the arrow keys show its values");
  });
  if (moment !== null) show(moment);
}
prepare();
addEventListener("beforeprint", () => document.querySelectorAll("section:not(#operations)>details").forEach(d => { d.open = d.open || d.querySelectorAll("tr").length < 30; }));

// A page that is fed.
const live = document.getElementById("live");
if (!live) return;
const state = document.getElementById("state");

// swap replaces what has changed. What the reader has opened and where the keyboard is stay.
function swap(old, html) {
  if (old.dataset.html === html) return;
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  const now = fresh.content.firstElementChild;
  const focus = document.activeElement && old.contains(document.activeElement) ? document.activeElement.id : "";
  const opened = now.querySelectorAll("details");
  old.querySelectorAll("details").forEach((d, i) => { if (opened[i]) opened[i].open = d.open; });
  now.dataset.html = html;
  swapping = true; // the chart with the focus loses it for a moment
  old.replaceWith(now);
  prepare();
  if (focus) document.getElementById(focus)?.focus({preventScroll: true});
  swapping = false;
}

function update(page) {
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
}

function over(text) {
  live.dataset.over = "true";
  state.textContent = text;
  document.getElementById("stop")?.remove();
  document.getElementById("mark")?.remove();
}

let last = Date.now();
const source = new EventSource("events" + location.search);
source.addEventListener("page", e => { last = Date.now(); update(JSON.parse(e.data)); });
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
