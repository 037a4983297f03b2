// Dead letters by what went wrong.
import { html, useEffect, useState } from './lib.js';
import { params } from './api.js';
import { discardGroup, discardOne, discardSome, filterOf, requeueGroup, requeueOne, requeueSome, tryOne } from './acts.js';
import { Time, number, plural, shortId, shortTime, topicOf } from './format.js';
import { followed, forget, useLive } from './live.js';
import { Badge, Command, Empty, Failed, Key, Loading, Page, Panel, Table, go, useFetch } from './ui.js';

const PAGE = 20;

// The first line tells the kind of failure, the rest what the receiver said.
const ErrorText = ({ text }) => text ? html`<pre class="error">${text.length > 300 ? text.slice(0, 300) + '…' : text}</pre>` : html`<p class="muted">No error text.</p>`;

function Letters({ group, may, version, changed }) {
  const [cursor, setCursor] = useState('');
  const [selected, setSelected] = useState(new Set());
  const { data, error, reload } = useFetch('/dead' + params({ ...filterOf(group), order: 'newest', limit: PAGE, cursor }), 0, version);
  const toggle = id => setSelected(last => {
    const next = new Set(last);
    if (!next.delete(id)) next.add(id);
    return next;
  });
  const done = () => { setSelected(new Set()); reload(); changed(); };
  if (error) return html`<${Failed} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  const ids = data.items.filter(letter => selected.has(letter.id)).map(letter => letter.id);
  return html`
    ${may.operate && may.unlimited && html`<div class="selection" role="group" aria-label="Selected messages">
      <span class="muted">${plural(ids.length, 'message')} selected</span>
      <button type="button" disabled=${!ids.length} onClick=${() => requeueSome(ids, done, group.only)}>Requeue selected</button>
      <button type="button" disabled=${!ids.length} onClick=${() => discardSome(ids, done, group.only)}>Discard selected…</button></div>`}
    <${Table} label=${`Dead letters of ${topicOf(group)}`} rows=${data.items} keyOf=${r => r.id} open=${r => go(`#/messages/${r.id}`)}
      selected=${selected} onSelect=${may.operate && may.unlimited ? toggle : null} cells=${[
        ['message', r => html`<a href=${`#/messages/${r.id}`}><code title=${r.id}>${shortId(r.id)}</code></a>`],
        ['key', r => html`<${Key} of=${r} /> ${r.blocking && html`<${Badge} state="open">blocks it</${Badge}>`}`],
        ['type', r => r.event_type, 'wide'], ['tries', r => number(r.attempts), 'num wide'], ['died', r => html`<${Time} at=${r.died_at} />`, 'num'],
        ['', r => may.operate && html`<span class="row-acts"><button type="button" class="small" data-key="r" onClick=${() => requeueOne(r.id, done, group.only)}>Requeue</button>
          <button type="button" class="small" onClick=${() => discardOne(r.id, done, group.only)}>Discard…</button></span>`, 'num wide']]} />
    <nav class="pager" aria-label="Pages of dead letters">
      ${cursor && html`<button type="button" onClick=${() => setCursor('')}>Newest</button>`}
      ${data.next && html`<button type="button" onClick=${() => setCursor(data.next)}>Older</button>`}</nav>`;
}

const SETTLED = ['delivered', 'dead'];

// What became of the one that was tried, and what that means for the others.
function Tried({ id, group }) {
  const { outcomes } = useLive();
  const [over, setOver] = useState(false);
  const { data: message } = useFetch(`/messages/${id}`, over ? 0 : 1000, outcomes.length && outcomes[outcomes.length - 1].at);
  const mine = message && (message.deliveries.find(d => d.subscription === group.subscription) || message);
  const last = message && message.history[message.history.length - 1];
  const settled = mine && SETTLED.includes(mine.state);
  useEffect(() => { if (settled) setOver(true); }, [settled]);
  const link = html`<a href=${`#/messages/${id}`}><code>${shortId(id)}</code></a>`;
  if (!settled) return html`<p class="note tried" role="status">Trying ${link}… ${last && last.state === 'retryable' && html`It failed with <code>${last.code}</code> and is tried again.`}</p>`;
  return mine.state === 'delivered'
    ? html`<p class="note good tried" role="status"><strong>The one that was tried is delivered</strong> (${link}). ${group.count === 1 ? 'The other one' : `The other ${number(group.count)}`} can follow.</p>`
    : html`<p class="note bad tried" role="status"><strong>The one that was tried is dead again</strong> (${link}${last && last.code ? html`, <code>${last.code}</code>` : ''}). The cause is not gone yet.</p>`;
}

// How those that were requeued fare.
function Run({ run, status }) {
  const topic = status && status.topics.find(t => topicOf(t) === run.topic);
  const way = topic ? topic.pending : 0;
  const least = run.missed > 0 ? 'at least ' : '';
  const of = Math.min(run.of, run.total ?? run.of);
  const done = run.total !== undefined && run.delivered + run.dead >= of;
  return html`<div class=${`note run ${run.dead ? 'bad' : done ? 'good' : ''}`} role="status">
    <span><strong>${run.total === undefined ? 'Requeueing…' : `${plural(run.total, 'message')} of ${run.topic} requeued`}</strong> at ${shortTime(run.at)}: ${run.total > of ? `of the first ${number(of)} ` : ''}${least}${number(run.delivered)} delivered, ${run.dead ? html`<strong>${least}${number(run.dead)} dead again</strong>` : 'none dead again'}${done ? '.' : `, ${plural(way, 'message')} of the topic ${way === 1 ? 'waits' : 'wait'} now.`}</span>
    <progress max=${of || 1} value=${Math.min(of, run.delivered + run.dead)} aria-label="Delivered or dead again"></progress>
    <button type="button" class="quiet small" onClick=${() => forget(run)}>Close</button></div>`;
}

function Group({ group, complete, may, version, changed }) {
  const [open, setOpen] = useState(false);
  const [tried, setTried] = useState(null);
  const count = number(group.count) + (complete ? '' : '+');
  return html`
    <${Panel}>
      <div class="group" data-group=${group.fingerprint}>
        <div class="group-text">
          <h2><span class="count">${count}</span> ${topicOf(group)} ${group.code && html`<code>${group.code}</code>`}</h2>
          <${ErrorText} text=${group.error} />
          <p class="muted small">${group.count === 1 ? html`Died <${Time} at=${group.last_died_at} relative=${true} />` : html`First <${Time} at=${group.first_died_at} relative=${true} />, last <${Time} at=${group.last_died_at} relative=${true} />`}
            ${group.blocking > 0 && html` · <a href="#/keys">${group.blocking === 1 ? '1 blocks its key' : `${number(group.blocking)} block their keys`}</a>`}
            ${' · '}<a href=${`#/messages/${group.example}`}>newest example</a></p>
        </div>
        ${may.operate && html`<div class="group-acts">
          ${group.count > 1 && html`<button type="button" onClick=${() => tryOne(group.example, () => { setTried(group.example); changed(); }, group.only)}>Try one first</button>`}
          <button type="button" class="primary" data-key="r" onClick=${() => requeueGroup(group, count, changed)}>Requeue ${group.count === 1 ? '' : 'all '}${count}</button>
          <button type="button" onClick=${() => discardGroup(group, count, changed)}>Discard…</button></div>`}
      </div>
      ${tried && html`<${Tried} id=${tried} group=${group} />`}
      <details open=${open} onToggle=${e => setOpen(e.target.open)}><summary>Messages</summary>
        ${open && html`<${Letters} group=${group} may=${may} version=${version} changed=${changed} />`}</details>
    </${Panel}>`;
}

export function Dead({ may }) {
  const { deaths, status } = useLive();
  const version = `${deaths}/${status ? status.dead : ''}`;
  const { data, error, reload } = useFetch('/dead/groups', 10000, version);
  // Where a topic has dead letters of named subscriptions, the default one has to be named, too.
  const named = new Set((data ? data.items : []).filter(g => g.subscription).map(g => `${g.namespace}/${g.topic}`));
  const groups = (data ? data.items : []).map(g => ({ ...g, only: g.subscription || (named.has(`${g.namespace}/${g.topic}`) ? 'default' : '') }));
  return html`
    <${Page} title="Dead letters" actions=${html`<button type="button" onClick=${reload}>Refresh</button>`}>
      <${Failed} error=${error} />
      ${!data && !error && html`<${Loading} />`}
      ${followed().map(run => html`<${Run} key=${run.at} run=${run} status=${status} />`)}
      ${data && !groups.length && html`<${Empty} title="Nothing is dead">A message dies after a terminal error or its last attempt. It then waits here until somebody requeues or discards it. <a href="#/messages?q=state%3Adiscarded">Discarded ones</a> can still be requeued.</${Empty}>`}
      ${groups.length > 0 && html`<p class="muted" id="dead-count">${plural(data.counted, 'message')}${data.complete ? '' : ' and more; the newest 10,000 are counted'}, in ${plural(groups.length, 'group')} by topic, code and error.</p>`}
      ${groups.map(group => html`<${Group} key=${topicOf(group) + group.code + group.fingerprint} group=${group} complete=${data.complete} may=${may} version=${version} changed=${reload} />`)}
      ${groups.length > 0 && html`<${Command} text="./postrider dead list" /><p class="muted small"><a href="#/messages?q=state%3Adiscarded">Discarded ones</a> can still be requeued.</p>`}
    </${Page}>`;
}
