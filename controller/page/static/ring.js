// The fabric as a ring of racks around the optical switch. What changes ten times a second is a few paths, each of many
// racks or circuits: a thousand racks cost little more than eight.
import { html, colour, rate, rateOf, share, plural } from "./base.js";
import { useMemo } from "preact/hooks";

const C = 320, INNER = 214, RACK = 232, GAUGE = 240, OUTER = 286, NAME = 300, SPINE = 126;
const levels = 5; // of how busy a link is
const fine = 128; // racks, and circuits, that are drawn one by one
const mostWires = 512; // of the packet network, that are drawn; those that have failed always are

// Of more circuits than that an even part is drawn, and all that are chosen: curves that cross are dear to paint.
const strideOf = (look) => Math.ceil(look.circuits.length / fine);

function geometry(f) {
  const n = f.racks, at = [];
  for (let r = 0; r < n; r++) {
    const a = (2 * Math.PI * (r + 0.5)) / n - Math.PI / 2;
    at.push({ a, x: Math.cos(a), y: Math.sin(a) });
  }
  const arc = (2 * Math.PI) / n;
  const point = (a, d) => `${(C + d * Math.cos(a)).toFixed(1)} ${(C + d * Math.sin(a)).toFixed(1)}`;
  const sector = (r) => {
    const gap = Math.min(0.04, arc * 0.12), a = at[r].a - arc / 2 + gap, b = at[r].a + arc / 2 - gap, big = b - a > Math.PI ? 1 : 0;
    return `M${point(a, INNER)}A${INNER} ${INNER} 0 ${big} 1 ${point(b, INNER)}L${point(b, RACK)}A${RACK} ${RACK} 0 ${big} 0 ${point(a, RACK)}Z`;
  };
  // Bars that would be thinner than a pixel stand for some racks each: the busiest of them.
  const bins = Math.min(n, fine), bars = { arc: (2 * Math.PI) / bins, a: Array.from({ length: bins }, (_, b) => (2 * Math.PI * (b + 0.5)) / bins - Math.PI / 2) };
  const tracks = bars.a.map((_, b) => gauge(bars, b, 0, 1) + gauge(bars, b, 1, 1)).join("");
  const circle = (d) => `M${point(0, d)}A${d} ${d} 0 1 1 ${point(Math.PI, d)}A${d} ${d} 0 1 1 ${point(0, d)}Z`;
  const names = labels(f), wide = names.turned ? 0 : Math.max(0, ...names.all.map((s) => s.length)) * LETTER;
  const half = NAME + 18 + (names.turned ? 2.4 * LETTER : 0), view = { x: C - half - wide, y: C - half, w: 2 * (half + wide), h: 2 * half };
  return { at, arc, point, names, view, spines: spines(f, point), sector, bins, bars, sectors: n > fine ? circle(INNER) + circle(RACK) : at.map((_, r) => sector(r)).join(""), tracks };
}

// Names of racks stand around the ring: as the switches are called, or by number, along the radius, where there are
// more. LETTER is the room for one at the size that a small screen takes.
const LETTER = 11;

function labels(f) {
  const turned = f.racks > 20, all = f.tors.map((n, r) => (turned || f.names[n].length > 12 ? String(r) : f.names[n]));
  return { turned, all: f.racks > 64 ? [] : all };
}

// Packet switches that are no ToR stand on a ring of their own, in the order of the fabric.
function spines(f, point) {
  const all = f.names.map((_, n) => n).filter((n) => !f.isOCS(n) && f.roles[n] !== "host" && !f.rackOf.has(n));
  return new Map(all.map((n, i) => [n, point((2 * Math.PI * (i + 0.5)) / all.length - Math.PI / 2, SPINE)]));
}

// Cables of the packet network between racks and spines, and those of all kinds that have failed.
function wires(f, g, look) {
  const failed = new Set(look.failed.filter((x) => x.kind === "link").map((x) => x.name)), whole = [], broken = [];
  const end = (n) => (f.isOCS(n) ? `${C} ${C}` : f.rackOf.has(n) ? g.point(g.at[f.rackOf.get(n)].a, INNER) : g.spines.get(n));
  for (let l = 0; l < 2 * f.cables.from.length; l += 2) {
    const a = end(f.near(l)), b = end(f.far(l)), cut = failed.has(f.cable(l));
    if (a && b && cut) broken.push(`M${a}L${b}`);
    else if (a && b && !f.isOCS(f.near(l)) && !f.isOCS(f.far(l))) whole.push(`M${a}L${b}`);
  }
  return { whole: whole.length <= mostWires ? whole.join("") : "", broken: broken.join("") };
}

// gauge is a bar outwards from a rack: side 0 is what it sends, 1 what it is sent.
function gauge(bars, b, side, part) {
  const a = bars.a[b] + (side ? 1 : -1) * Math.min(0.045, bars.arc / 5), d = GAUGE + (OUTER - GAUGE) * part, x = Math.cos(a), y = Math.sin(a);
  return `M${(C + GAUGE * x).toFixed(1)} ${(C + GAUGE * y).toFixed(1)}L${(C + d * x).toFixed(1)} ${(C + d * y).toFixed(1)}`;
}

function chord(g, from, to) {
  const off = Math.min(0.07, g.arc / 5), a = g.at[from].a + off, b = g.at[to].a - off;
  return `M${g.point(a, INNER - 5)}Q${C} ${C} ${g.point(b, INNER - 5)}`;
}

function head(g, to) {
  const off = Math.min(0.07, g.arc / 5), a = g.at[to].a - off, w = 0.022;
  return `M${g.point(a, INNER - 2)}L${g.point(a - w, INNER - 14)}L${g.point(a + w, INNER - 14)}Z`;
}

// What racks send and are sent over packets, as bars, by how busy they are.
function gauges(f, g, look) {
  const out = Array.from({ length: levels }, () => []), most = [new Float64Array(g.bins), new Float64Array(g.bins)];
  if (!look.rates.length) return out;
  for (let r = 0; r < f.racks; r++) {
    let cap = 0, up = 0, down = 0;
    for (const l of f.packet[r]) {
      cap += f.capacity(l);
      up += Math.max(0, look.rates[l]);
      down += Math.max(0, look.rates[l ^ 1]);
    }
    const b = Math.floor((r * g.bins) / f.racks);
    most[0][b] = Math.max(most[0][b], share(up, cap));
    most[1][b] = Math.max(most[1][b], share(down, cap));
  }
  most.forEach((all, side) => all.forEach((s, b) => s > 0.004 && out[Math.min(levels - 1, Math.floor(s * levels))].push(gauge(g.bars, b, side, Math.max(0.04, s)))));
  return out;
}

// Circuits by colour, whether they are lit, and how much passes them.
function bundles(f, g, look, chosen) {
  const by = new Map(), stride = strideOf(look);
  for (const c of look.circuits) {
    const from = f.rackOfPort(c.in), to = f.rackOfPort(c.out);
    if (c.in % stride && !(chosen && chosen(c, from, to))) continue;
    const l = f.light[from][Math.floor(c.in / f.racks)];
    const busy = l === undefined ? 0 : share(rateOf(look, l), f.capacity(l));
    const faint = chosen && !chosen(c, from, to), width = busy > 0.5 ? 2 : busy > 0.02 ? 1 : 0;
    const key = `${c.job < 0 ? -1 : c.job % 8} ${c.lit} ${width} ${faint}`;
    let b = by.get(key);
    if (!b) by.set(key, (b = { key, job: c.job, lit: c.lit, width, faint, d: [], heads: [] }));
    b.d.push(chord(g, from, to));
    if (f.racks <= 64) b.heads.push(head(g, to));
  }
  return [...by.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

// The circuits of a job: made for it, or, where nobody announces traffic, between its racks.
function ofJob(f, look, id) {
  const j = look.jobs.find((j) => j.id === id), racks = new Set(j ? j.hosts.map((h) => f.host_racks[h]) : []);
  return (c, from, to) => c.job === id || (c.job < 0 && racks.has(from) && racks.has(to));
}

// The host dots of a small fabric, in the colour of a job that runs there.
function dots(f, g, look) {
  const job = new Map();
  for (const j of look.jobs) if (j.state === "running") for (const x of j.hosts) job.set(x, j.id);
  return f.hosts.map((n, i) => {
    const r = f.host_racks[i], all = f.down[r].length, k = f.down[r].findIndex((l) => f.far(l) === n);
    const a = g.at[r].a + (all > 1 ? ((k / (all - 1)) * 2 - 1) * Math.min(g.arc * 0.36, 0.035 * all) : 0);
    return { i, x: C + ((INNER + RACK) / 2) * Math.cos(a), y: C + ((INNER + RACK) / 2) * Math.sin(a), job: job.get(i) };
  });
}

export function Ring({ f, look, selected, select }) {
  const g = useMemo(() => geometry(f), [f]);
  const rack = selected && selected.kind === "rack" ? selected.id : -1;
  const chosen = rack >= 0 ? (c, from, to) => from === rack || to === rack : selected && selected.kind === "job" ? ofJob(f, look, selected.id) : null;
  const bars = gauges(f, g, look), all = bundles(f, g, look, chosen);
  const net = useMemo(() => wires(f, g, look), [f, g, look.failed]), hurt = new Set(look.failed.map((x) => f.node.get(x.name)));
  const failed = look.failed.map((x) => (x.kind === "switch" ? f.rackOf.get(f.node.get(x.name)) : undefined)).filter((r) => r !== undefined);
  const thin = Math.max(1, Math.min(9, RACK * g.bars.arc * 0.3)), lit = look.circuits.filter((c) => c.lit).length;
  const pick = (e) => {
    const box = e.currentTarget.getBoundingClientRect(), x = ((e.clientX - box.left) / box.width) * g.view.w + g.view.x - C, y = ((e.clientY - box.top) / box.height) * g.view.h + g.view.y - C, d = Math.hypot(x, y);
    if (d < 52 && f.ocs >= 0) return select({ kind: "switch", id: f.ocs });
    for (const [n, at] of g.spines) {
      const [sx, sy] = at.split(" ");
      if (Math.hypot(x + C - sx, y + C - sy) < 12) return select({ kind: "switch", id: n });
    }
    if (d < INNER - 30 || d > 318) return select(null);
    let a = Math.atan2(y, x) + Math.PI / 2;
    if (a < 0) a += 2 * Math.PI;
    select({ kind: "rack", id: Math.min(f.racks - 1, Math.floor(a / g.arc)) });
  };
  const key = (e) => {
    const big = Math.max(1, Math.round(f.racks / 16)), step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: big, PageUp: -big }[e.key];
    const end = { Home: 0, End: f.racks - 1 }[e.key];
    if (e.key === "Escape") return select(null);
    if (!step && end === undefined) return;
    e.preventDefault();
    // Keys can come faster than drawings: what is chosen now counts.
    select((old) => {
      const at = old && old.kind === "rack" ? old.id : step > 0 ? -1 : 0;
      return { kind: "rack", id: step ? (at + step + f.racks) % f.racks : end };
    });
  };
  const says = rack < 0 ? "none chosen: arrow keys choose one" : `${f.names[f.tors[rack]]}, ${plural(look.circuits.filter((c) => f.rackOfPort(c.in) === rack || f.rackOfPort(c.out) === rack).length, "circuit")}`;
  return html`<div class="ring">
    <svg viewBox=${`${g.view.x} ${g.view.y} ${g.view.w} ${g.view.h}`} onClick=${pick} aria-hidden="true">
      <path class="track" d=${g.tracks} style=${{ strokeWidth: thin }} />
      ${bars.map((d, i) => html`<path key=${"g" + i} class=${"busy busy" + i} d=${d.join("")} style=${{ strokeWidth: thin }} />`)}
      <path class="racks" d=${g.sectors} />
      ${failed.map((r) => html`<path key=${"f" + r} class="broken" d=${g.sector(r)} />`)}
      ${rack >= 0 && html`<path class="chosen" d=${g.sector(rack)} />`}
      <path class="wires" d=${net.whole} />
      ${all.map((b) => html`<g key=${b.key} class=${b.faint ? "faint" : ""} style=${{ color: colour(b.job) }}>
        <path class=${`circuit ${b.lit ? "lit" : "dark"} w${b.width}`} d=${b.d.join("")} style=${f.racks > 128 ? { strokeWidth: 0.8 } : null} />
        ${b.heads.length > 0 && html`<path class=${b.lit ? "head" : "head dark"} d=${b.heads.join("")} />`}
      </g>`)}
      <path class="wires broken" d=${net.broken} />
      ${[...g.spines].map(([n, at]) => html`<path key=${"s" + n} class=${`spine${hurt.has(n) ? " broken" : ""}${selected && selected.kind === "switch" && selected.id === n ? " on" : ""}`} d=${`M${at}m-${g.spines.size > 32 ? 3 : 7} 0l${g.spines.size > 32 ? "3 -3 3 3 -3 3" : "7 -7 7 7 -7 7"}z`} />`)}
      ${f.hosts.length <= 128 && dots(f, g, look).map((o) => html`<circle key=${"h" + o.i} cx=${o.x} cy=${o.y} r=${f.hosts.length > 48 ? 2.5 : 4} class="host" style=${o.job === undefined ? null : { fill: colour(o.job) }} />`)}
      ${g.names.all.length > 0 && g.at.map((p, r) => html`<text key=${"n" + r} class=${r === rack ? "name on" : "name"} x=${C + NAME * p.x} y=${C + NAME * p.y + 4} text-anchor=${Math.abs(p.x) < 0.2 ? "middle" : p.x > 0 ? "start" : "end"}
        transform=${g.names.turned ? `rotate(${((p.x < 0 ? p.a + Math.PI : p.a) * 180) / Math.PI} ${C + NAME * p.x} ${C + NAME * p.y})` : null}>${g.names.all[r]}</text>`)}
      ${f.ocs >= 0 && html`<g class=${selected && selected.kind === "switch" && selected.id === f.ocs ? "ocs on" : "ocs"}>
        <circle cx=${C} cy=${C} r="46" /><text x=${C} y=${C - 4} text-anchor="middle">${f.ocses.length > 1 ? `${f.ocses.length} OCSes` : f.names[f.ocs]}</text>
        <text class="small" x=${C} y=${C + 14} text-anchor="middle">${lit} lit</text></g>`}
    </svg>
    <div class="keys" role="slider" tabindex="0" aria-label="Rack" aria-valuemin="0" aria-valuemax=${f.racks - 1} aria-valuenow=${Math.max(0, rack)} aria-valuetext=${says} onKeyDown=${key}></div>
  </div>`;
}

export function Legend({ f, look }) {
  const jobs = look.jobs.filter((j) => j.state === "running"), other = look.circuits.some((c) => c.job < 0);
  return html`<ul class="legend" aria-label="Legend">
    ${f.ocs >= 0 && html`<li><svg width="30" height="10" aria-hidden="true"><path class="circuit lit w1" d="M1 5H29" /></svg>lit circuit${strideOf(look) > 1 ? `; one of ${strideOf(look)} is drawn, and all that are chosen` : ""}</li>
    <li><svg width="30" height="10" aria-hidden="true"><path class="circuit dark w1" d="M1 5H29" /></svg>being made, dark</li>`}
    ${look.failed.length > 0 && html`<li><svg width="30" height="10" aria-hidden="true"><path class="wires broken" d="M1 5H29" /></svg>failed</li>`}
    ${jobs.slice(0, 6).map((j) => html`<li key=${j.id}><i style=${{ background: colour(j.id) }}></i>${j.name || "job " + j.id}</li>`)}
    ${jobs.length > 6 && html`<li class="quiet">and ${jobs.length - 6} jobs more</li>`}
    ${other && html`<li><i style=${{ background: colour(-1) }}></i>unannounced traffic</li>`}
    ${f.names.length - f.hosts.length - f.racks - f.ocses.length > 0 && html`<li><svg width="14" height="14" aria-hidden="true"><path class="spine" d="M0 7l7 -7 7 7 -7 7z" /></svg>packet switch</li>`}
    <li><svg width="26" height="10" aria-hidden="true"><path class="busy busy1" d="M1 5H14" style="stroke-width:6" /><path class="track" d="M14 5H25" style="stroke-width:6" /></svg>packets out, in${!look.rates.length ? ": not counted here" : f.racks > fine ? `: of each ${Math.ceil(f.racks / fine)} racks the busiest` : ""}</li>
  </ul>`;
}
