// One message: why it is not delivered, what it carries, and what happened to it.
import { html } from './lib.js';
import { params } from './api.js';
import { Time, duration, number, shortId, topicOf } from './format.js';
import { discardOne, replayOne, requeueOne } from './acts.js';
import { live, useLive } from './live.js';
import { Payload } from './payload.js';
import { destinationsOf } from './problems.js';
import { search, searchTopic, word } from './query.js';
import { Badge, Command, Copy, Failed, Loading, Long, Page, Panel, Table, go, useFetch } from './ui.js';

// The engine writes times in UTC.
const localTimes = text => text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/).map((part, i) => (i % 2 ? html`<${Time} at=${part} />` : part));

function Why({ id, state, version }) {
  const { data, error } = useFetch(`/messages/${id}/why`, 3000, version);
  if (error) return html`<${Failed} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  const own = data.reasons.filter(r => r.message === id);
  const others = data.reasons.filter(r => r.message !== id);
  const line = r => html`<li class=${`reason ${r.reason}`}><span>${localTimes(r.text)}</span>
    ${r.until && html`<span class="muted">${Date.parse(r.until) > Date.now() ? `in ${duration((Date.parse(r.until) - Date.now()) / 1000)}` : ''}</span>`}
    ${r.other && html`<a href=${`#/messages/${r.other}`}>Show it</a>`}</li>`;
  return html`
    <ul class="reasons">${own.map(line)}</ul>
    ${others.length > 0 && html`<p class="muted small">And that message:</p><ul class="reasons">${others.map(line)}</ul>`}
    <${Command} text=${`./postrider messages why ${id}`} />`;
}

// Acts that name this message, its key, topic or destination, or whose filter it meets.
function concerns(act, message) {
  const detail = act.detail || {};
  const filter = detail.filter || {};
  if (detail.ids) return detail.ids.includes(message.id);
  if (detail.kind) return pauses(detail, message) && (message.state !== 'delivered' || Date.parse(act.at) <= Date.parse(message.updated_at));
  if (act.action.startsWith('dead.') || act.action === 'replay.start') {
    const fields = { namespace: message.namespace, topic: message.topic, key: message.key, tenant: message.tenant,
      aggregate_type: message.aggregate_type, aggregate_id: message.aggregate_id, event_type: message.event_type };
    return Object.entries(fields).every(([name, value]) => filter[name] === undefined || filter[name] === value)
      && filter.resolution !== 'any' && metBy(message, act, filter);
  }
  return false;
}

const nameOf = subscription => subscription || 'default';
const subscriptionsOf = message => [...new Set([...message.deliveries, ...message.history].map(d => nameOf(d.subscription)))];

// Whether it holds up this message: its topic, one of its subscriptions, or where relays send one of them.
function pauses({ kind, name }, message) {
  const topic = { namespace: message.namespace, topic: message.topic };
  if (kind === 'topic') return name === topicOf(topic);
  const routes = subscriptionsOf(message).map(one => ({ ...topic, subscription: one }));
  if (kind === 'subscription') return routes.some(route => name === topicOf(route));
  return live.status !== null && routes.some(route =>
    destinationsOf(live.status, { ...route, subscription: route.subscription === 'default' ? '' : route.subscription }).includes(name));
}

// What it had come to when the act began. Kinds of errors are not known here: the act was about it if it was sent again.
function metBy(message, act, filter) {
  const wanted = act.action === 'replay.start' ? 'dispatched' : 'failed';
  const last = new Map(message.history.filter(a => a.finished_at && Date.parse(a.finished_at) <= Date.parse(act.at)).map(a => [nameOf(a.subscription), a]));
  return [...last].some(([name, a]) => a.state === wanted && (filter.subscription || name) === name && (filter.code || a.code) === a.code
    && (!filter.fingerprint || act.action === 'dead.discard' || message.delivery > a.delivery || message.history.some(b => b.delivery > a.delivery)));
}

function Timeline({ message, acts }) {
  const entries = [
    { at: message.created_at, title: 'Enqueued', kind: 'plain' },
    ...message.history.map(a => ({ at: a.finished_at || a.claimed_at, attempt: a })),
    ...acts.filter(act => act.at >= message.created_at && concerns(act, message)).map(act => ({ at: act.at, act })),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return html`<ol class="timeline">${entries.map((e, i) => html`
    <li key=${i} class=${e.attempt ? e.attempt.state : e.act ? 'act' : 'made'}>
      <${Time} at=${e.at} />
      ${e.attempt ? html`<div><${Badge} state=${e.attempt.state} /> ${e.attempt.state === 'conflict' ? '' : html`delivery ${e.attempt.delivery}, try ${e.attempt.no}`}
          ${e.attempt.subscription && html` <span class="muted">for ${e.attempt.subscription}</span>`}
          ${e.attempt.latency_ms !== undefined && html` <span class="muted">${number(e.attempt.latency_ms)} ms</span>`}
          ${e.attempt.worker && html` <span class="muted">by ${e.attempt.worker}</span>`}
          ${e.attempt.code && html` <code>${e.attempt.code}</code>`}
          ${e.attempt.reference && html` <span class="muted">reference ${e.attempt.reference}</span>`}
          ${e.attempt.error && html`<pre class="error">${e.attempt.error}</pre>`}</div>`
        : e.act ? html`<div><strong>${e.act.action}</strong> by ${e.act.actor}${e.act.detail && e.act.detail.reason ? html`: ${e.act.detail.reason}` : ''}</div>`
          : html`<div>${e.title}</div>`}
    </li>`)}</ol>`;
}

// One line for each subscription, if the topic has others than the default one.
const Deliveries = ({ message }) => message.deliveries.some(d => d.subscription) && html`
  <${Panel} title="Deliveries"><${Table} label="Deliveries" rows=${message.deliveries} keyOf=${d => d.subscription} cells=${[
    ['subscription', d => d.subscription || html`<span class="muted">default</span>`], ['state', d => html`<${Badge} state=${d.state} />`],
    ['tries', d => number(d.attempts), 'num'], ['code', d => d.last_code || '', 'wide'],
    ['next try', d => d.next_attempt_at && Date.parse(d.next_attempt_at) > Date.now() ? html`<${Time} at=${d.next_attempt_at} />` : '', 'num wide'],
    ['held by', d => d.locked_by || '', 'wide'], ['changed', d => html`<${Time} at=${d.updated_at} />`, 'num']]} /></${Panel}>`;

const Fact = ({ name, children }) => [children].flat().every(child => child === undefined || child === null || child === false || child === '') ? null
  : html`<div><dt>${name}</dt><dd>${children}</dd></div>`;

const traceOf = headers => {
  const found = headers && (headers.traceparent || headers['trace-id'] || headers['x-trace-id']);
  return found && /^00-([0-9a-f]{32})-/.test(found) ? found.slice(3, 35) : found;
};

export function Message({ id, may }) {
  const { deaths } = useLive();
  const { data: message, error, reload } = useFetch(`/messages/${id}`, 3000, deaths);
  const { data: near } = useFetch(message && message.key ? `/messages/${id}/neighbours` : null);
  const { data: audit } = useFetch(may.unlimited && message ? `/audit${params({ from: message.created_at, limit: 1000 })}` : null, 0, message && message.delivery + message.state);
  if (error && !message) return html`<${Page} title="Message"><${Failed} error=${error} /><p><a href="#/messages">Search messages</a></p></${Page}>`;
  if (!message) return html`<${Page} title="Message"><${Loading} /></${Page}>`;
  const open = message.state !== 'delivered';
  const acts = html`
    ${may.operate && message.state === 'dead' && html`
      <button type="button" class="primary" data-key="r" onClick=${() => requeueOne(id, reload)}>Requeue</button>
      <button type="button" onClick=${() => discardOne(id, reload)}>Discard…</button>`}
    ${may.operate && may.unlimited && message.state === 'delivered' && html`<button type="button" onClick=${() => replayOne(message, reload)}>Replay…</button>`}`;
  return html`
    <${Page} title=${html`Message <code class="id">${id}</code> <${Copy} text=${id} label="Copy the id" />`} actions=${acts}>
      <p class="lead"><${Badge} state=${message.state} /> <a href=${searchTopic(message)}>${topicOf(message)}</a>
        ${message.event_type && html` · ${message.event_type}`}</p>
      ${open && html`<${Panel} title="Why is this not delivered?" id="why"><${Why} id=${id} state=${message.state} version=${message.updated_at + message.state} /></${Panel}>`}
      <${Deliveries} message=${message} />
      <div class="columns">
        <${Panel} title="Payload"><${Payload} message=${message} /></${Panel}>
        <${Panel} title="Facts"><dl class="facts">
          <${Fact} name="Key">${message.key && html`<a href=${search(word('namespace', message.namespace), word('key', message.key))}>${message.key}</a> <span class="muted">number ${String(message.sequence)}</span>`}</${Fact}>
          <${Fact} name="Tenant">${message.tenant}</${Fact}>
          <${Fact} name="Aggregate">${message.aggregate_type && html`<a href=${search(word('aggregate', `${message.aggregate_type}/${message.aggregate_id}`))}>${message.aggregate_type} ${message.aggregate_id}</a>`}</${Fact}>
          <${Fact} name="Dedupe key">${message.dedupe_key}</${Fact}>
          <${Fact} name="Trace">${traceOf(message.headers)}</${Fact}>
          <${Fact} name="Created">${html`<${Time} at=${message.created_at} />`}</${Fact}>
          <${Fact} name="Tries">${message.attempts === 0 ? 'none yet' : number(message.attempts)}${message.delivery > 1 && ` in delivery ${message.delivery}`}</${Fact}>
          <${Fact} name="Next try">${message.next_attempt_at && Date.parse(message.next_attempt_at) > Date.now() && html`<${Time} at=${message.next_attempt_at} />`}</${Fact}>
          <${Fact} name="Held by">${message.locked_by && html`${message.locked_by} until <${Time} at=${message.locked_until} />`}</${Fact}>
          ${message.headers && Object.entries(message.headers).map(([name, value]) => html`<${Fact} key=${name} name=${html`<code>${name}</code>`}><${Long} text=${value} /></${Fact}>`)}
        </dl></${Panel}>
      </div>
      <${Panel} title="What happened"><${Timeline} message=${message} acts=${audit ? audit.items : []} /></${Panel}>
      ${near && near.items.length > 0 && html`<${Panel} title=${`Neighbours of key ${message.key}`}>
        <${Table} label="Neighbours" rows=${[...near.items, message].sort((a, b) => a.sequence - b.sequence)} keyOf=${r => r.id} open=${r => go(`#/messages/${r.id}`)} cells=${[
          ['number', r => String(r.sequence), 'num'], ['message', r => r.id === id ? html`<strong>this one</strong>` : html`<a href=${`#/messages/${r.id}`}><code>${shortId(r.id)}</code></a>`],
          ['topic', r => topicOf(r), 'wide'], ['state', r => html`<${Badge} state=${r.state} />`], ['created', r => html`<${Time} at=${r.created_at} />`, 'num']]} />
      </${Panel}>`}
      <${Command} text=${`./postrider messages show ${id} --payload`} />
    </${Page}>`;
}
