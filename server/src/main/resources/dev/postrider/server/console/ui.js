// Parts that pages are made of.
import { html, useCallback, useEffect, useRef, useState } from './lib.js';
import { get } from './api.js';

export const go = hash => { location.hash = hash; };

const BUSY_SHARE = 5;

// What a call answers. Keeps the last answer while it is asked again: after `interval`, and when `signal` changes. The
// pause is at least five times as long as the answer took, so that a slow answer is asked for less often.
export function useFetch(path, interval, signal) {
  const [state, setState] = useState({ data: null, error: null, path: null });
  const [turn, setTurn] = useState(0);
  const soon = useRef(null);
  const heard = useRef(signal);
  useEffect(() => {
    let current = true;
    let timer = 0;
    let busy = false;
    let again = false;
    let rested = 0;
    const later = wait => { clearTimeout(timer); timer = setTimeout(() => (document.hidden ? later(1000) : ask()), wait); };
    const ask = async () => {
      if (busy) { again = true; return; }
      busy = true;
      again = false;
      const start = Date.now();
      const next = await (path ? get(path) : Promise.resolve(null)).then(data => ({ data, error: null }), error => ({ data: null, error }));
      if (!current) return;
      busy = false;
      const rest = (Date.now() - start) * BUSY_SHARE;
      rested = Date.now() + rest;
      setState(last => ({ data: next.error && last.path === path ? last.data : next.data, error: next.error, path }));
      if (again) later(rest);
      else if (interval) later(Math.max(interval, rest));
    };
    soon.current = () => later(Math.max(0, rested - Date.now()));
    ask();
    return () => { current = false; clearTimeout(timer); };
  }, [path, turn, interval]);
  useEffect(() => {
    if (heard.current === signal) return;
    heard.current = signal;
    soon.current();
  }, [signal]);
  const reload = useCallback(() => setTurn(n => n + 1), []);
  return { data: state.path === path ? state.data : null, error: state.path === path ? state.error : null, reload };
}

export const Failed = ({ error }) => error
  ? html`<p class="note bad" role="alert">${error.message}</p>` : null;

export const Loading = ({ text = 'Loading…' }) => html`<p class="loading muted" role="status">${text}</p>`;

// The key and the number of a message in its key.
export const Key = ({ of }) => of.key
  ? html`<span class="clip" title=${of.key}>${of.key}</span><span class="muted">#${String(of.sequence)}</span>` : null;

const LONG = 300;

// Long text is cut until somebody asks for all of it.
export function Long({ text }) {
  const [all, setAll] = useState(false);
  return text.length <= LONG || all ? text
    : html`${text.slice(0, LONG)}… <button type="button" class="quiet small" onClick=${() => setAll(true)}>Show all</button>`;
}

export const Empty = ({ title, children }) => html`
  <div class="empty"><p class="empty-title">${title}</p><p>${children}</p></div>`;

const STATES = {
  pending: 'plain', processing: 'busy', delivered: 'good', dead: 'bad', discarded: 'plain',
  dispatched: 'good', retryable: 'warn', failed: 'bad', zombie_requeue: 'warn', conflict: 'warn', dispatching: 'busy',
  running: 'busy', stopped: 'warn', done: 'good', open: 'bad', half_open: 'warn', closed: 'good', paused: 'warn',
};
export const WORDS = {
  dispatched: 'delivered', retryable: 'retried', failed: 'dead', zombie_requeue: 'lease lost',
  dispatching: 'in flight', half_open: 'probing',
};
export const Badge = ({ state, children }) => html`
  <span class=${`badge ${STATES[state] || 'plain'}`}>${children || WORDS[state] || state}</span>`;

export function Copy({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => {
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  }, () => {});
  return html`<button type="button" class="quiet small" onClick=${copy} aria-label=${label || 'Copy'}>${done ? 'Copied' : 'Copy'}</button>`;
}

// The command that does the same.
export const Command = ({ text }) => html`
  <div class="command"><code>${text}</code><${Copy} text=${text} label="Copy the command" /></div>`;

export const Page = ({ title, actions, children }) => html`
  <main id="main" tabindex="-1">
    <header class="page-head"><h1>${title}</h1><div class="actions">${actions}</div></header>
    ${children}
  </main>`;

export const Panel = ({ title, label = title, side, children, id }) => html`
  <section class="panel" aria-label=${label} id=${id}>
    ${title && html`<header><h2>${title}</h2>${side && html`<div class="side">${side}</div>`}</header>`}
    ${children}
  </section>`;

// Rows that j and k walk over; Enter opens one. cells: [title, row => content, class].
export function Table({ label, cells, rows, open, keyOf, selected, onSelect }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${label}>
      <table>
        <thead><tr>${onSelect && html`<th class="tick"><span class="hidden">Select</span></th>`}
          ${cells.map(([title, , name]) => html`<th scope="col" class=${name}>${title}</th>`)}</tr></thead>
        <tbody>${rows.map(row => html`
          <tr key=${keyOf(row)} class=${open ? 'row' : ''} data-row tabindex=${open ? 0 : undefined}
              onClick=${event => open && !event.target.closest('a,button,input,label') && !String(getSelection()) && open(row)}
              onKeyDown=${event => open && event.key === 'Enter' && event.target === event.currentTarget && open(row)}>
            ${onSelect && html`<td class="tick"><input type="checkbox" aria-label=${`Select ${keyOf(row)}`}
              checked=${selected.has(keyOf(row))} onChange=${() => onSelect(keyOf(row))} /></td>`}
            ${cells.map(([, show, name]) => {
              const shown = show(row);
              return html`<td class=${name} title=${typeof shown === 'string' && shown.length > 20 ? shown : undefined}>${shown}</td>`;
            })}
          </tr>`)}</tbody>
      </table>
    </div>`;
}

let showDialog = () => {};
let showToast = () => {};

// Asks before something is done. spec: {title, text, about, command, reason, danger, verb, run(reason, progress)}. run
// answers what to say then: a text, or {text, undo}.
export const ask = spec => showDialog(spec);
export const say = done => showToast(typeof done === 'string' ? { text: done } : { ...done });

const TOAST_MS = 6000;
const UNDO_MS = 15000;

function Toast({ toast, close }) {
  const [error, setError] = useState(null);
  useEffect(() => {
    setError(null);
    const timer = setTimeout(close, toast.undo ? UNDO_MS : TOAST_MS);
    return () => clearTimeout(timer);
  }, [toast]);
  const undo = () => toast.undo().then(say, setError);
  return html`<div class="toast"><span>${error ? error.message : toast.text}</span>
    ${toast.undo && !error && html`<button type="button" onClick=${undo}>Undo</button>`}</div>`;
}

export function Dialogs() {
  const [spec, setSpec] = useState(null);
  const [toast, setToast] = useState(null);
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(null);
  const [error, setError] = useState(null);
  const dialog = useRef(null);
  const caller = useRef(null);
  showToast = setToast;
  showDialog = next => {
    caller.current = document.activeElement;
    setReason('');
    setError(null);
    setBusy(null);
    setSpec(next);
  };
  useEffect(() => {
    if (!spec || !dialog.current || dialog.current.open) return;
    dialog.current.showModal();
    dialog.current.querySelector(spec.reason ? 'input' : 'button[type=submit]').focus();
  }, [spec]);
  const close = () => {
    if (dialog.current) dialog.current.close(); // before that, nothing else can have the focus
    setSpec(null);
    if (caller.current && caller.current.isConnected) caller.current.focus();
  };
  const run = async event => {
    event.preventDefault();
    setBusy('Working…');
    setError(null);
    try {
      const done = await spec.run(reason.trim(), count => setBusy(`${count.toLocaleString('en')} so far…`));
      close();
      if (done) say(done);
    } catch (e) {
      setError(e);
      setBusy(null);
    }
  };
  const command = spec && (typeof spec.command === 'function' ? spec.command(reason.trim()) : spec.command);
  return html`
    ${spec && html`
      <dialog ref=${dialog} aria-labelledby="dialog-title" onCancel=${event => { event.preventDefault(); if (!busy) close(); }}>
        <form onSubmit=${run}>
          <h2 id="dialog-title">${spec.title}</h2>
          <p>${spec.text}</p>
          ${spec.about}
          ${spec.reason && html`<label>Reason, for the audit
            <input name="reason" required maxlength="1000" value=${reason} onInput=${e => setReason(e.target.value)} /></label>`}
          ${command && html`<p class="muted small">The same on the command line:</p><${Command} text=${command} />`}
          <${Failed} error=${error} />
          <div class="buttons">
            <button type="button" onClick=${close} disabled=${!!busy}>Cancel</button>
            <button type="submit" class=${spec.danger ? 'danger' : 'primary'} disabled=${!!busy}>${busy || spec.verb}</button>
          </div>
        </form>
      </dialog>`}
    <div class="toasts" role="status" aria-live="polite">${toast && html`<${Toast} toast=${toast} close=${() => setToast(null)} />`}</div>`;
}
