// Keys that wait for an operator, and the way to the sequence of any key.
import { html, useState } from './lib.js';
import { params } from './api.js';
import { retryKey, skipKey } from './acts.js';
import { duration, number, plural, quoted, shortId } from './format.js';
import { useLive } from './live.js';
import { search, word } from './query.js';
import { Command, Empty, Failed, Loading, Page, Panel, Table, go, useFetch } from './ui.js';

const MOST = 1000;
const many = keys => `${plural(keys.reduce((sum, k) => sum + k.followers, 0), 'message')}${keys.some(k => k.followers >= MOST) ? ' or more' : ''}`;

const sequence = (namespace, key) => search(word('namespace', namespace), word('key', key));

export function Keys({ may }) {
  const { deaths, status } = useLive();
  const [cursor, setCursor] = useState('');
  const { data, error, reload } = useFetch('/keys/blocked' + params({ limit: 50, cursor }), 5000, `${deaths}/${status ? status.blocked_keys : ''}`);
  const [namespace, setNamespace] = useState('');
  const [key, setKey] = useState('');
  return html`
    <${Page} title="Keys" actions=${html`<button type="button" onClick=${reload}>Refresh</button>`}>
      <${Panel} title="Blocked by a dead message">
        <${Failed} error=${error} />
        ${!data && !error && html`<${Loading} />`}
        ${data && !data.items.length && html`<${Empty} title="No key is blocked">A topic with the policy “block” stops a key at its dead message, so that later messages of the key do not overtake it.</${Empty}>`}
        ${data && data.items.length > 0 && html`
          <p class="muted">${plural(data.items.length, 'key')}${data.next ? ' on this page' : ''}, ${many(data.items)} behind. <strong>Retry</strong> sends the dead message again, then those behind it follow in order. <strong>Skip</strong> lets them go without it. Other keys are not affected.</p>
          <${Table} label="Blocked keys" rows=${data.items} keyOf=${k => k.head} open=${k => go(`#/messages/${k.head}`)} cells=${[
            ['key', k => html`<a href=${sequence(k.namespace, k.key)}>${k.key}</a> <span class="muted wide">${k.namespace}</span>`],
            ['for', k => duration(k.blocked_seconds), 'num'],
            ['behind', k => number(k.followers) + (k.followers >= MOST ? '+' : ''), 'num'],
            ['dead message', k => html`<a href=${`#/messages/${k.head}`}><code title=${k.head}>${shortId(k.head)}</code></a> <span class="muted">#${String(k.sequence)}</span>`, 'wide'],
            ['topic', k => k.route.topic + (k.route.subscription ? `#${k.route.subscription}` : ''), 'wide'], ['code', k => k.code || '', 'wide'],
            ['', k => may.operate && html`<span class="row-acts"><button type="button" class="small primary" data-key="r" onClick=${() => retryKey(k, reload)}>Retry</button>
              <button type="button" class="small" onClick=${() => skipKey(k, reload)}>Skip…</button></span>`, 'num']]} />
          <nav class="pager" aria-label="Pages">
            ${cursor && html`<button type="button" onClick=${() => setCursor('')}>First page</button>`}
            ${data.next && html`<button type="button" onClick=${() => setCursor(data.next)}>More</button>`}</nav>
          <${Command} text="./postrider keys list" />`}
      </${Panel}>
      <${Panel} title="The sequence of a key">
        <form class="inline" onSubmit=${e => { e.preventDefault(); go(sequence(namespace.trim(), key.trim())); }}>
          <label>Namespace <input required value=${namespace} onInput=${e => setNamespace(e.target.value)} list="namespaces" /></label>
          <label>Key <input required value=${key} onInput=${e => setKey(e.target.value)} /></label>
          <button type="submit">Show</button>
          <datalist id="namespaces">${[...new Set((status ? status.topics : []).map(t => t.namespace))].map(n => html`<option value=${n} />`)}</datalist>
        </form>
        <p class="muted small">All messages of the key in their order, delivered ones too, the newest first.</p>
        <${Command} text=${`./postrider messages search --namespace ${quoted(namespace.trim() || 'NAMESPACE')} --key ${quoted(key.trim() || 'KEY')}`} />
      </${Panel}>
    </${Page}>`;
}
