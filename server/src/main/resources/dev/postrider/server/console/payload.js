// A payload as text: JSON is indented and folds, everything else is shown as it is. Never as HTML.
import { html, useState } from './lib.js';
import { ExactNumber } from './api.js';
import { bytes, number } from './format.js';
import { Copy } from './ui.js';

const OPEN_DEPTH = 3;
const OPEN_NODES = 300;
const ITEMS_MAX = 200;
const TEXT_MAX = 20000;

const short = text => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}… ${number(text.length - TEXT_MAX)} more characters; download it to see them` : text);

const Leaf = ({ value }) => value === null ? html`<span class="json-word">null</span>`
  : value instanceof ExactNumber || typeof value === 'number' ? html`<span class="json-number">${String(value)}</span>`
    : typeof value === 'boolean' ? html`<span class="json-word">${String(value)}</span>`
      : html`<span class="json-text">${short(JSON.stringify(value))}</span>`;

const isLeaf = value => value === null || typeof value !== 'object' || value instanceof ExactNumber;

// To which depth a value is shown at once: as deep as a screen or two can hold.
function depthOf(root) {
  let level = [root];
  let count = 0;
  for (let depth = 0; depth < OPEN_DEPTH; depth++) {
    const below = [];
    for (const value of level) {
      for (const item of isLeaf(value) ? [] : Object.values(value)) {
        if (++count > OPEN_NODES) return Math.max(1, depth);
        below.push(item);
      }
    }
    level = below;
  }
  return OPEN_DEPTH;
}

// What is folded is not made: payloads can be nested deeply.
function Node({ name, value, depth, deepest }) {
  const [open, setOpen] = useState(depth < deepest);
  const label = name === undefined ? null : html`<span class="json-name">${name}</span>: `;
  if (isLeaf(value)) return html`<div class="json-line">${label}<${Leaf} value=${value} /></div>`;
  const list = Array.isArray(value);
  const entries = Object.entries(value);
  const size = list ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length) return html`<div class="json-line">${label}${list ? '[]' : '{}'}</div>`;
  return html`
    <details class="json" open=${open} onToggle=${e => setOpen(e.target.open)}>
      <summary>${label}<span class="muted">${size}</span></summary>
      ${open && entries.slice(0, ITEMS_MAX).map(([key, item]) => html`<${Node} key=${key} name=${list ? undefined : key} value=${item} depth=${depth + 1} deepest=${deepest} />`)}
      ${open && entries.length > ITEMS_MAX && html`<div class="muted">${entries.length - ITEMS_MAX} more; download it to see them</div>`}
    </details>`;
}

function text(value, indent = '') {
  if (value instanceof ExactNumber) return value.source;
  if (isLeaf(value)) return JSON.stringify(value);
  const inner = indent + '  ';
  const list = Array.isArray(value);
  const parts = Object.entries(value).map(([key, item]) => inner + (list ? '' : JSON.stringify(key) + ': ') + text(item, inner));
  return !parts.length ? (list ? '[]' : '{}') : `${list ? '[' : '{'}\n${parts.join(',\n')}\n${indent}${list ? ']' : '}'}`;
}

function textOrNull(value) {
  try {
    return text(value);
  } catch (e) {
    return null; // the stack is not deep enough
  }
}

const decoded = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));

function readable(data) {
  try {
    const found = new TextDecoder('utf-8', { fatal: true }).decode(data);
    return /[\u0000-\u0008\u000e-\u001f]/.test(found) ? null : found;
  } catch (e) {
    return null;
  }
}

function save(name, type, data) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([data], { type: 'application/octet-stream' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function Payload({ message }) {
  const [raw, setRaw] = useState(false);
  if (message.withheld) return html`<p class="muted">Hidden: ${message.withheld}.</p>`;
  const json = message.payload !== undefined;
  const data = json ? null : decoded(message.payload_base64 || '');
  const shown = json ? textOrNull(message.payload) : readable(data);
  return html`
    <div class="payload-head">
      <span class="muted">${message.content_type}, ${bytes(message.payload_bytes)}</span>
      ${json && !isLeaf(message.payload) && html`<button type="button" class="quiet small" onClick=${() => setRaw(!raw)}>${raw ? 'Fold' : 'Text'}</button>`}
      ${shown !== null && html`<${Copy} text=${shown} label="Copy the payload" />`}
      ${(!json || shown !== null) && html`<button type="button" class="quiet small" onClick=${() => save(`${message.id}.${json ? 'json' : 'bin'}`, message.content_type, json ? shown : data)}>Download</button>`}
    </div>
    ${json && !raw && !isLeaf(message.payload) ? html`<div class="payload"><${Node} value=${message.payload} depth=${0} deepest=${depthOf(message.payload)} /></div>`
      : shown === null ? html`<p class="muted">These bytes are not text. Download them to look at them.</p>`
      : html`<pre class="payload" tabindex="0">${short(shown)}</pre>`}`;
}
