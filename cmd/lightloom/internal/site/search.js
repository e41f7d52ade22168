// Searches all sections for the words typed, whole or begun; a heading counts more than text. No server is asked.
"use strict";
const box = document.getElementById("search"), found = document.getElementById("found");

const score = (s, words) => {
  const title = (s.p + " " + s.h).toLowerCase(), text = s.t.toLowerCase();
  let sum = 0;
  for (const w of words) {
    const n = (title.includes(w) ? 20 : 0) + Math.min(text.split(w).length - 1, 5);
    if (n === 0) return 0;
    sum += n;
  }
  return sum;
};

const show = () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(w => w);
  const hits = words.length === 0 ? [] : sections.map(s => [score(s, words), s]).filter(h => h[0] > 0)
    .sort((a, b) => b[0] - a[0]).slice(0, 12);
  found.replaceChildren(...hits.map(([, s]) => {
    const li = document.createElement("li"), a = document.createElement("a"), p = document.createElement("p");
    a.href = box.dataset.root + s.u;
    a.textContent = s.h === s.p ? s.p : s.p + " › " + s.h;
    const at = Math.max(s.t.toLowerCase().indexOf(words[0]) - 60, 0);
    p.textContent = s.t.slice(at, at + 180);
    li.append(a, p);
    return li;
  }));
  if (words.length > 0 && hits.length === 0) {
    const li = document.createElement("li");
    li.textContent = "Nothing has all of these words.";
    found.append(li);
  }
  found.hidden = words.length === 0;
};

box.addEventListener("input", show);
document.addEventListener("keydown", e => {
  if (e.key === "/" && document.activeElement !== box) { e.preventDefault(); box.focus(); }
  if (e.key === "Escape") { box.value = ""; show(); }
});
box.value = new URLSearchParams(location.search).get("q") || "";
show();
