// Numbers, times and sizes as people read them.
import { html } from './lib.js';

const whole = new Intl.NumberFormat('en');
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' });

export const number = n => (n === undefined || n === null ? '' : whole.format(n));

export const rate = n => (n === undefined || n === null ? '–' : n >= 100 ? whole.format(Math.round(n)) : n.toFixed(n >= 10 ? 1 : 2).replace(/\.?0+$/, ''));

export const plural = (n, one, many) => `${number(n)} ${n === 1 ? one : many || one + 's'}`;

// As the command line writes them: 2m 5s.
export function duration(seconds) {
  if (seconds === undefined || seconds === null) return '';
  const s = Math.max(0, seconds);
  if (s < 1) return s === 0 ? '0s' : '<1s';
  const units = [[86400, 'd', 3600, 'h'], [3600, 'h', 60, 'm'], [60, 'm', 1, 's']];
  const [size, name, part, rest] = units.find(([least]) => s >= least) || [];
  return size ? `${Math.floor(s / size)}${name} ${Math.floor((s % size) / part)}${rest}` : `${Math.floor(s)}s`;
}

// On an axis, where the second unit is left out if it is zero.
export const shortDuration = seconds => duration(Math.round(seconds)).replace(/ 0[smh]$/, '');

export const period = seconds => {
  const units = [[86400, 'day'], [3600, 'hour'], [60, 'minute']];
  const unit = units.find(([size]) => seconds >= size && seconds % size === 0);
  return unit ? plural(seconds / unit[0], unit[1]) : duration(seconds);
};

export const bytes = n => (n < 1024 ? `${n} bytes` : n < 1048576 ? `${(n / 1024).toFixed(1)} kB` : `${(n / 1048576).toFixed(1)} MB`);

export const ago = at => duration((Date.now() - Date.parse(at)) / 1000);

export const shortTime = at => {
  const time = new Date(at);
  const today = time.toDateString() === new Date().toDateString();
  return today ? clock.format(time) : `${day.format(time)} ${clock.format(time)}`;
};

// Local time. The title has UTC.
export const Time = ({ at, relative }) => at
  ? html`<time datetime=${at} title=${new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC')}>${
      relative ? `${ago(at)} ago` : shortTime(at)}</time>`
  : null;

// The first part is the time, which a narrow screen has no room for.
export const shortId = id => html`<span class="wide">${id.slice(0, 8)}</span>…${id.slice(-6)}`;

// As commands and pauses name it. A named subscription follows its topic; the default one has no name.
export const topicOf = item => `${item.namespace.replace(/%/g, '%25').replace(/\//g, '%2F')}/${item.topic}${item.subscription ? `#${item.subscription}` : ''}`;

// One word for a shell.
export const quoted = text => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replace(/'/g, "'\\''")}'`);
