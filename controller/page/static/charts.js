// Traffic over time, and what racks have to send each other against the circuits that they were granted.
import { html, bytes, plural, rate, totals } from "./base.js";
import { useEffect, useMemo, useRef } from "preact/hooks";

// What a colour of the style sheet is in the present theme.
function css(name) {
  const e = document.createElement("i");
  e.style.color = `var(${name})`;
  document.body.append(e);
  const found = getComputedStyle(e).color;
  e.remove();
  return found;
}

// The chart is drawn on a canvas, which needs colours in numbers: it is made again when the theme changes.
export function Traffic({ series, theme, width }) {
  const at = useRef(null), plot = useRef(null), drawn = useRef(0);
  useEffect(() => {
    const ink = css("--muted"), line = css("--line"), font = "12px system-ui, sans-serif";
    const si = (u, vs) => vs.map((v) => (v >= 1e9 ? v / 1e9 + " G" : v >= 1e6 ? v / 1e6 + " M" : v >= 1e3 ? v / 1e3 + " k" : v) + (v ? u : ""));
    const axis = { stroke: ink, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const mark = (label, name, scale, dash) => ({ label, stroke: css(name), width: 2, scale, dash, points: { show: false }, value: (_, v) => (v == null ? "–" : scale === "B" ? bytes(v) : si("b/s", [Math.round(v)])[0]) });
    plot.current = new uPlot({ width: at.current.clientWidth, height: 200, legend: { live: false }, cursor: { drag: { x: false, y: false } }, scales: { x: { time: false }, b: { range: (_, lo, hi) => [0, Math.max(1e5, hi * 1.1)] }, B: { range: (_, lo, hi) => [0, Math.max(1e5, hi * 1.1)] } },
      axes: [{ ...axis, values: (_, vs) => vs.map((v) => v + " s") }, { ...axis, scale: "b", size: 64, values: (_, vs) => si("b/s", vs) }, { ...axis, scale: "B", side: 1, size: 60, grid: { show: false }, values: (_, vs) => si("B", vs) }],
      series: [{}, mark("over packets", "--job0", "b"), mark("over light", "--job1", "b"), mark("announced and not sent", "--muted", "B", [4, 3])] }, series, at.current);
    const seen = new ResizeObserver(() => plot.current.setSize({ width: at.current.clientWidth, height: 200 }));
    seen.observe(at.current);
    return () => (seen.disconnect(), plot.current.destroy());
  }, [theme]);
  useEffect(() => {
    const now = performance.now();
    if (now - drawn.current < 240) return;
    drawn.current = now;
    plot.current.setData(series);
  }, [series]);
  return html`<section class="card" aria-labelledby="traffic"><div class="cardhead"><h2 id="traffic">Traffic between racks</h2></div><div class="plot" ref=${at}></div></section>`;
}

const cells = 64, levels = 5;

export function Matrix({ f, look }) {
  const d = look.demand, per = Math.ceil(f.racks / cells), n = Math.ceil(f.racks / per);
  const { fill, rings } = useMemo(() => {
    const sum = new Map(), most = { v: 1 }, granted = new Map();
    d.from.forEach((from, i) => {
      const key = Math.floor(from / per) * n + Math.floor(d.to[i] / per), v = (sum.get(key) || 0) + d.bytes[i];
      sum.set(key, v);
      most.v = Math.max(most.v, v);
      granted.set(key, Math.max(granted.get(key) || 0, d.granted[i]));
    });
    const fill = Array.from({ length: levels }, () => ""), rings = ["", "", "", ""];
    for (const [key, v] of sum) {
      const y = Math.floor(key / n), x = key % n, g = granted.get(key);
      if (v > 0) fill[Math.min(levels - 1, Math.floor((Math.log1p((v / most.v) * 99) / Math.log(100)) * levels))] += `M${x} ${y}h1v1h-1z`;
      if (g) rings[g] += `M${x + 0.08} ${y + 0.08}h.84v.84h-.84z`;
    }
    return { fill, rings };
  }, [d]);
  const now = totals(f, look), passes = now.packet + now.light;
  const part = d.total > 0 ? Math.round((100 * d.on_light) / d.total) : 0;
  return html`<section class="card" aria-labelledby="matrix"><div class="cardhead"><h2 id="matrix">Demand against granted</h2></div>
    <div class="matrixrow"><svg class="matrix" viewBox=${`-0.05 -0.05 ${n + 0.1} ${n + 0.1}`} role="img" aria-label=${`${bytes(d.total)} to send between ${plural(d.pairs, "pair")} of racks, ${part} % of it where a circuit is lit`}>
      <rect class="back" width=${n} height=${n} />
      ${fill.map((p, i) => html`<path key=${"d" + i} class=${"want want" + i} d=${p} />`)}
      ${rings.map((p, i) => i > 0 && html`<path key=${"g" + i} class=${"grant grant" + i} d=${p} style=${{ strokeWidth: Math.min(0.14, n / 120) }} />`)}
    </svg>
    <div><p class="figure">${bytes(d.total)}</p><p class="quiet">announced by jobs and still to send between racks${d.total > 0 ? `, ${part} % of it where light is` : ""}</p>
      ${d.total === 0 && passes >= 100 && html`<p class="quiet">${rate(passes)} pass that no job has announced: they are not counted here.</p>`}
      <ul class="legend column"><li><svg width="12" height="12" aria-hidden="true"><rect class="want want4" width="12" height="12" /></svg>much to send</li>
      ${f.ocs >= 0 && html`<li><svg width="12" height="12" aria-hidden="true"><rect class="grant grant3" x="1" y="1" width="10" height="10" style="stroke-width:2" /></svg>circuit lit</li><li><svg width="12" height="12" aria-hidden="true"><rect class="grant grant2" x="1" y="1" width="10" height="10" style="stroke-width:2" /></svg>being made</li><li><svg width="12" height="12" aria-hidden="true"><rect class="grant grant1" x="1" y="1" width="10" height="10" style="stroke-width:2" /></svg>reserved</li>`}</ul>
      <p class="quiet">Rows send, columns receive${per > 1 ? `; a cell is ${per} × ${per} racks` : ""}.${d.pairs > d.from.length ? ` ${plural(d.pairs - d.from.length, "pair")} with the least are left out.` : ""}</p></div></div>
  </section>`;
}
