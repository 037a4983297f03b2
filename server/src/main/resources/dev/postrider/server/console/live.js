// What the server tells all consoles: one stream for the whole page.
import { get, readJson } from './api.js';
import { useEffect, useState } from './lib.js';

const KEPT_MS = 1800000;
const OUTCOMES = 500;

const listeners = new Set();
let source = null;
let waiting = false;

export const live = { connected: false, since: 0, status: null, warnings: [], points: [], outcomes: [], passed: 0, deaths: 0, at: null };

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
  }
  if (event.points) {
    const last = live.points.length ? live.points[live.points.length - 1][0] : 0;
    const points = live.points.concat(event.points.filter(point => point[0] > last));
    const newest = points.length ? points[points.length - 1][0] : 0;
    live.points = points.filter(point => point[0] > newest - KEPT_MS);
  }
  if (event.outcomes) {
    live.outcomes = live.outcomes.concat(event.outcomes).slice(-OUTCOMES);
    live.passed += event.more || 0;
    live.deaths += event.outcomes.filter(outcome => outcome.state === 'failed').length;
  }
  changed();
}

// The browser opens the stream again by itself, unless the server refuses it.
export function watch(refused) {
  if (source) return;
  source = new EventSource('../v1/live');
  source.onopen = () => { live.connected = true; changed(); };
  source.onmessage = message => take(readJson(message.data));
  source.onerror = () => {
    const gone = source && source.readyState === EventSource.CLOSED;
    // Streams end after a minute; only a longer break is worth a word.
    setTimeout(() => {
      if (!source || source.readyState !== EventSource.OPEN) { live.connected = false; changed(); }
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
