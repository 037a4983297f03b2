// The first page: problems in words, then the numbers.
import { html, useState } from './lib.js';
import { Chart } from './charts.js';
import { duration, number, plural, rate, shortDuration, shortTime, topicOf } from './format.js';
import { flowBy, useLive } from './live.js';
import { breakerOf, destinations, destinationsOf, problems } from './problems.js';
import { Icon } from './icon.js';
import { searchOldest, searchTopic } from './query.js';
import { Badge, Command, Empty, Loading, Page, Panel, Table } from './ui.js';

// Round numbers of seconds, minutes, hours and days.
const TIME_STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000, 2592000];

const Tile = ({ name, value, note, kind, href }) => html`
  <a class=${`tile ${kind || ''}`} href=${href}>
    <span class="tile-name">${name}</span><span class="tile-value">${value}</span><span class="tile-note">${note}</span>
  </a>`;

const ETA_MS = 30000;

// How long until nothing waits: what leaves the queue minus what comes in, over the last half minute. The count of what
// waits is an estimate if it is large, so how it changed tells less.
export function eta(points) {
  const last = points[points.length - 1];
  if (!last || last[5] === 0) return null;
  let seconds = 0;
  let left = 0;
  points.forEach((p, i) => {
    if (i === 0 || p[0] <= last[0] - ETA_MS) return;
    const part = (p[0] - Math.max(points[i - 1][0], last[0] - ETA_MS)) / 1000;
    seconds += part;
    left += (p[2] + p[4] - p[1]) * part;
  });
  if (seconds < 8) return null;
  const drain = left / seconds;
  return drain > 0.05 ? `empty in about ${duration(last[5] / drain)}` : drain < -0.05 ? 'growing' : 'steady';
}

const Problem = ({ problem }) => html`
  <li class=${problem.level === 2 ? 'problem bad' : 'problem warn'}>
    <${Icon} path=${problem.level === 2 ? 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 5v3.5M8 11h.01' : 'M8 2.5L14.5 13.5H1.5zM8 6.5v3.5M8 11.7h.01'} />
    <div class="problem-text"><strong>${problem.title}</strong><p>${problem.text}</p></div>
    <${Command} text=${problem.command} />
    <a class="button" href=${problem.href}>${problem.action}</a>
  </li>`;

const PROBLEMS = 6;
const ROWS = 8;

function Problems({ found }) {
  const [all, setAll] = useState(false);
  return html`<ul class="problems" aria-label="Problems">${(all ? found : found.slice(0, PROBLEMS)).map(p => html`<${Problem} key=${p.title} problem=${p} />`)}</ul>
    ${found.length > PROBLEMS && html`<p><button type="button" onClick=${() => setAll(!all)}>${all ? 'Show the worst only' : `Show all ${number(found.length)} problems`}</button></p>`}`;
}

const worst = (all, bad) => [...all.filter(bad), ...all.filter(one => !bad(one))].slice(0, ROWS);
const allOf = (href, all) => html`<a href=${href}>${all.length > ROWS ? `All ${number(all.length)}` : 'All'}</a>`;

export function Overview({ theme }) {
  const { status, warnings, points, at } = useLive();
  if (!status) return html`<${Page} title="Overview"><${Loading} /></${Page}>`;
  const found = problems(status, at, warnings);
  const last = points[points.length - 1] || [];
  const ends = eta(points);
  const flow = flowBy(o => o.relay);
  const about = status.pending_estimated ? '~' : '';
  return html`
    <${Page} title="Overview">
      ${found.length ? html`<${Problems} found=${found} />`
        : html`<p class="well" role="status"><span class="dot good"></span>All is well. ${plural(status.relays.length, 'relay')}, ${
            status.pending === 0 ? 'nothing waits' : `${number(status.pending)} on their way`}, nothing is dead.</p>`}
      <div class="tiles">
        <${Tile} name="Pending" value=${about + number(status.pending)} note=${ends || (status.pending ? ' ' : 'nothing waits')} href="#/topics" />
        <${Tile} name="Oldest" value=${duration(status.oldest_age_seconds)} note="waiting time" kind=${status.oldest_age_seconds > 300 ? 'warn' : ''} href=${searchOldest(status.topics, at)} />
        <${Tile} name="In flight" value=${number(status.processing)} note=${status.stuck ? `${number(status.stuck)} past their lease` : 'under a lease'} href="#/relays" />
        <${Tile} name="Delivered" value=${`${rate(last[2])}/s`} note=${`${rate(last[1])}/s enqueued`} href="#/tail" />
        <${Tile} name="Latency" value=${last[7] === null || last[7] === undefined ? '–' : `${number(last[7])} ms`} note=${last[8] === null || last[8] === undefined ? 'no deliveries' : `99 % within ${number(last[8])} ms`} href="#/tail" />
        <${Tile} name="Dead" value=${number(status.dead)} note=${status.blocked_keys ? `${plural(status.blocked_keys, 'key')} blocked` : 'no key blocked'} kind=${status.dead ? 'bad' : ''} href="#/dead" />
      </div>
      <div class="charts">
        <${Chart} title="Messages per second" points=${points} theme=${theme} format=${rate} series=${[
          { label: 'enqueued', colour: '--chart-1', column: 1 }, { label: 'delivered', colour: '--chart-2', column: 2 },
          { label: 'retried', colour: '--chart-3', column: 3 }, { label: 'dead', colour: '--chart-4', column: 4 }]} />
        <${Chart} title="Pending" points=${points} theme=${theme} format=${v => number(Math.round(v))} series=${[{ label: 'messages', colour: '--chart-1', column: 5, fill: true }]} />
        <${Chart} title="Oldest pending" points=${points} theme=${theme} format=${duration} axis=${shortDuration} steps=${TIME_STEPS} series=${[{ label: 'age', colour: '--chart-3', column: 6, fill: true }]} />
        <${Chart} title="Delivery latency" points=${points} theme=${theme} format=${v => `${number(Math.round(v))} ms`} series=${[
          { label: 'p50', colour: '--chart-2', column: 7 }, { label: 'p99', colour: '--chart-5', column: 8 }]} />
      </div>
      <div class="columns">
        <${Panel} title="Topics" side=${allOf('#/topics', status.topics)}>
          ${status.topics.length ? html`<${Table} label="Topics" rows=${[...status.topics].sort((a, b) => b.pending + b.dead - a.pending - a.dead).slice(0, ROWS)} keyOf=${topicOf}
            cells=${[['topic', t => html`<a href=${searchTopic(t)}>${topicOf(t)}</a>`],
              ['pending', t => (t.estimated ? '~' : '') + number(t.pending), 'num'], ['oldest', t => t.pending ? duration(t.oldest_age_seconds) : '', 'num'],
              ['dead', t => t.dead ? html`<span class="bad-text">${number(t.dead)}</span>` : '', 'num'],
              ['to', t => destinationsOf(status, t).join(', ') || html`<${Badge} state="open">no route</${Badge}>`, 'wide']]} />`
            : html`<${Empty} title="Nothing waits and nothing is dead">Topics appear here while they have messages. Send one: <code>./postrider enqueue -n demo -t hello -p '{}'</code></${Empty}>`}
        </${Panel}>
        <div>
          <${Panel} title="Destinations" side=${allOf('#/destinations', destinations(status))}>
            ${destinations(status).length ? html`<${Table} label="Destinations" rows=${worst(destinations(status), d => breakerOf(d) !== 'closed' || d.paused)} keyOf=${d => d.name} cells=${[
              ['destination', d => d.name], ['type', d => d.type, 'wide'],
              ['breaker', d => d.paused ? html`<${Badge} state="paused" />` : breakerOf(d) ? html`<${Badge} state=${breakerOf(d)} />` : html`<span class="muted">no relay</span>`],
              ['waiting', d => number(d.waiting), 'num']]} />` : html`<${Empty} title="No destination">Relays name theirs when they start.</${Empty}>`}
          </${Panel}>
          <${Panel} title="Relays" side=${allOf('#/relays', status.relays)}>
            ${status.relays.length ? html`<${Table} label="Relays" rows=${worst(status.relays, r => r.lost)} keyOf=${r => r.name + r.instance} cells=${[
              ['relay', r => r.name], ['seen', r => r.lost ? html`<${Badge} state="open">lost</${Badge}>` : `${duration(r.seen_seconds_ago)} ago`],
              ['delivers', r => (flow ? `${rate(flow.get(r.name) || 0)}/s` : '–'), 'num'], ['in flight', r => number(r.in_flight), 'num']]} />`
              : html`<${Empty} title="No relay runs">Start one: <code>./postrider relay</code></${Empty}>`}
          </${Panel}>
        </div>
      </div>
      <p class="muted small">As of ${shortTime(at)}. Rates are means of the last six seconds; charts cover the last half hour.</p>
    </${Page}>`;
}
