// Relays, destinations and topics.
import { html, useState } from './lib.js';
import { pauseDestination, pauseTopic, resumeDestination, resumeTopic } from './acts.js';
import { Time, duration, number, plural, quoted, rate, topicOf } from './format.js';
import { flowBy, useLive } from './live.js';
import { breakerOf, destinations, destinationsOf } from './problems.js';
import { searchTopic } from './query.js';
import { Badge, Command, Empty, Failed, Loading, Page, Panel, Table, WORDS, useFetch } from './ui.js';

const nothing = () => {};

const perSecond = (flow, name) => (flow ? `${rate(flow.get(name) || 0)}/s` : '–');

const Where = ({ relay }) => (relay.host ? `${relay.host}, process ${relay.pid}` : html`<span class="muted">a loop on the lease store</span>`);

const SHOWN = 5;

// Of many, those that need a look.
function Served({ destinations }) {
  const bad = destinations.filter(d => d.breaker !== 'closed' || d.open_targets);
  const shown = [...bad, ...destinations.filter(d => !bad.includes(d))].slice(0, SHOWN);
  return html`${shown.map(d => html`<span class="chip">${d.name} <${Badge} state=${d.breaker} /></span>`)}
    ${destinations.length > SHOWN && html`<span class="muted">and ${destinations.length - SHOWN} more</span>`}`;
}

// One table for all relays: they often serve the same.
function Routes({ relays }) {
  const routes = new Map();
  relays.forEach(relay => relay.routes.forEach(route => {
    const name = `${topicOf(route)} ${route.destination}`;
    if (!routes.has(name)) routes.set(name, { ...route, name, relays: [] });
    routes.get(name).relays.push(relay.name);
  }));
  const rows = [...routes.values()].sort((a, b) => a.name.localeCompare(b.name));
  const living = relays.filter(relay => relay.routes.length).length;
  return rows.length > 0 && html`<${Panel} title="Routes"><${Table} label="Routes" rows=${rows} keyOf=${r => r.name} cells=${[
    ['topic', r => topicOf(r)], ['destination', r => r.destination],
    ['relays', r => (r.relays.length === living ? (living === 1 ? r.relays[0] : `all ${living}`) : r.relays.slice(0, SHOWN).join(', ') + (r.relays.length > SHOWN ? '…' : ''))]]} /></${Panel}>`;
}

export function Relays() {
  const { status } = useLive();
  const { data: leases, error } = useFetch('/leases?limit=100', 3000);
  if (!status) return html`<${Page} title="Relays"><${Loading} /></${Page}>`;
  const flow = flowBy(o => o.relay);
  return html`
    <${Page} title="Relays">
      <${Panel}>
        ${status.relays.length ? html`<${Table} label="Relays" rows=${status.relays} keyOf=${r => r.name + r.instance} cells=${[
          ['relay', r => html`<strong title=${r.name}>${r.name}</strong>`],
          ['seen', r => html`${duration(r.seen_seconds_ago)} ago ${r.lost && html`<${Badge} state="open">lost</${Badge}>`}`],
          ['delivers', r => perSecond(flow, r.name), 'num'], ['in flight', r => number(r.in_flight), 'num'], ['leases', r => number(r.leases), 'num wide'],
          ['where', r => html`<${Where} relay=${r} />`, 'wide'], ['version', r => r.version, 'wide'], ['started', r => html`<${Time} at=${r.started_at} />`, 'num wide'],
          ['destinations', r => html`<${Served} destinations=${r.destinations} />`, 'wrap wide']]} />`
          : html`<${Empty} title="No relay runs">Nothing is delivered without one. Start it with <code>./postrider relay</code>, or inside an application.</${Empty}>`}
        ${status.relays.length === 100 && html`<p class="muted small">These are the 100 that were seen last.</p>`}
      </${Panel}>
      <${Routes} relays=${status.relays} />
      <${Panel} title="Leases">
        <${Failed} error=${error} />
        ${leases && (leases.items.length ? html`<${Table} label="Leases" rows=${leases.items} keyOf=${l => String(l.token)} cells=${[
          ['worker', l => l.worker], ['open', l => number(l.open), 'num'], ['claimed', l => html`<${Time} at=${l.claimed_at} />`, 'num wide'],
          ['until', l => html`<${Time} at=${l.until} />${l.over ? html` <${Badge} state="open">over</${Badge}>` : ''}`, 'num'], ['token', l => html`<code>${String(l.token)}</code>`, 'num wide']]} />`
          : html`<${Empty} title="Nothing is in flight">A lease is the right of one relay to the messages of one claim.</${Empty}>`)}
      </${Panel}>
      <${Command} text="./postrider status" />
    </${Page}>`;
}

// What is dead tells what went wrong before this page was opened.
function LastErrors({ topics, groups }) {
  const { outcomes } = useLive();
  const names = new Set(topics.map(topicOf));
  const lately = outcomes.filter(o => o.code && names.has(topicOf(o)))
    .map(o => ({ at: o.at, id: o.id, code: o.code, topic: topicOf(o), text: o.state === 'failed' ? 'dead' : 'tried again' }));
  const dead = groups.filter(g => names.has(topicOf(g)) && !lately.some(o => o.id === g.example))
    .map(g => ({ at: g.last_died_at, id: g.example, code: g.code, topic: topicOf(g), text: `${number(g.count)} dead${g.error ? `: ${g.error.split('\n')[0].slice(0, 80).replace(/:$/, '')}` : ''}` }));
  const errors = [...lately, ...dead].sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, SHOWN);
  return errors.length ? html`<ul class="plain">${errors.map(e => html`<li key=${e.id + e.at}><${Time} at=${e.at} /> <code>${e.code}</code> <a href=${`#/messages/${e.id}`}>${e.topic}</a> <span class="muted">${e.text}</span></li>`)}</ul>`
    : html`<span class="muted">none lately, and nothing is dead</span>`;
}

const PAGE = 20;

export function Destinations({ may }) {
  const { status, deaths } = useLive();
  const { data: dead } = useFetch('/dead/groups', 30000, deaths);
  const [more, setMore] = useState(1);
  if (!status) return html`<${Page} title="Destinations"><${Loading} /></${Page}>`;
  const flow = flowBy(topicOf);
  const rank = d => (breakerOf(d) === 'open' ? 0 : d.paused || breakerOf(d) === 'half_open' || d.openTargets ? 1 : 2);
  const all = destinations(status).sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  const inFlight = d => status.relays.filter(r => d.relays.includes(r.name)).reduce((sum, r) => sum + r.in_flight, 0);
  return html`
    <${Page} title="Destinations">
      ${!all.length && html`<${Empty} title="No destination is known">Relays name theirs when they start.</${Empty}>`}
      ${all.slice(0, more * PAGE).map(d => html`
        <${Panel} key=${d.name} title=${html`${d.name} ${d.paused && html`<${Badge} state="paused" />`} ${breakerOf(d) ? html`<${Badge} state=${breakerOf(d)}>breaker ${WORDS[breakerOf(d)] || breakerOf(d)}</${Badge}>` : html`<${Badge} state="plain">no relay</${Badge}>`}`} label=${d.name}
          side=${may.operate && (d.paused
            ? html`<button type="button" class="primary" onClick=${() => resumeDestination(d, nothing)}>Resume</button>`
            : html`<button type="button" onClick=${() => pauseDestination(d, nothing)}>Pause…</button>`)}>
          <dl class="facts">
            ${d.paused && html`<div><dt>Paused</dt><dd>by ${d.paused.paused_by} since <${Time} at=${d.paused.paused_at} /></dd></div>`}
            ${d.since && html`<div><dt>Breaker</dt><dd>${breakerOf(d) === 'open' ? 'open' : 'not closed everywhere'} since <${Time} at=${d.since} />${d.probe && html`, next probe <${Time} at=${d.probe} />`}: ${d.open.concat(d.probing).slice(0, SHOWN).join(', ')}</dd></div>`}
            ${d.openTargets > 0 && html`<div><dt>Failing targets</dt><dd>${number(d.openTargets)}</dd></div>`}
            <div><dt>Waiting</dt><dd>${number(d.waiting)}${status.topics_more ? ' or more' : ''} ${d.waiting === 1 && !status.topics_more ? 'message' : 'messages'}${d.topics.length ? ` of ${d.topics.slice(0, SHOWN).map(topicOf).join(', ')}${d.topics.length > SHOWN ? ` and ${d.topics.length - SHOWN} more topics` : ''}` : ''}</dd></div>
            <div><dt>Delivered</dt><dd>${flow ? `${rate(d.topics.reduce((sum, t) => sum + (flow.get(topicOf(t)) || 0), 0))}/s` : '–'}</dd></div>
            <div><dt>In flight</dt><dd>${plural(inFlight(d), 'message')} at ${d.relays.length === 1 ? 'its relay' : 'its relays'}</dd></div>
            <div><dt>Served by</dt><dd>${d.relays.length > SHOWN ? plural(d.relays.length, 'relay') : d.relays.join(', ') || 'no relay'}${d.type ? html` <span class="muted">type ${d.type}</span>` : ''}</dd></div>
            <div><dt>Last errors</dt><dd><${LastErrors} topics=${d.topics} groups=${dead ? dead.items : []} /></dd></div>
          </dl>
          <${Command} text=${`./postrider ${d.paused ? 'resume' : 'pause'} destination ${quoted(d.name)}`} />
        </${Panel}>`)}
      ${all.length > more * PAGE && html`<button type="button" onClick=${() => setMore(more + 1)}>Show ${PAGE} more of ${number(all.length)}</button>`}
    </${Page}>`;
}

// What topicOf wrote, taken apart.
const named = name => {
  const [namespace, ...topic] = name.split('/');
  return { namespace: namespace.replace(/%2F/g, '/').replace(/%25/g, '%'), topic: topic.join('/'), pending: 0, dead: 0 };
};

export function Topics({ may }) {
  const { status, outcomes } = useLive();
  if (!status) return html`<${Page} title="Topics"><${Loading} /></${Page}>`;
  const paused = new Map(status.paused.filter(p => p.kind === 'topic').map(p => [p.name, p]));
  const subscriptions = new Map(status.paused.filter(p => p.kind === 'subscription').map(p => [p.name, p]));
  const pauseOf = t => paused.get(topicOf({ ...t, subscription: '' })) || subscriptions.get(topicOf({ ...t, subscription: t.subscription || 'default' }));
  const pausedItself = t => (t.subscription ? subscriptions : paused).has(topicOf(t));
  const idle = [...paused.keys()].filter(name => !status.topics.some(t => topicOf(t) === name))
    .map(named);
  const flow = flowBy(topicOf);
  const known = new Set([...status.topics, ...idle].map(topicOf));
  const busy = [...new Map(outcomes.filter(o => !known.has(topicOf(o))).map(o => [topicOf(o), o])).values()].map(o => ({ ...o, pending: 0, dead: 0 }));
  const rows = [...status.topics, ...idle, ...busy].sort((a, b) => b.pending + b.dead - a.pending - a.dead || topicOf(a).localeCompare(topicOf(b)));
  return html`
    <${Page} title="Topics">
      ${rows.length ? html`<${Panel}><${Table} label="Topics" rows=${rows} keyOf=${topicOf} cells=${[
        ['topic', t => html`<a href=${searchTopic(t)} title=${topicOf(t)}>${topicOf(t)}</a> ${pauseOf(t) && html`<${Badge} state="paused" /> <span class="muted wide">by ${pauseOf(t).paused_by}</span>`}`],
        ['delivered', t => perSecond(flow, topicOf(t)), 'num wide'],
        ['pending', t => (t.estimated ? '~' : '') + number(t.pending), 'num'], ['oldest', t => t.pending ? duration(t.oldest_age_seconds) : '', 'num wide'],
        ['dead', t => t.dead ? html`<a class="bad-text" href="#/dead">${number(t.dead)}</a>` : '', 'num'],
        ['to', t => destinationsOf(status, t).join(', ') || html`<${Badge} state="open">no route</${Badge}>`, 'wide'],
        ['', t => may.operate && (pausedItself(t) ? html`<button type="button" class="small primary" onClick=${() => resumeTopic(t, nothing)}>Resume</button>`
          : html`<button type="button" class="small" onClick=${() => pauseTopic(t, nothing)}>Pause…</button>`), 'num']]} /></${Panel}>`
        : html`<${Empty} title="No topic has anything to do">Topics are listed while they have traffic, or something waits or is dead. Delivered messages are on the page Messages.</${Empty}>`}
      ${status.topics_more && html`<p class="muted">There are more: these are the 100 with the most pending and dead messages.</p>`}
      <${Command} text="./postrider status" />
    </${Page}>`;
}
