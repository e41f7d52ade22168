// Jobs, switches, replicas, and what is chosen, with what can be done about it.
import { html, ask, bytes, colour, count, plural, rate, rateOf, seconds, share } from "./base.js";
import { useEffect, useState } from "preact/hooks";

const Bar = ({ part, label }) => html`<span class="bar" role="img" aria-label=${label}><i style=${{ width: (100 * part).toFixed(1) + "%" }}></i></span>`;
export const jobName = (j) => j.name || "job " + j.id;

export function Jobs({ look, selected, select, over }) {
  const open = look.jobs.filter((j) => j.ended < 0), shown = look.jobs.slice().sort((a, b) => (a.ended < 0 ? 0 : 1) - (b.ended < 0 ? 0 : 1) || b.id - a.id).slice(0, 40);
  const left = look.head.jobs - shown.length;
  return html`<section class="card" aria-labelledby="jobs"><div class="cardhead"><h2 id="jobs">Jobs</h2><p class="quiet">${plural(open.length, "open job")}, ${count(look.head.jobs_ended)} ended</p></div>
    ${shown.length === 0 ? html`<p class="empty">${over ? "No job has arrived by this instant of the run." : html`No jobs yet. <code>lightloom submit FILE</code> submits some.`}</p>` : html`<div class="scroll" tabindex="0" role="region" aria-label="List of jobs"><table><thead><tr><th scope="col">job</th><th scope="col">state</th><th scope="col" class="num">sent</th><th scope="col" class="num">time</th></tr></thead>
    <tbody>${shown.map((j) => html`<tr key=${j.id} class=${selected && selected.kind === "job" && selected.id === j.id ? "on" : ""}>
      <td><button class="link" onClick=${() => select({ kind: "job", id: j.id })}><i class="dot" style=${{ background: colour(j.id) }}></i>${jobName(j)}</button></td>
      <td class=${j.why ? "warn" : ""}>${j.why || (j.phase ? "phase " + j.phase : j.state)}</td>
      <td class="num">${j.bytes > 0 ? html`<${Bar} part=${j.ended >= 0 ? 1 : share(j.bytes - j.left, j.bytes)} label=${`${bytes(j.bytes)}, ${bytes(j.left)} left`} />` : ""}<span class="after">${j.bytes > 0 && j.ended < 0 ? `${bytes(j.bytes - j.left)} of ` : ""}${bytes(j.bytes)}</span></td>
      <td class="num">${seconds((j.ended < 0 ? look.head.now : j.ended) - j.arrived)}</td></tr>`)}</tbody></table></div>`}
    ${left > 0 && html`<p class="quiet">${plural(left, "job")} that ended before are not listed here: <code>lightloom jobs</code>.</p>`}
  </section>`;
}

const held = (h) => (!h ? "–" : [h.rules >= 0 && plural(h.rules, "rule"), h.circuits > 0 && plural(h.circuits, "circuit")].filter(Boolean).join(", ") || "nothing");

export function Switches({ f, look, select }) {
  const [all, setAll] = useState(false);
  const doubtful = new Set(look.doubts.map((d) => d.about)), sorted = look.switches.slice().sort((a, b) => (doubtful.has(b.name) ? 1 : 0) - (doubtful.has(a.name) ? 1 : 0) || (b.kind === "ocs" ? 1 : 0) - (a.kind === "ocs" ? 1 : 0));
  const shown = all ? sorted.slice(0, 400) : sorted.slice(0, 12);
  return html`<section class="card" aria-labelledby="switches"><div class="cardhead"><h2 id="switches">Switches</h2><p class="quiet">${plural(look.switches.length, "switch", "switches")}</p></div>
    <div class="scroll" tabindex="0" role="region" aria-label="List of switches"><table><thead><tr><th scope="col">switch</th><th scope="col">desired</th><th scope="col">accepted</th><th scope="col">seen</th><th scope="col">leader</th></tr></thead>
    <tbody>${shown.map((s) => html`<tr key=${s.name}><td><button class="link" onClick=${() => select(nodeSelection(f, f.node.get(s.name)))}>${s.name}</button></td><td>${held(s.desired)}</td><td>${held(s.accepted)}</td>
      <td>${held(s.seen)}${s.dark && s.dark.length ? html`<span class="quiet">, ${plural(s.dark.length, "port")} dark</span>` : ""}${s.down && s.down.length ? html`<span class="warn">, ${plural(s.down.length, "port")} failed</span>` : ""}</td><td class=${s.claim === "unclaimed" ? "warn" : ""}>${s.claim || "–"}</td></tr>`)}</tbody></table></div>
    ${sorted.length > shown.length && html`<p class="quiet">${shown.length} of ${count(sorted.length)}; those in doubt come first. <button class="link" onClick=${() => setAll(true)}>Show ${sorted.length > 400 ? "400" : "all"}</button></p>`}
  </section>`;
}

export function Replicas({ look, act, can }) {
  return html`<section class="card" aria-labelledby="replicas"><div class="cardhead"><h2 id="replicas">Replicas and doubts</h2><p class="quiet">term ${count(look.head.term)}, ${plural(look.head.leader_changes, "change")} of leader</p></div>
    <table><thead><tr><th scope="col">replica</th><th scope="col" class="num">entry</th><th scope="col">state</th><th scope="col" class="num">restarts</th>${can.has("break") && html`<th scope="col"><span class="hidden">action</span></th>`}</tr></thead>
    <tbody>${look.replicas.map((r) => {
      const down = look.failed.some((x) => x.kind === "controller" && x.name === r.id);
      return html`<tr key=${r.id}><td>${r.id}${r.id === look.head.leader ? html` <b class="tag">leads</b>` : ""}</td><td class="num">${r.error ? "–" : count(r.index)}</td><td class=${r.error ? "warn" : "mono"}>${r.error ? "no answer" : r.digest}</td><td class="num">${r.restarts}</td>
      ${can.has("break") && html`<td class="num"><button onClick=${() => act("break", { kind: "controller", name: r.id, heal: down })}>${down ? "Heal" : "Fail"}<span class="hidden"> ${r.id}</span></button></td>`}</tr>`;
    })}</tbody></table>
    ${look.doubts.length === 0 ? html`<p class="fine">Nothing is in doubt: the replicas agree, and the leader has claimed every switch.</p>` : html`<ul class="doubts">${look.doubts.slice(0, 12).map((d) => html`<li><b>${d.about}</b> ${d.text}</li>`)}${look.doubts.length > 12 && html`<li>and ${look.doubts.length - 12} more</li>`}</ul>`}
    ${look.failed.length > 0 && html`<div class="failed"><b>Failed:</b> ${look.failed.map((x) => `${x.kind} ${x.name}`).join(", ")} ${can.has("heal-all") && html`<button onClick=${() => act("heal-all", {})}>Heal all</button>`}</div>`}
  </section>`;
}

export function nodeSelection(f, n) {
  const r = f.rackOf.get(n);
  if (r !== undefined) return { kind: "rack", id: r };
  return f.hostRack.has(n) ? { kind: "rack", id: f.hostRack.get(n) } : { kind: "switch", id: n };
}

// Everything that can be found by name.
export function finder(f, look, text) {
  const n = f.node.get(text);
  if (n !== undefined) return nodeSelection(f, n);
  const j = look.jobs.find((j) => jobName(j) === text);
  return j ? { kind: "job", id: j.id } : null;
}

function Cable({ f, look, l, act, can }) {
  const out = rateOf(look, l), back = rateOf(look, l ^ 1), cap = f.capacity(l), name = f.cable(l), port = `${f.names[f.near(l)]}:${f.port(l)}`;
  const down = look.failed.some((x) => x.kind === "link" && x.name === name), part = { kind: "link", name };
  return html`<tr class=${down ? "broken" : ""}><th scope="row"><span class="quiet">${f.port(l)}</span> ${f.names[f.far(l)]}${down ? html` <b class="tag bad">failed</b>` : ""}</th>
    <td class="num"><${Bar} part=${share(out, cap)} label=${"out " + rate(out)} /><span class="after">${rate(out)}</span></td>
    <td class="num"><${Bar} part=${share(back, cap)} label=${"in " + rate(back)} /><span class="after">${rate(back)}</span></td>
    <td class="acts">${can.has("try") && !down && html`<button title="Dry run: what would a failure do?" onClick=${() => act("try", part)}>Try<span class="hidden"> a failure of ${name}</span></button>`}${can.has("break") && html`<button onClick=${() => act("break", { ...part, heal: down })}>${down ? "Heal" : "Fail"}<span class="hidden"> ${name}</span></button>`}${can.has("capture") && html`<button onClick=${() => act("capture", { port, seconds: 5 })}>Capture<span class="hidden"> ${port}</span></button>`}</td></tr>`;
}

function Node({ f, look, n, act, can, title, text }) {
  const [most, setMost] = useState(16);
  const down = look.failed.some((x) => x.kind === "switch" && x.name === f.names[n]), part = { kind: "switch", name: f.names[n] }, links = f.out[n];
  return html`<div class="cardhead"><h2 id="chosen">${title}</h2><p class="quiet">${text}</p>
    <div class="choices">${can.has("try") && !down && html`<button onClick=${() => act("try", part)}>Try a failure</button>`}${can.has("break") && html`<button onClick=${() => act("break", { ...part, heal: down })}>${down ? "Heal switch" : "Fail switch"}</button>`}</div></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Ports"><table><thead><tr><th scope="col">port and neighbour</th><th scope="col" class="num">out</th><th scope="col" class="num">in</th><th scope="col"><span class="hidden">actions</span></th></tr></thead>
    <tbody>${links.slice(0, most).map((l) => html`<${Cable} key=${l} ...${{ f, look, l, act, can }} />`)}</tbody></table></div>
    ${links.length > most && html`<p class="quiet">${most} of ${count(links.length)} ports. <button class="link" onClick=${() => setMost(most + 64)}>Show more</button></p>`}`;
}

// What the policy has said of a job, asked for when the job is chosen and when it has gone on.
function Reasons({ job }) {
  const [lines, setLines] = useState(null);
  useEffect(() => {
    let here = true;
    ask("why", { job: job.id }).then((l) => here && setLines(l), () => here && setLines([]));
    return () => (here = false);
  }, [job.id, job.state, job.tasks_ended, job.coflows_ended]);
  if (!lines) return html`<p class="quiet">asking the policy …</p>`;
  if (!lines.length) return html`<p class="quiet">The policy has given no reasons to this leader.</p>`;
  return html`<details class="reasons" open><summary>${plural(lines.length, "reason")} of the policy</summary><div class="scroll" tabindex="0" role="region" aria-label="Reasons of the policy"><ul class="facts">${lines.map((x) => html`<li>${x}</li>`)}</ul></div></details>`;
}

function Chosen({ f, look, selected, act, can, select }) {
  if (selected.kind === "rack") {
    const r = selected.id, n = f.tors[r], circuits = look.circuits.filter((c) => f.rackOfPort(c.in) === r || f.rackOfPort(c.out) === r);
    const jobs = look.jobs.filter((j) => j.ended < 0 && j.hosts.some((h) => f.host_racks[h] === r));
    return html`<${Node} ...${{ f, look, n, act, can }} title=${`Rack ${r}`} text=${`${f.names[n]}, ${plural(f.down[r].length, "host")}`} />
      ${circuits.length > 0 && html`<ul class="facts">${circuits.map((c) => html`<li><i class="dot" style=${{ background: colour(c.job) }}></i>circuit ${f.names[f.tors[f.rackOfPort(c.in)]]} → ${f.names[f.tors[f.rackOfPort(c.out)]]}${f.ocses.length > 1 ? ` by ${f.ocsOfPort(c.in)}` : ""}, ${c.lit ? "lit" : "being made"} for ${seconds(look.head.now - c.since)}, ${c.job < 0 ? "for unannounced traffic" : `for job ${c.job}`}</li>`)}</ul>`}
      ${jobs.length > 0 && html`<p class="facts">Here: ${jobs.slice(0, 8).map((j) => html`<button class="link" key=${j.id} onClick=${() => select({ kind: "job", id: j.id })}>${jobName(j)}</button> `)}${jobs.length > 8 ? `and ${jobs.length - 8} more` : ""}</p>`}`;
  }
  if (selected.kind === "switch") return html`<${Node} ...${{ f, look, n: selected.id, act, can }} title=${f.names[selected.id]} text=${f.roles[selected.id]} />`;
  const j = look.jobs.find((j) => j.id === selected.id);
  if (!j) return html`<div class="cardhead"><h2 id="chosen">Job ${selected.id}</h2><p class="quiet">it is not among the latest</p></div>`;
  const byRack = new Map();
  for (const x of j.hosts) byRack.set(f.host_racks[x], [...(byRack.get(f.host_racks[x]) || []), f.names[f.hosts[x]]]);
  return html`<div class="cardhead"><h2 id="chosen"><i class="dot" style=${{ background: colour(j.id) }}></i>${jobName(j)}</h2><p class="quiet">job ${j.id}${j.user ? ` of ${j.user}` : ""}, ${j.why || j.state}${j.phase ? `, phase ${j.phase}` : ""}</p>
    <div class="choices">${can.has("cancel") && j.ended < 0 && html`<button onClick=${() => act("cancel", { job: j.id })}>Cancel</button>`}</div></div>
    <dl class="pairs"><dt>arrived</dt><dd>${seconds(j.arrived)}</dd><dt>waited for a place</dt><dd>${j.placed < 0 ? (j.tasks ? seconds(look.head.now - j.arrived) + " so far" : "–") : seconds(j.placed - j.arrived)}</dd><dt>started</dt><dd>${seconds(j.started)}</dd><dt>ended</dt><dd>${seconds(j.ended)}</dd>
    ${j.deadline > 0 && html`<dt>deadline</dt><dd>${seconds(j.deadline)} after its arrival</dd>`}<dt>tasks</dt><dd>${count(j.tasks_ended)} of ${count(j.tasks)} ended</dd><dt>coflows</dt><dd>${count(j.coflows_ended)} of ${count(j.coflows)} sent</dd><dt>bytes</dt><dd>${bytes(j.bytes)}, ${bytes(j.left)} left</dd><dt>circuits</dt><dd>${j.circuits.length || "none"}</dd></dl>
    <h3>Why here</h3>
    ${(j.here || []).length > 0 ? html`<ul class="facts">${j.here.map((x) => html`<li>${x}</li>`)}</ul>` : html`<p class="quiet">${f.recorded ? "The report does not say where its tasks were." : "It has no place yet."}</p>`}
    ${can.has("why") && html`<${Reasons} key=${j.id} job=${j} />`}
    <p class="facts">${[...byRack].sort((a, b) => a[0] - b[0]).slice(0, 12).map(([r, hosts]) => html`<span key=${r}><button class="link" onClick=${() => select({ kind: "rack", id: r })}>rack ${r}</button> ${hosts.slice(0, 6).join(" ")}${hosts.length > 6 ? " …" : ""} </span>`)}${byRack.size > 12 ? `and ${byRack.size - 12} racks more` : ""}</p>`;
}

export const Inspector = (p) => html`<section class="card inspector" aria-labelledby="chosen">${p.selected ? html`<${Chosen} ...${p} />` : html`<div class="cardhead"><h2 id="chosen">Nothing chosen</h2></div><p class="empty">Choose a rack in the ring, a job or a switch; or find one by name.</p>`}</section>`;
