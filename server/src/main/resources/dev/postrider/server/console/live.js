// What the server tells all consoles: one stream for the whole page.
import { get, readJson } from './api.js';
import { useEffect, useState } from './lib.js';

const KEPT_MS = 1800000;
export const KEPT = 500;
const FLOW_MS = 10000;

const listeners = new Set();
let source = null;
let waiting = false;

// since: the first connection; lost: since when the server does not answer; heard: when the last sample came, by the browser's clock.
export const live = { connected: false, since: 0, lost: 0, heard: 0, status: null, warnings: [], points: [], outcomes: [], passed: 0, deaths: 0, at: null };

// The last seconds of outcomes, for rates: [when, outcomes, how many each stands for].
let flow = [];
const runs = [];

// Deliveries per second of the last ten seconds, by what nameOf says of each outcome; null until two seconds are known.
export function flowBy(nameOf) {
  const seconds = live.since ? Math.min(FLOW_MS, Date.now() - live.since) / 1000 : 0;
  if (seconds < 2) return null;
  const rates = new Map();
  flow.forEach(([at, outcomes, each]) => at > Date.now() - FLOW_MS && outcomes.forEach(outcome => {
    if (outcome.state === 'dispatched') rates.set(nameOf(outcome), (rates.get(nameOf(outcome)) || 0) + each / seconds);
  }));
  return rates;
}

// Counts what becomes of messages that were requeued. letters: which, with the deliveries they had before; missed: outcomes that the server did not show one by one.
export function follow(run) {
  const all = { ...run, of: run.letters.size, at: Date.now(), delivered: 0, dead: 0, missed: 0 };
  runs.push(all);
  if (runs.length > 3) runs.shift();
  changed();
  return all;
}
export const followed = () => runs;
export const forget = run => { runs.splice(runs.indexOf(run), 1); changed(); };

function count(event) {
  const each = (event.outcomes.length + (event.more || 0)) / event.outcomes.length;
  flow = flow.filter(([at]) => at > Date.now() - FLOW_MS).concat([[Date.now(), event.outcomes, each]]);
  runs.forEach(run => {
    run.missed += event.more || 0;
    event.outcomes.forEach(outcome => {
      const settled = outcome.state === 'dispatched' || outcome.state === 'failed';
      if (!settled || (outcome.subscription || '') !== run.subscription || !(run.letters.get(outcome.id) < outcome.delivery)) return;
      run.letters.delete(outcome.id);
      if (outcome.state === 'dispatched') run.delivered++;
      else run.dead++;
    });
  });
}

function changed() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    listeners.forEach(listener => listener());
  }, 50);
}

function take(event) {
  if (event.status) {
    live.status = event.status;
    live.warnings = event.warnings || [];
    live.at = event.at;
    live.heard = Date.now();
  }
  if (event.points) {
    const last = live.points.length ? live.points[live.points.length - 1][0] : 0;
    const points = live.points.concat(event.points.filter(point => point[0] > last));
    const newest = points.length ? points[points.length - 1][0] : 0;
    live.points = points.filter(point => point[0] > newest - KEPT_MS);
  }
  if (event.outcomes && event.outcomes.length) {
    count(event);
    live.outcomes = live.outcomes.concat(event.outcomes).slice(-KEPT);
    live.passed += event.more || 0;
    live.deaths += event.outcomes.filter(outcome => outcome.state === 'failed').length;
  }
  changed();
}

// The browser opens the stream again by itself, unless the server refuses it.
export function watch(refused) {
  if (source) return;
  source = new EventSource('../v1/live');
  source.onopen = () => { live.connected = true; live.lost = 0; live.since = live.since || Date.now(); changed(); };
  source.onmessage = message => take(readJson(message.data));
  source.onerror = () => {
    const gone = source && source.readyState === EventSource.CLOSED;
    // Streams end after a minute; only a longer break is worth a word.
    setTimeout(() => {
      if (source && source.readyState === EventSource.OPEN) return;
      live.connected = false;
      live.lost = live.lost || Date.now();
      changed();
    }, 2500);
    if (gone) {
      unwatch();
      refused();
    }
  };
}

export function unwatch() {
  if (source) source.close();
  source = null;
  live.connected = false;
}

// After an act: the next sample may be two seconds away.
export async function refresh() {
  live.status = await get('/status');
  changed();
}

export function useLive() {
  const [, again] = useState(0);
  useEffect(() => {
    const listener = () => again(n => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return live;
}
