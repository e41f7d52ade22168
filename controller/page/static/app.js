// The page: it keeps what the controller has told, and shows the latest of it, or an earlier instant.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html, ask, amount, fabricWith, seconds, plural, totals } from "./base.js";
import { Ring, Legend } from "./ring.js";
import { Gantt, Hatches } from "./gantt.js";
import { Matrix, Traffic } from "./charts.js";
import { Inspector, Jobs, Replicas, Switches, finder, jobName } from "./panels.js";

const most = 3000; // frames that are kept: then the older half is thinned
const state = { f: null, look: null, frames: [], back: null, connected: false, told: [], selected: null, row: 0, playing: 0, theme: localStorage.getItem("theme") || "" };
let draw = () => {};

// A frame shares the parts that have not changed with the one before.
function keep(look) {
  const { frames, f } = state, t = totals(f, look);
  frames.push({ look, at: look.head.now, ...t, left: look.demand.total });
  if (frames.length > most) {
    const half = most / 2, thinned = frames.splice(0, half).filter((_, i) => i % 2 === 0);
    frames.unshift(...thinned);
    if (state.back !== null) state.back = Math.max(0, state.back < half ? state.back >> 1 : state.back - half + thinned.length);
  }
}

let from = null;
function follow() {
  if (from) from.close();
  from = new EventSource("/looks");
  from.onopen = () => ((state.connected = true), soon());
  from.onerror = () => ((state.connected = false), soon());
  from.onmessage = (m) => {
    state.connected = true;
    state.look = { ...state.look, ...JSON.parse(m.data) };
    if (state.look.head) keep(state.look);
    soon();
  };
}

// A run that is over comes whole: what has changed from instant to instant.
async function recall(row) {
  pause();
  const deltas = await (await fetch("/frames/" + row)).json();
  Object.assign(state, { row, look: null, frames: [], back: 0, connected: true });
  for (const d of deltas) keep((state.look = { ...state.look, ...d }));
  soon();
}

function pause() {
  clearInterval(state.playing);
  state.playing = 0;
}

function play() {
  if (state.back === null || state.back >= state.frames.length - 1) state.back = 0;
  state.playing = setInterval(() => (state.back++, state.back >= state.frames.length - 1 && pause(), soon()), 100);
  soon();
}

// At most one drawing for each frame of the screen, and none while the page is hidden.
let due = false;
function soon() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => ((due = false), draw()));
}

async function act(what, body) {
  const name = body.name || body.port || (body.job !== undefined ? `job ${body.job}` : "");
  const note = (text, bad) => ((state.told = [{ text, bad, id: Math.random() }, ...state.told].slice(0, 5)), soon());
  try {
    if (what === "capture") note(`capturing at ${name} for ${body.seconds} s …`);
    const got = await ask(what, body);
    if (got instanceof Blob) {
      const a = document.createElement("a");
      a.href = URL.createObjectURL(got);
      a.download = name.replace(":", "-") + ".pcapng";
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 60000);
      note(`captured ${amount(got.size, "B")} at ${name}: ${a.download}`);
    } else note(got.join("; ") || "done");
  } catch (e) {
    note(e.message, true);
  }
}

function verdict({ f, look, connected }) {
  if (f.recorded) return ["good", `a run that is over: ${f.recorded}`];
  if (!connected) return ["bad", "the controller does not answer: what is shown is what was seen last"];
  if (look.trouble) return ["bad", look.trouble];
  if (!look.head.leader) return ["bad", "no leader: jobs and reservations wait"];
  if (look.failed.length) return ["warn", `${plural(look.failed.length, "part")} failed`];
  if (look.doubts.length) return ["warn", `${plural(look.doubts.length, "doubt")}`];
  return ["good", "all is well"];
}

function Scrubber() {
  const { frames, back } = state, n = frames.length, at = back === null ? n - 1 : back;
  const over = state.f.recorded, go = (i) => (pause(), (state.back = !over && i >= n - 1 ? null : Math.max(0, Math.min(n - 1, i))), soon());
  if (over) return html`<div class="scrubber"><label for="time">Time</label>
    <input id="time" type="range" min="0" max=${Math.max(1, n - 1)} value=${at} onInput=${(e) => go(+e.target.value)} aria-valuetext=${seconds(frames[at].at)} />
    <output for="time">${seconds(frames[at].at)}</output>
    <button onClick=${() => (state.playing ? (pause(), soon()) : play())}>${state.playing ? "Pause" : "Play"}</button></div>`;
  return html`<div class="scrubber"><label for="time">Time</label>
    <input id="time" type="range" min="0" max=${Math.max(1, n - 1)} value=${at} onInput=${(e) => go(+e.target.value)} aria-valuetext=${back === null ? "now" : seconds(frames[at].at)} />
    <output for="time">${back === null ? "now" : `${seconds(frames[n - 1].at - frames[at].at)} ago`}</output>
    <button onClick=${() => go(n)} disabled=${back === null}>Go live</button></div>`;
}

function Page() {
  const [, again] = useState(0);
  useEffect(() => ((draw = () => again((x) => x + 1)), () => (draw = () => {})), []);
  const { f, frames, back, selected } = state;
  if (!state.look || !state.look.head) return html`<header class="top"><h1>Lightloom</h1><p class="quiet">${(state.look && state.look.trouble) || "reading the fabric …"}</p></header>`;
  const over = f.recorded, look = back === null ? state.look : frames[back].look, live = back === null || over;
  const [mood, word] = verdict(state), can = new Set(live ? f.can : []);
  const select = (s) => ((state.selected = typeof s === "function" ? s(state.selected) : s), soon());
  const from = Math.max(0, frames.findIndex((x) => x.at >= frames[frames.length - 1].at - 120)), part = over ? frames : frames.slice(from);
  const values = (of) => part.map((x, i) => (over && i > back ? null : of(x))); // of a run that is over, up to the instant
  const series = [part.map((x) => x.at), values((x) => x.packet * 1000), values((x) => (over ? null : x.light * 1000)), values((x) => x.left)];
  const theme = (t) => {
    state.theme = t;
    t ? localStorage.setItem("theme", t) : localStorage.removeItem("theme");
    document.documentElement.dataset.theme = t;
    soon();
  };
  const dark = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const now = totals(f, look);
  return html`<${Hatches} />
    <header class="top"><h1><svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><path d="M4 8c9 0 15 16 24 16" /><path d="M4 24c9 0 15-16 24-16" /></svg>Lightloom</h1>
      <p class=${"verdict " + mood} role="status"><i></i>${word}</p>
      <dl class="heads">${!over && html`<div><dt>leader</dt><dd>${look.head.leader || "none"}</dd></div>`}<div><dt>jobs</dt><dd>${look.head.jobs - look.head.jobs_ended} open</dd></div>
        ${f.ocs >= 0 && html`<div><dt>circuits</dt><dd>${look.circuits.filter((c) => c.lit).length} lit</dd></div>`}<div><dt>packets</dt><dd>${amount(now.packet * 1000, "b/s")}</dd></div>${f.ocs >= 0 && !over && html`<div><dt>light</dt><dd>${amount(now.light * 1000, "b/s")}</dd></div>`}<div><dt>${over ? "instant" : "up"}</dt><dd>${seconds(over ? look.head.now : Math.floor(look.head.now))}</dd></div></dl>
      <form class="find" role="search" onSubmit=${(e) => (e.preventDefault(), select(finder(f, look, e.target.elements.find.value.trim()) || selected))}><input id="find" name="find" list="names" placeholder="Find by name" aria-label="Find a rack, switch, host or job" autocomplete="off" onChange=${(e) => select(finder(f, look, e.target.value.trim()) || selected)} />
        <datalist id="names">${f.names.slice(0, 600).map((n) => html`<option key=${n} value=${n} />`)}${look.jobs.map((j) => html`<option key=${"j" + j.id} value=${jobName(j)} />`)}</datalist></form>
      <button onClick=${() => theme(dark ? "light" : "dark")}>${dark ? "Light" : "Dark"} theme</button>
      <p class="spec"><code>${f.spec}</code> under ${over ? html`<select aria-label="Policy" onChange=${(e) => recall(+e.target.value)}>${f.rows.map((r, i) => html`<option key=${i} value=${i} selected=${i === state.row}>${r}</option>`)}</select>` : html`<code>${f.policy}</code>`}${f.testbed ? `, ${f.testbed}` : ""}${f.note ? `. ${f.note}` : ""}</p></header>
    <main>${!live && html`<p class="past" role="status">You see the past: ${seconds(look.head.now)} of the run. Nothing can be changed there.</p>`}
      <section class="card fabric" aria-labelledby="fabric"><div class="cardhead"><h2 id="fabric">Fabric</h2><p class="quiet">${plural(f.racks, "rack")}, ${plural(f.hosts.length, "host")}</p></div><${Ring} ...${{ f, look, selected, select }} /><${Legend} ...${{ f, look }} /><${Scrubber} /></section>
      <div class="side"><${Inspector} ...${{ f, look, selected, select, act, can }} /><${Jobs} ...${{ look, selected, select, over }} /></div>
      ${f.ocs >= 0 && html`<${Gantt} ...${{ f, look, selected, select }} />`}
      <${Traffic} series=${series} theme=${dark} />${!over && html`<${Matrix} ...${{ f, look }} /><${Switches} ...${{ f, look, select }} /><${Replicas} ...${{ look, act, can }} />`}</main>
    <div class="told" role="log" aria-live="polite" aria-label="What was done">${state.told.map((t) => html`<p key=${t.id} class=${t.bad ? "bad" : ""}>${t.text} <button class="link" aria-label="Dismiss" onClick=${() => ((state.told = state.told.filter((x) => x !== t)), soon())}>×</button></p>`)}</div>`;
}

document.documentElement.dataset.theme = state.theme;
const f = await (await fetch("/fabric.json")).json();
f.can = f.can || [];
state.f = fabricWith(f);
document.getElementById("page").textContent = "";
render(html`<${Page} />`, document.getElementById("page"));
f.recorded ? recall(0) : follow();
// A page that the browser puts to sleep lets go, and is told what is so when it wakes.
document.addEventListener("freeze", () => from && from.close());
document.addEventListener("resume", () => from && follow());

