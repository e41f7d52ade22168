// What all parts of the page share: the view library, numbers as people read them, colours.
import { h } from "preact";
import htm from "htm";

// Text that others wrote, as it is safe to show: characters without a picture of their own could turn what is read.
export const shown = (x) => (typeof x === "string" ? x.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`) : x);
export const html = htm.bind((type, props, ...kids) => h(type, props, ...kids.map(shown)));

export const colours = 8;
// Jobs have colours in turn; traffic that nobody announced is grey.
export const colour = (job) => (job < 0 ? "var(--other)" : `var(--job${job % colours})`);

const units = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
const short = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2)).replace(/\.?0+$/, (s) => (s[0] === "." ? "" : s));
export function amount(x, unit) {
  for (const [n, p] of units) if (x >= n) return `${short(x / n)} ${p}${unit}`;
  return `${short(x)} ${unit}`;
}
export const bytes = (x) => amount(x, "B");
export const rate = (kbps) => (kbps < 0 ? "–" : amount(kbps * 1000, "b/s"));
export const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
export const seconds = (s) => (s < 0 ? "–" : s < 10 ? `${s.toFixed(2)} s` : s < 100 ? `${s.toFixed(1)} s` : s < 3600 ? `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`);
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
export const share = (x, of) => (of > 0 ? Math.max(0, Math.min(1, x / of)) : 0);

// The fabric with what follows from it: by node, the links that leave it, and what each cable is for.
export function fabricWith(f) {
  f.out = f.names.map(() => []);
  const c = f.cables;
  for (let i = 0; i < c.from.length; i++) {
    f.out[c.from[i]].push(2 * i);
    f.out[c.to[i]].push(2 * i + 1);
  }
  f.node = new Map(f.names.map((n, i) => [n, i]));
  f.rackOf = new Map(f.tors.map((n, r) => [n, r]));
  f.hostRack = new Map(f.hosts.map((n, i) => [n, f.host_racks[i]]));
  f.far = (l) => (l & 1 ? c.from : c.to)[l >> 1];
  f.near = (l) => (l & 1 ? c.to : c.from)[l >> 1];
  f.port = (l) => (l & 1 ? c.to_port : c.from_port)[l >> 1];
  f.capacity = (l) => c.rate_kbps[l >> 1];
  f.cable = (l) => `${f.names[c.from[l >> 1]]}-${f.names[c.to[l >> 1]]}`;
  f.isOCS = (n) => f.roles[n] === "ocs";
  f.ocses = f.names.map((_, n) => n).filter(f.isOCS);
  f.light = f.tors.map((n) => f.out[n].filter((l) => f.isOCS(f.far(l)))); // by rack, by OCS and wavelength
  f.packet = f.tors.map((n) => f.out[n].filter((l) => !f.isOCS(f.far(l)) && f.roles[f.far(l)] !== "host"));
  f.down = f.tors.map((n) => f.out[n].filter((l) => f.roles[f.far(l)] === "host"));
  f.rackOfPort = (p) => (p < f.racks ? p : p % f.racks);
  // The OCS of a port, where there are several: the fabric numbers the ports of one after those of the other.
  f.ocsOfPort = (p) => (f.ocses.length > 1 ? f.names[f.ocses[Math.floor((p * f.ocses.length) / f.ocs_ports)]] : "");
  // What tells ports of one rack apart: their OCS, and their wavelength if that is not the first.
  f.planeOfPort = (p) => {
    const n = Math.max(1, f.ocses.length), wave = Math.floor(p / f.racks) % Math.max(1, f.ocs_ports / f.racks / n);
    return (n > 1 ? ` ${f.ocsOfPort(p)}` : "") + (wave > 0 ? ` λ${wave}` : "");
  };
  return f;
}

// A link's rate and the part of its capacity; nothing where no rate is known.
export const rateOf = (look, l) => (look.rates.length ? look.rates[l] : -1);

// What passes the fabric in all, in kb/s: from racks into the packet network, and into light.
export function totals(f, look) {
  let packet = 0, light = 0;
  if (look.rates.length) {
    for (let r = 0; r < f.racks; r++) {
      for (const l of f.packet[r]) packet += Math.max(0, look.rates[l]);
      for (const l of f.light[r]) light += Math.max(0, look.rates[l]);
    }
  }
  return { packet, light };
}

export async function ask(what, body) {
  const r = await fetch("/do/" + what, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (r.ok && what === "capture") return r.blob();
  const told = await r.json().catch(() => ({ error: `the controller answered ${r.status}` }));
  if (told.error) throw new Error(told.hint ? `${told.error}. ${told.hint}` : told.error);
  return told.lines || [];
}
