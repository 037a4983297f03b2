// The query line: words like topic:orders, in any order. It lives in the address, so a search can be sent to others.

import { quoted } from './format.js';

export const FIELDS = {
  namespace: 'namespace', topic: 'topic', key: 'ordering key (needs namespace)', tenant: 'tenant',
  type: 'type of event', aggregate: 'type/id of an aggregate', state: 'pending, processing, delivered, dead, discarded',
  code: 'error code of dead messages', since: 'such as 15m, 2h, 7d', until: 'such as 15m, or a time', id: 'message id',
};
const STATES = ['pending', 'processing', 'delivered', 'dead', 'discarded'];
const QUOTED = /"((?:[^"\\]|\\.)*)"?/gs;
const WORDS = /(?:[^\s"]+|"(?:[^"\\]|\\.)*"?)+/gs;
const UNITS = { s: 1, m: 60, h: 3600, d: 86400 };

// Dead messages have a call and a command of their own, which know their codes.
const resting = query => ['dead', 'discarded'].includes(query.state) || (!query.state && query.code);

export function parse(line) {
  const query = {};
  const errors = [];
  for (const word of line.match(WORDS) || []) {
    const colon = word.indexOf(':');
    const name = colon < 0 ? '' : word.slice(0, colon);
    const value = word.slice(colon + 1).replace(QUOTED, (all, inside) => inside.replace(/\\(.)/gs, '$1'));
    if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(word)) query.id = word;
    else if (!(name in FIELDS)) errors.push(`${word}: expected ${Object.keys(FIELDS).join(':, ')}: or an id`);
    else if (!value) errors.push(`${name}: needs a value`);
    else query[name] = value;
  }
  if (query.state && !STATES.includes(query.state)) errors.push(`state: must be one of ${STATES.join(', ')}`);
  if (query.code && query.state && !resting(query)) errors.push('code: goes with state:dead or state:discarded');
  if (query.key && !query.namespace) errors.push('key: needs namespace:, since keys are counted within one');
  return { query, errors };
}

const SHORT = /^(\d+)([smhd])$/;

export function time(text) {
  const short = SHORT.exec(text);
  const at = short ? Date.now() - short[1] * UNITS[short[2]] * 1000 : Date.parse(text);
  return Number.isNaN(at) ? text : new Date(at).toISOString();
}

// Values with spaces or quotes are quoted, with a backslash before quotes and backslashes inside.
export const word = (name, value) => `${name}:${/[\s"\\]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value}`;

export const search = (...words) => `#/messages?q=${encodeURIComponent(words.join(' '))}`;
export const searchTopic = (topic, ...words) => search(word('namespace', topic.namespace), word('topic', topic.topic), ...words);

// The oldest message that waits is found at once, however many were delivered since: the search begins at its time.
export function searchOldest(topics, at) {
  const oldest = [...topics].sort((a, b) => b.oldest_age_seconds - a.oldest_age_seconds)[0];
  if (!oldest) return search('state:pending');
  const time = new Date(Date.parse(at) - oldest.oldest_age_seconds * 1000 + 2000).toISOString();
  return searchTopic(oldest, 'state:pending', `until:${time.slice(0, 19)}Z`);
}

export function toCall(query) {
  const [aggregateType, ...aggregateId] = (query.aggregate || '').split('/');
  const values = {
    namespace: query.namespace, topic: query.topic, key: query.key, tenant: query.tenant, event_type: query.type,
    aggregate_type: aggregateType || undefined, aggregate_id: aggregateId.join('/') || undefined,
    from: query.since && time(query.since), to: query.until && time(query.until),
  };
  return resting(query)
    ? { path: '/dead', values: { ...values, code: query.code, resolution: query.state === 'discarded' ? 'discarded' : undefined, order: 'newest' } }
    : { path: '/messages', values: { ...values, state: query.state } };
}

export function toCommand(query) {
  const age = text => (text && !SHORT.test(text) ? time(text) : text);
  const flag = (name, value) => (value ? ` --${name} ${quoted(value)}` : '');
  const [aggregateType, ...aggregateId] = (query.aggregate || '').split('/');
  return `./postrider ${resting(query) ? 'dead list' : 'messages search'}` + flag('namespace', query.namespace) + flag('topic', query.topic)
    + flag('key', query.key) + flag('tenant', query.tenant) + flag('event-type', query.type) + flag('aggregate-type', aggregateType)
    + flag('aggregate-id', aggregateId.join('/')) + flag('code', query.code)
    + (resting(query) ? '' : flag('state', query.state)) + flag('from', age(query.since)) + flag('to', age(query.until))
    + (query.state === 'discarded' ? ' --discarded' : '');
}

// What could come next at the end of the line.
export function completions(line, status, codes) {
  const word = /\S*$/.exec(line)[0];
  const head = line.slice(0, line.length - word.length);
  const colon = word.indexOf(':');
  if (colon < 0) {
    return Object.entries(FIELDS).filter(([name]) => name.startsWith(word) && !head.includes(`${name}:`))
      .map(([name, about]) => ({ line: `${head}${name}:`, text: `${name}:`, about }));
  }
  const name = word.slice(0, colon);
  const start = word.slice(colon + 1);
  const topics = status ? status.topics : [];
  const values = {
    namespace: topics.map(t => t.namespace), topic: topics.map(t => t.topic), state: STATES, code: codes,
    since: ['15m', '1h', '24h', '7d'], until: ['15m', '1h'],
  }[name] || [];
  return [...new Set(values)].filter(value => value.startsWith(start) && value !== start)
    .map(value => ({ line: `${head}${name}:${value} `, text: `${name}:${value}`, about: '' }));
}
