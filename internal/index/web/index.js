"use strict";
document.documentElement.classList.add("scripted");
const rows = [...document.querySelectorAll("#cells tr")];
const texts = rows.map((r) => r.textContent.toLowerCase());
const selects = [...document.querySelectorAll("select")];
const text = document.querySelector("#filter");
function filter() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  rows.forEach((r, i) => {
    const fits = (s) => s.value === "" || r.dataset[s.id].split("\n").includes(s.value);
    r.hidden = !selects.every(fits) || !words.every((w) => texts[i].includes(w));
    if (!r.hidden) shown++;
  });
  document.querySelector("#matches").textContent = shown + " of " + rows.length + " shown";
}
for (const control of [text, ...selects]) control.oninput = filter;
filter();
