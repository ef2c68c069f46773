"use strict";
document.documentElement.classList.add("scripted");
const one = (q) => document.querySelector(q), all = (q) => [...document.querySelectorAll(q)];

// The picture: zoom and pan change which part of 0 to 100 percent is shown.
const lanes = one("#lanes");
let view = [0, 100];
function show(from, to) {
  const wide = Math.min(Math.max(to - from, 0.02), 100);
  from = Math.min(Math.max(from, 0), 100 - wide);
  view = [from, from + wide];
  for (const e of all("#lanes [data-x]")) {
    e.style.left = ((e.dataset.x - from) / wide) * 100 + "%";
    if (e.dataset.w) e.style.width = (e.dataset.w / wide) * 100 + "%";
  }
  let last = -Infinity; // labels of the axis that would cover each other are left out
  const room = (64 / (lanes.clientWidth || 1000)) * 100;
  for (const e of all(".tick")) {
    const x = ((e.dataset.x - from) / wide) * 100;
    e.hidden = x < 0 || x > 100 - room / 2 || x - last < room;
    if (!e.hidden) last = x;
  }
  let free = -Infinity; // numbers of moments in one lane stand beside each other
  let lane = null;
  for (const e of all("a.moment, i.beat")) {
    if (e.parentNode !== lane) [lane, free] = [e.parentNode, -Infinity];
    const pixels = (((e.dataset.x - from) / wide) * lane.clientWidth) || 0;
    const at = Math.min(Math.max(pixels, free, 9), Math.max(pixels, lane.clientWidth - 9));
    e.style.left = at + "px";
    free = at + 18;
  }
  drawMessages();
}

// The messages between lanes: each is a line from where it was sent to where it arrived.
const messages = one("#messages"), sent = messages && (JSON.parse(one("#sentrows").textContent) || []);
function drawMessages() {
  if (!messages || messages.hidden) return;
  const svg = messages.firstChild, every = all("#lanes > .lane:not(.axis)"), wide = messages.clientWidth, scale = wide / (view[1] - view[0]);
  const middle = (lane) => lane.offsetTop + Math.min(14, lane.offsetHeight / 2);
  svg.setAttribute("viewBox", `0 0 ${wide} ${messages.clientHeight}`);
  const list = [];
  for (const [from, to, x, until, kind, label] of sent) {
    if (until < view[0] || x > view[1] || !every[from].offsetHeight || !every[to].offsetHeight) continue;
    const a = { x: (x - view[0]) * scale, y: middle(every[from]) }, b = { x: (until - view[0]) * scale, y: middle(every[to]) };
    if (kind === "lost") b.y = (a.y + b.y) / 2;
    let end = "";
    if (kind === "lost") end = `M${b.x - 4} ${b.y - 4}l8 8m0-8-8 8`;
    else if (kind !== "open") {
      const angle = Math.atan2(b.y - a.y, b.x - a.x), tip = (by) => `${b.x - 7 * Math.cos(angle + by)} ${b.y - 7 * Math.sin(angle + by)}`;
      end = `M${tip(0.4)}L${b.x} ${b.y}L${tip(-0.4)}`;
    }
    const path = document.createElementNS(svg.namespaceURI, "path"), title = document.createElementNS(svg.namespaceURI, "title");
    path.setAttribute("d", `M${a.x} ${a.y}L${b.x} ${b.y}${end}`);
    if (kind) path.setAttribute("class", kind);
    title.textContent = label;
    path.appendChild(title);
    list.push(path);
  }
  svg.replaceChildren(...list);
}
if (lanes) {
  const story = () => show(+lanes.dataset.from, +lanes.dataset.to);
  const zoom = (by, around) => {
    const wide = (view[1] - view[0]) * by, at = around ?? (view[0] + view[1]) / 2;
    const part = (at - view[0]) / (view[1] - view[0]);
    show(at - part * wide, at + (1 - part) * wide);
  };
  lanes.classList.add("story");
  one("#in").onclick = () => zoom(0.6);
  one("#out").onclick = () => zoom(1 / 0.6);
  one("#whole").onclick = () => show(0, 100);
  one("#storyview").onclick = story;
  one("#everyone").onchange = (e) => { lanes.classList.toggle("story", !e.target.checked); show(...view); };
  if (messages) one("#showmessages").onchange = (e) => { messages.hidden = one("#sent").hidden = !e.target.checked; drawMessages(); };
  const place = (e) => {
    const box = one(".axis .track").getBoundingClientRect();
    return view[0] + ((e.clientX - box.left) / box.width) * (view[1] - view[0]);
  };
  lanes.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && Math.abs(e.deltaX) < Math.abs(e.deltaY)) return;
    e.preventDefault();
    if (e.ctrlKey || e.metaKey) zoom(Math.exp(e.deltaY / 300), place(e));
    else show(view[0] + (e.deltaX / 500) * (view[1] - view[0]), view[1] + (e.deltaX / 500) * (view[1] - view[0]));
  }, { passive: false });
  let drag = null;
  lanes.addEventListener("pointerdown", (e) => { if (e.button === 0 && !e.target.closest("a")) drag = { x: e.clientX, view }; });
  window.addEventListener("pointermove", (e) => {
    if (drag && !e.buttons) drag = null;
    if (!drag) return;
    const by = ((drag.x - e.clientX) / one(".axis .track").clientWidth) * (drag.view[1] - drag.view[0]);
    show(drag.view[0] + by, drag.view[1] + by);
  });
  for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, () => { drag = null; });
  window.addEventListener("beforeprint", () => show(0, 100));
  window.addEventListener("resize", () => show(...view));
  story();
}

// find shows the begin of an operation, a row of the table, in the picture.
function find(row) {
  const text = row[1];
  const ms = parseFloat(text) * (text.endsWith(" ms") ? 1 : 1000);
  const knots = lanes.dataset.knots.trim().split(" ").map((k) => k.split(":").map(Number));
  let x = null;
  for (let i = 1; i < knots.length; i++) {
    const [[t, from], [u, to]] = [knots[i - 1], knots[i]];
    if (t <= ms && ms <= u) x = from + ((to - from) * (ms - t)) / (u - t || 1);
  }
  if (x === null) {
    one("#moment").textContent = text + " is outside the picture.";
    return;
  }
  const wide = view[1] - view[0];
  show(x - wide / 2, x + wide / 2);
  const now = one("#now");
  now.hidden = false;
  now.dataset.x = x;
  show(...view);
  one("#moment").textContent = `${text}: ${row[2]} ${row[3]}`;
  lanes.scrollIntoView({ block: "nearest" });
}

// Steps: one moment is marked in the story, in the picture and in the list.
const steps = all("#known li");
let step = 0;
function go(n) {
  step = Math.min(Math.max(n, 0), steps.length);
  for (const e of all("[data-n]")) e.classList.toggle("now", +e.dataset.n === step);
  const slider = one("#slider"), now = one("#now"), said = one("#moment");
  if (!slider) return;
  slider.value = step;
  now.hidden = step === 0;
  if (step === 0) {
    said.textContent = "";
    return;
  }
  const li = steps[step - 1];
  said.textContent = step + ": " + li.querySelector(".line").textContent;
  now.dataset.x = li.dataset.x;
  if (+li.dataset.x < view[0] || +li.dataset.x > view[1]) {
    const half = (view[1] - view[0]) / 2;
    show(+li.dataset.x - half, +li.dataset.x + half);
  } else show(...view);
}
if (steps.length && lanes) {
  one("#slider").oninput = (e) => go(+e.target.value);
  one("#back").onclick = () => go(step - 1);
  one("#next").onclick = () => go(step + 1);
  document.addEventListener("keydown", (e) => {
    if (e.target.matches("input, .scroll") || e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "ArrowRight") go(step + 1);
    else if (e.key === "ArrowLeft") go(step - 1);
    else return;
    e.preventDefault();
  });
  for (const e of all(".told, a.moment")) {
    for (const kind of ["mouseenter", "focus"]) e.addEventListener(kind, () => go(+e.dataset.n));
  }
  for (const li of steps) li.querySelector(".line").addEventListener("click", (e) => { e.preventDefault(); go(+li.dataset.n); });
  go(1);
}

// The command that repeats the run.
if (one("#copy")) {
  one("#copy").onclick = async () => {
    const code = one("#again");
    try { await navigator.clipboard.writeText(code.textContent); one("#copy").textContent = "Copied"; } catch {
      getSelection().selectAllChildren(code);
      one("#copy").textContent = document.execCommand("copy") ? "Copied" : "Selected";
    }
  };
}

// The table of operations: a part at a time.
const rows = JSON.parse(one("#table").textContent) || [], part = 200;
let found = rows, drawn = 0;
function draw() {
  const body = one("#rows");
  for (const r of found.slice(drawn, drawn + part)) {
    const tr = document.createElement("tr");
    for (const text of r) tr.appendChild(document.createElement("td")).textContent = text;
    if (lanes) {
      const button = document.createElement("button"); // one of them is in the order of focus; arrow keys go to the others
      button.type = "button";
      button.textContent = r[0];
      button.tabIndex = body.children.length ? -1 : 0;
      button.ariaLabel = `${one("#operations th").textContent} ${r[0]}, ${r[2]} ${r[3]}: show in the picture`;
      tr.firstChild.replaceChildren(button);
      tr.onclick = () => find(r);
    }
    body.appendChild(tr);
  }
  drawn = Math.min(drawn + part, found.length);
  one("#more").hidden = drawn >= found.length;
  one("#matches").textContent = found.length + " of " + rows.length + " operations";
}
function filter() {
  const words = one("#filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  found = rows.filter((r) => { const cells = r.map((c) => c.toLowerCase()); return words.every((w) => cells.some((c) => c.includes(w))); });
  drawn = 0;
  one("#rows").replaceChildren();
  draw();
}
one("#rows").addEventListener("keydown", (e) => {
  const here = e.target.closest("tr"), to = { ArrowDown: here.nextSibling, ArrowUp: here.previousSibling, Home: here.parentNode.firstChild, End: here.parentNode.lastChild }[e.key];
  if (!to) return;
  e.preventDefault();
  e.target.tabIndex = -1;
  to.querySelector("button").tabIndex = 0;
  to.querySelector("button").focus();
});
one("#filter").oninput = filter;
one("#more").onclick = draw;
draw();
