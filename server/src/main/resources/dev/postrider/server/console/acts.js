// What operators do, each with its question, its command and what it says when it is done.
import { html } from './lib.js';
import { get, params, post, untilComplete } from './api.js';
import { Time, number, plural, quoted, topicOf } from './format.js';
import { follow, forget, live, refresh } from './live.js';
import { ask, useFetch } from './ui.js';

const after = (then, text) => { then(); refresh().catch(() => {}); return text; };
const flags = filter => Object.entries(filter).map(([name, value]) => ` --${name.replace(/_/g, '-')} ${quoted(value)}`).join('');

// Undoing asks nothing: it is on the screen for seconds only.
const undoable = (then, text, undone, path, body) => ({
  text: after(then, text), undo: () => post(path, body).then(() => after(then, undone)),
});

// Acts on a named subscription say so; others are about all subscriptions where the message is dead.
const only = subscription => (subscription ? { subscription } : undefined);
const onlyFlag = subscription => (subscription ? ` --subscription ${quoted(subscription)}` : '');

export const requeueOne = (id, then, subscription) => ask({
  title: 'Requeue this message?', text: 'It is delivered again under the same id, with attempts from zero.',
  verb: 'Requeue', command: `./postrider dead requeue ${id}${onlyFlag(subscription)} --yes`,
  run: async () => { await post(`/dead/${id}/requeue`, only(subscription)); return after(then, 'The message is on its way again.'); },
});

export const tryOne = (id, then, subscription) => ask({
  title: 'Try one first?', text: 'The newest message of this group is delivered again. You see here what becomes of it before you send the others.',
  verb: 'Requeue 1 message', command: `./postrider dead requeue ${id}${onlyFlag(subscription)} --yes`,
  run: async () => { await post(`/dead/${id}/requeue`, only(subscription)); return after(then, 'The message is on its way again.'); },
});

export const discardOne = (id, then, subscription) => ask({
  title: 'Discard this message?', text: 'It is not delivered. If its key waits for it, the key goes on without it. It stays in the database and can still be requeued.',
  verb: 'Discard 1 message', danger: true, reason: true, command: reason => `./postrider dead discard ${id}${onlyFlag(subscription)} --reason ${quoted(reason || '…')} --yes`,
  run: async reason => {
    await post(`/dead/${id}/discard`, { reason, ...only(subscription) });
    return undoable(then, 'The message is discarded.', 'The message is on its way again.', `/dead/${id}/requeue`, only(subscription));
  },
});

// Lists of ids are about all subscriptions, so those of one are sent one by one.
async function each(act, ids, body, subscription) {
  if (!subscription) return Number((await post(`/dead/${act}`, { ids, ...body })).count);
  for (const id of ids) await post(`/dead/${id}/${act}`, { ...body, subscription });
  return ids.length;
}

export const requeueSome = (ids, then, subscription) => ask({
  title: `Requeue ${plural(ids.length, 'message')}?`, text: 'They are delivered again under the same ids, oldest first.',
  verb: `Requeue ${number(ids.length)}`, command: `./postrider dead requeue ${ids.join(' ')}${onlyFlag(subscription)} --yes`,
  run: async () => after(then, `${plural(await each('requeue', ids, {}, subscription), 'message')} requeued.`),
});

export const discardSome = (ids, then, subscription) => ask({
  title: `Discard ${plural(ids.length, 'message')}?`, text: 'They are not delivered. They stay in the database and can still be requeued.',
  verb: `Discard ${number(ids.length)}`, danger: true, reason: true, command: reason => `./postrider dead discard ${ids.join(' ')}${onlyFlag(subscription)} --reason ${quoted(reason || '…')} --yes`,
  run: async reason => {
    const text = `${plural(await each('discard', ids, { reason }, subscription), 'message')} discarded.`;
    return {
      text: after(then, text),
      undo: async () => after(then, `${plural(await each('requeue', ids, {}, subscription), 'message')} requeued.`),
    };
  },
});

export const filterOf = group => {
  const filter = { namespace: group.namespace, topic: group.topic };
  if (group.only) filter.subscription = group.only;
  if (group.code) filter.code = group.code;
  return { ...filter, fingerprint: group.fingerprint };
};

// Those that were counted, and none that dies later.
const counted = group => ({ ...filterOf(group), to: group.until });

const FOLLOWED = 2000;

// The first of them, with their deliveries so far: what becomes of these is shown.
async function followable(filter) {
  const letters = new Map();
  let cursor;
  for (let i = 0; i < FOLLOWED / 500 && letters.size < FOLLOWED; i++) {
    const page = await get('/dead' + params({ ...filter, limit: 1000, cursor }));
    page.items.forEach(letter => letters.set(letter.id, letter.delivery));
    cursor = page.next;
    if (!cursor) break;
  }
  return letters;
}

export const requeueGroup = (group, count, then) => ask({
  title: `Requeue ${count} of ${topicOf(group)}?`, text: 'All with this error are delivered again, oldest first. Those that die from now on are left.',
  verb: `Requeue ${count}`, command: `./postrider dead requeue${flags(counted(group))} --yes`,
  run: async (reason, progress) => {
    const filter = counted(group);
    const run = live.connected && follow({ topic: topicOf(group), subscription: group.subscription || '', letters: await followable(filter) });
    try {
      const total = await untilComplete('/dead/requeue', { filter }, progress);
      if (run) run.total = total;
      return after(then, `${plural(total, 'message')} requeued.`);
    } catch (e) {
      if (run) forget(run);
      throw e;
    }
  },
});

export const discardGroup = (group, count, then) => ask({
  title: `Discard ${count} of ${topicOf(group)}?`, text: 'None with this error is delivered. They stay in the database: state:discarded finds them, and they can still be requeued.',
  verb: `Discard ${count}`, danger: true, reason: true, command: reason => `./postrider dead discard${flags(counted(group))} --reason ${quoted(reason || '…')} --yes`,
  run: async (reason, progress) => {
    const done = await untilComplete('/dead/discard', { filter: counted(group), reason }, progress);
    return after(then, `${plural(done, 'message')} discarded.`);
  },
});

// The messages that a retry or a skip lets go: the first ones, in their order.
function Followers({ of }) {
  const { data } = useFetch(`/messages/${of.head}/neighbours`);
  const next = data ? data.items.filter(m => m.sequence > of.sequence && m.state !== 'delivered') : [];
  return next.length > 0 && html`<p class="muted small">Behind it, in this order:</p><ol class="followers" start=${String(next[0].sequence)}>${next.map(m => html`
    <li key=${m.id} value=${String(m.sequence)}>${topicOf(m)}${m.event_type ? ` · ${m.event_type}` : ''} <span class="muted">enqueued <${Time} at=${m.created_at} /></span></li>`)}</ol>
    ${of.followers > next.length && html`<p class="muted small">and ${number(of.followers - next.length)}${of.followers >= 1000 ? '+' : ''} more.</p>`}`;
}

// Keys of a named subscription are those of its topic.
const keyBody = key => ({ namespace: key.namespace, key: key.key, ...(key.route.subscription ? { topic: key.route.topic, subscription: key.route.subscription } : {}) });
const keyWords = key => `${quoted(key.namespace)} ${quoted(key.key)}${key.route.subscription ? ` --topic ${quoted(key.route.topic)} --subscription ${quoted(key.route.subscription)}` : ''}`;

export const retryKey = (key, then) => ask({
  title: `Retry key ${key.key}?`, text: `Its dead message is tried again. If it is delivered, ${key.followers === 1 ? 'the message' : `the ${number(key.followers)}${key.followers >= 1000 ? '+' : ''} messages`} behind it follow in order. If it dies again, they wait on.`,
  verb: 'Retry', command: `./postrider keys retry ${keyWords(key)}`,
  about: html`<${Followers} of=${key} />`,
  run: async () => { await post('/keys/retry', keyBody(key)); return after(then, `${key.key}: the first message is tried again.`); },
});

export const skipKey = (key, then) => ask({
  title: `Skip the dead message of key ${key.key}?`, text: `It is discarded, and ${key.followers === 1 ? 'the message behind it is' : `the ${number(key.followers)}${key.followers >= 1000 ? '+' : ''} messages behind it are`} delivered without it.`,
  verb: 'Skip 1 message', danger: true, reason: true, command: reason => `./postrider keys skip ${keyWords(key)} --reason ${quoted(reason || '…')} --yes`,
  about: html`<${Followers} of=${key} />`,
  run: async reason => { await post('/keys/skip', { ...keyBody(key), reason }); return after(then, `${key.key} goes on without it.`); },
});

export const pauseDestination = (d, then) => ask({
  title: `Pause destination ${d.name}?`, text: `Nothing is sent to it until somebody resumes it. Its messages stay pending; ${number(d.waiting)} wait now.`,
  verb: 'Pause', danger: true, command: `./postrider pause destination ${quoted(d.name)}`,
  run: async () => {
    await post('/destinations/pause', { name: d.name });
    return undoable(then, `Destination ${d.name} is paused.`, `Destination ${d.name} goes on.`, '/destinations/resume', { name: d.name });
  },
});

export const resumeDestination = (d, then) => ask({
  title: `Resume destination ${d.name}?`, text: `${number(d.waiting)} messages wait for it.`,
  verb: 'Resume', command: `./postrider resume destination ${quoted(d.name)}`,
  run: async () => { await post('/destinations/resume', { name: d.name }); return after(then, `Destination ${d.name} goes on.`); },
});

const topicBody = t => ({ namespace: t.namespace, topic: t.topic, ...only(t.subscription) });
const kind = t => (t.subscription ? 'subscription' : 'topic');

export const pauseTopic = (t, then) => ask({
  title: `Pause ${kind(t)} ${topicOf(t)}?`, text: `Its messages stay pending; ${number(t.pending)} wait now. Keys that also have messages of other topics wait as a whole.`,
  verb: 'Pause', danger: true, command: `./postrider pause ${kind(t)} ${quoted(topicOf(t))}`,
  run: async () => {
    await post(`/${kind(t)}s/pause`, topicBody(t));
    return undoable(then, `${topicOf(t)} is paused.`, `${topicOf(t)} goes on.`, `/${kind(t)}s/resume`, topicBody(t));
  },
});

export const resumeTopic = (t, then) => ask({
  title: `Resume ${kind(t)} ${topicOf(t)}?`, text: `${number(t.pending)} of its messages wait.`,
  verb: 'Resume', command: `./postrider resume ${kind(t)} ${quoted(topicOf(t))}`,
  run: async () => { await post(`/${kind(t)}s/resume`, topicBody(t)); return after(then, `${topicOf(t)} goes on.`); },
});

export const replayOne = (message, then) => ask({
  title: 'Send this message again?', text: 'It was delivered. Receivers get it once more under the same id, marked as a redelivery.',
  verb: 'Replay 1 message', danger: true, command: `./postrider replay --id ${message.id} --yes`,
  run: async () => { await post('/replays', { ids: [message.id] }); return after(then, 'The replay has started.'); },
});
