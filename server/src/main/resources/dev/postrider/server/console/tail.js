// What becomes of messages, as it happens.
import { html, useState } from './lib.js';
import { params } from './api.js';
import { Time, number, shortId, topicOf } from './format.js';
import { KEPT, useLive } from './live.js';
import { Badge, Command, Empty, Key, Page, Panel, Table, go } from './ui.js';

const SHOWN = 200;

export function Tail({ route }) {
  const { outcomes, passed } = useLive();
  const [filter, setFilter] = useState(route.query.get('q') || '');
  const change = text => {
    setFilter(text);
    history.replaceState(null, '', `#/tail${params({ q: text })}`);
  };
  const [held, setHeld] = useState(null);
  const newer = held ? outcomes.length - 1 - outcomes.lastIndexOf(held[held.length - 1]) : 0;
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = o => `${topicOf(o)} ${o.key || ''} ${o.event_type || ''} ${o.state} ${o.code || ''} ${o.id}`.toLowerCase();
  const all = held || outcomes;
  const rows = all.filter(o => words.every(word => text(o).includes(word))).slice(-SHOWN).reverse();
  return html`
    <${Page} title="Live tail" actions=${html`<button type="button" aria-pressed=${!!held} onClick=${() => setHeld(held ? null : outcomes)}>${held ? 'Go on' : 'Hold'}</button>`}>
      <form class="query" onSubmit=${e => e.preventDefault()}><input type="search" aria-label="Filter" placeholder="Filter: topic, key, type, code or id" value=${filter} onInput=${e => change(e.target.value)} /></form>
      ${held && html`<p class="note warn" role="status">Held. ${number(newer)}${newer >= KEPT ? "+" : ""} newer not shown.</p>`}
      ${rows.length ? html`<${Panel}><${Table} label="Outcomes" rows=${rows} keyOf=${o => `${o.id}/${o.delivery}/${o.attempt}/${o.state}/${o.at}`} open=${o => go(`#/messages/${o.id}`)} cells=${[
        ['time', o => html`<${Time} at=${o.at} />`], ['outcome', o => html`<${Badge} state=${o.state} />`], ['topic', o => topicOf(o)],
        ['key', o => html`<${Key} of=${o} />`, 'wide'], ['type', o => o.event_type, 'wide'], ['relay', o => o.relay || '', 'wide'],
        ['message', o => html`<a href=${`#/messages/${o.id}`}><code>${shortId(o.id)}</code></a>`, 'wide'],
        ['took', o => o.latency_ms === undefined ? '' : `${number(o.latency_ms)} ms`, 'num'], ['code', o => o.code || '', 'wide']]} /></${Panel}>`
        : html`<${Empty} title=${words.length ? 'Nothing that matches came yet' : 'Waiting for deliveries'}>Everything that relays deliver, retry or give up appears here from now on.</${Empty}>`}
      ${passed > 0 && html`<p class="muted small">${number(passed)} were too many to show.</p>`}
      <${Command} text="./postrider tail" />
    </${Page}>`;
}
