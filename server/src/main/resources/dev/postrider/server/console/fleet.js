// Relays, destinations and topics.
import { html } from './lib.js';
import { pauseDestination, pauseTopic, resumeDestination, resumeTopic } from './acts.js';
import { Time, duration, number, plural, topicOf } from './format.js';
import { useLive } from './live.js';
import { breakerOf, destinations, destinationsOf } from './problems.js';
import { searchTopic } from './query.js';
import { Badge, Command, Empty, Failed, Loading, Page, Panel, Table, useFetch } from './ui.js';

const nothing = () => {};

export function Relays() {
  const { status } = useLive();
  const { data: leases, error } = useFetch('/leases?limit=100', 3000);
  if (!status) return html`<${Page} title="Relays"><${Loading} /></${Page}>`;
  return html`
    <${Page} title="Relays">
      <${Panel} title="Relays">
        ${status.relays.length ? html`<${Table} label="Relays" rows=${status.relays} keyOf=${r => r.name + r.instance} cells=${[
          ['relay', r => html`<strong>${r.name}</strong>`],
          ['seen', r => r.lost ? html`<${Badge} state="open">lost</${Badge}> ${duration(r.seen_seconds_ago)} ago` : `${duration(r.seen_seconds_ago)} ago`],
          ['in flight', r => number(r.in_flight), 'num'], ['leases', r => number(r.leases), 'num wide'],
          ['where', r => r.host ? `${r.host}, process ${r.pid}` : html`<span class="muted">a loop on the lease store</span>`, 'wide'],
          ['version', r => r.version, 'wide'], ['started', r => html`<${Time} at=${r.started_at} />`, 'num wide'],
          ['destinations', r => r.destinations.map(d => html`<span class="chip">${d.name} <${Badge} state=${d.breaker} /></span>`)]]} />`
          : html`<${Empty} title="No relay runs">Nothing is delivered without one. Start it with <code>./postrider relay</code>, or inside an application.</${Empty}>`}
      </${Panel}>
      ${status.relays.filter(r => r.routes.length).map(r => html`
        <${Panel} key=${r.instance} title=${`Routes of ${r.name}`}><${Table} label=${`Routes of ${r.name}`} rows=${r.routes} keyOf=${topicOf} cells=${[
          ['namespace', t => t.namespace], ['topic', t => t.topic], ...(r.routes.some(t => t.subscription) ? [['subscription', t => t.subscription]] : []), ['destination', t => t.destination]]} /></${Panel}>`)}
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

const LastErrors = ({ name, topics }) => {
  const { outcomes } = useLive();
  const names = new Set(topics.map(topicOf));
  const errors = outcomes.filter(o => o.code && names.has(topicOf(o))).slice(-5).reverse();
  return errors.length ? html`<ul class="plain small">${errors.map(o => html`<li key=${o.id + o.at}><${Time} at=${o.at} /> <code>${o.code}</code> <a href=${`#/messages/${o.id}`}>${topicOf(o)}</a></li>`)}</ul>`
    : html`<span class="muted small">none since this page was opened</span>`;
};

export function Destinations({ may }) {
  const { status } = useLive();
  if (!status) return html`<${Page} title="Destinations"><${Loading} /></${Page}>`;
  const all = destinations(status);
  return html`
    <${Page} title="Destinations">
      ${!all.length && html`<${Empty} title="No destination is known">Relays name theirs when they start.</${Empty}>`}
      ${all.map(d => html`
        <${Panel} key=${d.name} title=${d.name} side=${may.operate && (d.paused
            ? html`<button type="button" class="primary" onClick=${() => resumeDestination(d, nothing)}>Resume</button>`
            : html`<button type="button" onClick=${() => pauseDestination(d, nothing)}>Pause…</button>`)}>
          <dl class="facts">
            <div><dt>State</dt><dd>${d.paused && html`<${Badge} state="paused" /> by ${d.paused.paused_by} since <${Time} at=${d.paused.paused_at} /> `}
              ${breakerOf(d) ? html`breaker <${Badge} state=${breakerOf(d)} />` : html`<span class="muted">no relay serves it</span>`}
              ${d.since && html` since <${Time} at=${d.since} />`}</dd></div>
            <div><dt>Type</dt><dd>${d.type || ''}</dd></div>
            <div><dt>Waiting</dt><dd>${plural(d.waiting, 'message')}${d.topics.length ? ` of ${d.topics.map(topicOf).join(', ')}` : ''}</dd></div>
            ${d.openTargets > 0 && html`<div><dt>Failing targets</dt><dd>${number(d.openTargets)}</dd></div>`}
            <div><dt>Relays</dt><dd>${d.relays.join(', ') || 'none'}</dd></div>
            <div><dt>Last errors</dt><dd><${LastErrors} name=${d.name} topics=${d.topics} /></dd></div>
          </dl>
          <${Command} text=${`./postrider ${d.paused ? 'resume' : 'pause'} destination ${d.name}`} />
        </${Panel}>`)}
    </${Page}>`;
}

export function Topics({ may }) {
  const { status } = useLive();
  if (!status) return html`<${Page} title="Topics"><${Loading} /></${Page}>`;
  const paused = new Map(status.paused.filter(p => p.kind === 'topic').map(p => [p.name, p]));
  const subscriptions = new Map(status.paused.filter(p => p.kind === 'subscription').map(p => [p.name, p]));
  const pauseOf = t => paused.get(`${t.namespace}/${t.topic}`) || subscriptions.get(`${t.namespace}/${t.topic}#${t.subscription || 'default'}`);
  const pausedItself = t => (t.subscription ? subscriptions : paused).has(topicOf(t));
  const idle = [...paused.keys()].filter(name => !status.topics.some(t => topicOf(t) === name))
    .map(name => ({ namespace: name.split('/')[0], topic: name.split('/').slice(1).join('/'), pending: 0, dead: 0 }));
  const rows = [...status.topics, ...idle].sort((a, b) => topicOf(a).localeCompare(topicOf(b)));
  return html`
    <${Page} title="Topics">
      ${rows.length ? html`<${Panel}><${Table} label="Topics" rows=${rows} keyOf=${topicOf} cells=${[
        ['topic', t => html`<a href=${searchTopic(t)}>${topicOf(t)}</a>`],
        ['state', t => pauseOf(t) ? html`<${Badge} state="paused" /> <span class="muted wide">by ${pauseOf(t).paused_by}</span>` : html`<span class="muted">runs</span>`],
        ['pending', t => (t.estimated ? '~' : '') + number(t.pending), 'num'], ['oldest', t => t.pending ? duration(t.oldest_age_seconds) : '', 'num'],
        ['dead', t => t.dead ? html`<a class="bad-text" href="#/dead">${number(t.dead)}</a>` : '', 'num'],
        ['to', t => destinationsOf(status, t).join(', ') || html`<${Badge} state="open">no route</${Badge}>`, 'wide'],
        ['', t => may.operate && (pausedItself(t) ? html`<button type="button" class="small primary" onClick=${() => resumeTopic(t, nothing)}>Resume</button>`
          : html`<button type="button" class="small" onClick=${() => pauseTopic(t, nothing)}>Pause…</button>`), 'num']]} /></${Panel}>`
        : html`<${Empty} title="No topic has pending or dead messages">Topics are listed while something waits or is dead. Delivered messages are on the page Messages.</${Empty}>`}
      ${status.topics_more && html`<p class="muted">There are more: these are the 100 with the most pending and dead messages.</p>`}
      <${Command} text="./postrider status" />
    </${Page}>`;
}
