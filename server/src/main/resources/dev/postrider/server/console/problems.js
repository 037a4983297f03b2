// What is wrong, from a sample of the status: the worst first, each with a cause and what to do about it.
import { duration, number, plural, quoted, shortTime, topicOf } from './format.js';
import { searchOldest } from './query.js';

const FOLLOWERS = 1000; // are not counted further

const living = relays => relays.filter(relay => !relay.lost);

// The destinations to which living relays send a topic: of each relay the most specific route.
export function destinationsOf(status, topic) {
  const names = new Set();
  living(status.relays).forEach(relay => {
    const fit = relay.routes
      .filter(r => r.subscription === (topic.subscription || '') && (r.namespace === '*' || r.namespace === topic.namespace) && (r.topic === '*' || r.topic === topic.topic))
      .sort((a, b) => (a.namespace === '*') - (b.namespace === '*') || (a.topic === '*') - (b.topic === '*'));
    if (fit.length) names.add(fit[0].destination);
  });
  return [...names].sort();
}

// Destinations with what all relays say about them. A destination is down if no relay reaches it.
export function destinations(status) {
  const all = new Map();
  const of = name => {
    if (!all.has(name)) all.set(name, { name, type: null, relays: [], open: [], probing: [], openTargets: 0, since: null, probe: null, paused: null, waiting: 0, topics: [] });
    return all.get(name);
  };
  living(status.relays).forEach(relay => relay.destinations.forEach(served => {
    const one = of(served.name);
    one.type = served.type;
    one.relays.push(relay.name);
    one.openTargets += served.open_targets;
    if (served.breaker === 'open') one.open.push(relay.name);
    if (served.breaker === 'half_open') one.probing.push(relay.name);
    if (served.breaker !== 'closed' && (!one.since || served.since < one.since)) one.since = served.since;
    if (served.probe_at && (!one.probe || served.probe_at < one.probe)) one.probe = served.probe_at;
  }));
  status.paused.filter(p => p.kind === 'destination').forEach(p => { of(p.name).paused = p; });
  status.topics.forEach(topic => destinationsOf(status, topic).forEach(name => {
    of(name).waiting += topic.pending;
    of(name).topics.push(topic);
  }));
  return [...all.values()].sort((a, b) => a.name.localeCompare(b.name));
}

export const breakerOf = d => (!d.relays.length ? null
  : d.open.length + d.probing.length < d.relays.length ? (d.open.length + d.probing.length ? 'half_open' : 'closed')
    : d.open.length ? 'open' : 'half_open');

const ABOUT = {
  transactions: 'An old transaction', vacuum: 'Vacuum does not keep up', partitions: 'Partitions are missing', sequences: 'Sequences are behind',
  retention: 'Retention does not work', 'old rows': 'Old rows are not removed',
};

// The status has the 100 topics with the most: there may be more messages than those.
const waits = (n, more) => (more ? (n ? `${number(n)} or more messages wait` : 'Its messages wait') : n === 1 ? '1 message waits' : `${number(n)} messages wait`);

// As of the time of the sample: the browser's clock may be another.
const nextProbe = (probe, at) => {
  const seconds = probe ? Math.ceil((Date.parse(probe) - Date.parse(at)) / 1000) : 0;
  return seconds > 0 ? `The next probe is in ${duration(seconds)}.` : 'It is being probed now.';
};

const blockedKey = k => `${k.key}${k.route.subscription ? ` of ${topicOf(k.route)}` : ''} since ${shortTime(k.blocked_at)} with ${number(k.followers)}${k.followers >= FOLLOWERS ? ' or more' : ''} behind`;

const sum = (all, of) => all.reduce((total, one) => total + of(one), 0);

// A few by name, the others together: a hundred of one kind must not hide another kind.
const EACH = 3;
function some(all, one, rest) {
  const named = all.length === EACH + 1 ? EACH + 1 : EACH;
  all.slice(0, named).forEach(one);
  if (all.length > named) rest(all.slice(named));
}

export function problems(status, at, warnings = []) {
  const found = [];
  const add = (level, title, text, href, action, command) => found.push({ level, title, text, href, action, command });
  const alive = living(status.relays);

  if (!alive.length) {
    add(status.pending > 0 ? 2 : 1, 'No relay runs', `${waits(status.pending)}. Nothing is delivered until a relay starts.`,
      '#/relays', 'Relays', './postrider relay');
  }
  const all = destinations(status);
  some(all.filter(d => breakerOf(d) === 'open'), d => {
    add(2, `Destination ${d.name} is down since ${shortTime(d.since)}`,
      `${waits(d.waiting, status.topics_more)}. ${d.relays.length === 1 ? `Relay ${d.relays[0]} does` : `All ${d.relays.length} relays do`} not reach it. `
      + `${nextProbe(d.probe, at)} Nothing dies meanwhile.`,
      '#/destinations', 'Destinations', './postrider status');
  }, more => add(2, `${number(more.length)} more destinations are down`, `${waits(sum(more, d => d.waiting), status.topics_more)}.`, '#/destinations', 'Destinations', './postrider status'));
  some(status.unrouted, route => {
    const topic = status.topics.find(t => topicOf(t) === topicOf(route));
    add(2, `No relay has a route for ${topicOf(route)}`, `${waits(topic ? topic.pending : 0, !topic && status.topics_more)}. Add a route to the configuration of a relay.`,
      '#/topics', 'Topics', './postrider doctor');
  }, more => add(2, `No relay has a route for ${number(more.length)} more topics`, 'Add routes to the configuration of a relay.', '#/topics', 'Topics', './postrider doctor'));
  if (status.blocked_keys > 0) {
    const many = number(status.blocked_keys) + (status.blocked_keys_at_least ? '+' : '');
    add(1, `${many} ${status.blocked_keys === 1 ? 'key is' : 'keys are'} blocked`,
      `${[...status.blocked.map(blockedKey), ...(status.blocked_keys > status.blocked.length ? ['others'] : [])].join('; ')}. They wait in order behind a dead message until you retry or skip it.`,
      '#/keys', 'Keys', './postrider keys list');
  }
  if (status.dead > 0) {
    const topics = status.topics.filter(t => t.dead > 0);
    add(1, `${status.dead_estimated ? 'About ' : ''}${plural(status.dead, 'dead letter')}`,
      topics.length === 1 ? `All of topic ${topicOf(topics[0])}.` : `In ${topics.length} topics: ${topics.slice(0, 4).map(topicOf).join(', ')}${topics.length > 4 ? '…' : '.'}`,
      '#/dead', 'Dead letters', './postrider dead list');
  }
  some(all.filter(d => breakerOf(d) !== 'open' && d.open.length + d.probing.length > 0), d => {
    add(1, `Destination ${d.name} is being probed`, `${plural(d.open.length + d.probing.length, 'relay')} of ${d.relays.length} could not reach it since ${shortTime(d.since)}.`,
      '#/destinations', 'Destinations', './postrider status');
  }, more => add(1, `${number(more.length)} more destinations are being probed`, 'Some relays could not reach them.', '#/destinations', 'Destinations', './postrider status'));
  some(all.filter(d => d.openTargets > 0), d => {
    add(1, `${plural(d.openTargets, 'target')} of ${d.name} ${d.openTargets === 1 ? 'fails' : 'fail'}`,
      'Messages for other targets go on. Relays probe the failing ones.', '#/destinations', 'Destinations', './postrider status');
  }, more => add(1, `Targets of ${number(more.length)} more destinations fail`, 'Messages for other targets go on.', '#/destinations', 'Destinations', './postrider status'));
  some(all.filter(d => d.paused), d => {
    add(1, `Destination ${d.name} is paused`, `By ${d.paused.paused_by} since ${shortTime(d.paused.paused_at)}. ${waits(d.waiting, status.topics_more)}.`,
      '#/destinations', 'Destinations', `./postrider resume destination ${quoted(d.name)}`);
  }, more => add(1, `${number(more.length)} more destinations are paused`, `${waits(sum(more, d => d.waiting), status.topics_more)}.`, '#/destinations', 'Destinations', './postrider status'));
  some(status.paused.filter(p => p.kind !== 'destination'), p => {
    const topic = status.topics.find(t => topicOf(t) === p.name.replace(/#default$/, ''));
    add(1, `${p.kind === 'topic' ? 'Topic' : 'Subscription'} ${p.name} is paused`, `By ${p.paused_by} since ${shortTime(p.paused_at)}. ${waits(topic ? topic.pending : 0, !topic && status.topics_more)}.`,
      '#/topics', 'Topics', `./postrider resume ${p.kind} ${quoted(p.name)}`);
  }, more => add(1, `${number(more.length)} more topics are paused`, 'Operators paused them.', '#/topics', 'Topics', './postrider status'));
  some(alive.length ? status.relays.filter(relay => relay.lost) : [], relay => {
    add(1, `Relay ${relay.name} is lost`, `It was last seen ${duration(relay.seen_seconds_ago)} ago`
      + (relay.in_flight ? ` and holds ${plural(relay.in_flight, 'message')}. They return when its leases end.` : '.'),
      '#/relays', 'Relays', './postrider status');
  }, more => add(1, `${number(more.length)} more relays are lost`, 'They were not seen for two minutes. Their messages return when their leases end.', '#/relays', 'Relays', './postrider status'));
  if (status.stuck > 0) {
    add(1, `${plural(status.stuck, 'message')} under a lease that is over`, 'A relay returns them to the queue within a minute.',
      '#/relays', 'Leases', './postrider status');
  }
  warnings.forEach(w => add(1, ABOUT[w.about] || w.about, `${w.text}. ${w.advice}`, '#/retention', 'Retention', './postrider doctor'));
  const explained = found.some(p => p.level === 2) || status.paused.length > 0 || status.blocked_keys > 0;
  if (status.oldest_age_seconds > 300 && !explained) {
    const oldest = [...status.topics].sort((a, b) => b.oldest_age_seconds - a.oldest_age_seconds)[0];
    add(1, `The oldest message has waited for ${duration(status.oldest_age_seconds)}`, `It is of topic ${topicOf(oldest)}.`,
      searchOldest([oldest], at), 'Find it', './postrider status');
  }
  return found.sort((a, b) => b.level - a.level);
}
