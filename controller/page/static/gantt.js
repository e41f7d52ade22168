// Circuits over time, by optical input: the stages in which each was made, hatched, then its light.
import { html, colour, plural, count, seconds } from "./base.js";
import { useMemo, useState } from "preact/hooks";

const stages = [["commit", "intent", "cleared"], ["drain", "cleared", "drained"], ["rpc", "drained", "accepted"], ["settle", "accepted", "in_service"]];
const most = 24; // rows at once
const high = 16;

// The next of 1, 2, 5, 10, 20 and so on.
function round(x) {
  const p = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].find((n) => n * p >= x * 0.999) * p;
}

// Bars of one kind and colour are one path.
function bars(moves, row, x) {
  const by = new Map();
  const bar = (kind, job, y, from, to) => {
    const a = Math.max(-4, x(from)), w = Math.min(1004, x(to)) - a;
    if (w <= 0) return;
    const key = kind + " " + (job < 0 ? -1 : job % 8);
    let b = by.get(key);
    if (!b) by.set(key, (b = { key, kind, job, d: [] }));
    b.d.push(`M${a.toFixed(1)} ${y}h${Math.max(0.8, w).toFixed(1)}v${high - 4}H${a.toFixed(1)}Z`);
  };
  for (const m of moves) {
    const y = row.get(m.in);
    if (y === undefined) continue;
    const end = m.ended < 0 ? 1e9 : m.ended;
    let from = m.intent;
    for (const [name, , to] of stages) {
      const until = m[to] < 0 ? (m.in_service < 0 ? end : m.in_service) : m[to];
      bar(m.failed ? "stage failed" : "stage " + name, m.job, y, from, until);
      from = Math.max(from, until);
      if (m[to] < 0) break;
    }
    if (m.in_service >= 0) bar("light", m.job, y, m.in_service, end);
  }
  return [...by.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

export function Gantt({ f, look, selected, select }) {
  const spans = f.recorded ? [f.end / 10, f.end / 3, f.end] : [10, 30, 90];
  const [span, setSpan] = useState(f.recorded ? f.end : 30);
  const now = look.head.now, from = now - span;
  const rack = selected && selected.kind === "rack" ? selected.id : -1;
  const { rows, row, all } = useMemo(() => {
    const seen = new Set();
    for (const m of look.moves) if (m.intent <= now && (m.ended < 0 || m.ended > from)) if (rack < 0 || f.rackOfPort(m.in) === rack || f.rackOfPort(m.out) === rack) seen.add(m.in);
    const all = [...seen].sort((a, b) => a - b), rows = all.slice(0, most);
    return { rows, all: all.length, row: new Map(rows.map((p, i) => [p, i * high + 2])) };
  }, [look.moves, f.recorded ? now : Math.floor(from), rack]);
  const tall = Math.max(1, rows.length) * high, W = 1000, x = (t) => ((t - from) / span) * W, step = round(span / 8);
  const ticks = [];
  for (let t = Math.ceil(from / step) * step; t <= now; t += step) if (t >= 0) ticks.push(t);
  const last = [...look.moves].reverse().find((m) => m.in_service >= 0 && m.in_service <= now);
  return html`<section class="card wide" aria-labelledby="gantt">
    <div class="cardhead"><h2 id="gantt">Circuits over time</h2>
      <p class="quiet">${all === 0 ? "none in this window" : all > most ? `${most} of ${plural(all, "optical input")}: choose a rack to see its own` : plural(all, "optical input")}${last ? `; the last took ${seconds(last.in_service - last.intent)}` : ""}</p>
      <div class="choices" role="group" aria-label="Window">${spans.map((s) => html`<button key=${s} aria-pressed=${s === span} onClick=${() => setSpan(s)}>${seconds(s)}</button>`)}</div></div>
    <div class="gantt">
      <ol class="rows" aria-hidden="true">${rows.map((p) => html`<li key=${p} style=${{ height: high + "px" }}>${f.names[f.tors[f.rackOfPort(p)]]}${f.planeOfPort(p)}</li>`)}</ol>
      <svg viewBox=${`0 0 ${W} ${tall}`} preserveAspectRatio="none" style=${{ height: tall + "px" }} role="img" aria-label=${`${plural(look.circuits.length, "circuit")} now, of ${count(look.moves.length)} in the last ${seconds(span)}`}>
        ${ticks.map((t) => html`<path key=${t} class="grid" d=${`M${x(t)} 0V${tall}`} />`)}
        ${bars(look.moves, row, x).map((b) => html`<path key=${b.key} class=${b.kind} d=${b.d.join("")} style=${{ color: colour(b.job) }} />`)}
      </svg>
      <ol class="ticks" aria-hidden="true">${ticks.map((t) => html`<li key=${t} style=${{ left: x(t) / 10 + "%" }}>${+t.toPrecision(6)} s</li>`)}</ol>
    </div>
    <ul class="legend">${stages.map(([name]) => html`<li key=${name}><svg width="22" height="10" aria-hidden="true"><rect class=${"stage " + name} width="22" height="10" /></svg>${name}</li>`)}<li><svg width="22" height="10" aria-hidden="true"><rect class="light" width="22" height="10" /></svg>in service, in the job's colour</li></ul>
  </section>`;
}

// The hatches of the stages, once in the page.
export const Hatches = () => html`<svg width="0" height="0" class="defs" aria-hidden="true"><defs>
  ${[["commit", 7], ["drain", 5.5], ["rpc", 4], ["settle", 3]].map(([n, w]) => html`<pattern key=${n} id=${"hatch-" + n} width=${w} height=${w} patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width=${w} height=${w} fill="var(--hatchback)" /><rect width=${n === "settle" ? 1.5 : 1.2} height=${w} fill="var(--hatch)" /></pattern>`)}
</defs></svg>`;
