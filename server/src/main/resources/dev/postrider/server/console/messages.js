// Search by a query line, a page at a time.
import { html, useEffect, useRef, useState } from './lib.js';
import { params } from './api.js';
import { Time, number, shortId, topicOf } from './format.js';
import { live } from './live.js';
import { FIELDS, completions, parse, toCall, toCommand } from './query.js';
import { Badge, Command, Empty, Failed, Loading, Page, Panel, Table, go, useFetch } from './ui.js';

const LIMIT = 50;
const address = (line, cursor) => `#/messages${params({ q: line, cursor })}`;

export function QueryLine({ line, submit }) {
  const [text, setText] = useState(line);
  const [chosen, setChosen] = useState(-1);
  const [open, setOpen] = useState(false);
  const input = useRef(null);
  useEffect(() => setText(line), [line]);
  const offers = open ? completions(text, live.status).slice(0, 9) : [];
  const take = offer => { setText(offer.line); setChosen(-1); input.current.focus(); };
  const keys = event => {
    if (event.key === 'ArrowDown' && offers.length) { setChosen((chosen + 1) % offers.length); event.preventDefault(); }
    else if (event.key === 'ArrowUp' && offers.length) { setChosen((chosen - 1 + offers.length) % offers.length); event.preventDefault(); }
    else if (event.key === 'Tab' && offers.length && open && text && !event.shiftKey) { take(offers[Math.max(0, chosen)]); event.preventDefault(); }
    else if (event.key === 'Enter' && chosen >= 0) { take(offers[chosen]); event.preventDefault(); }
    else if (event.key === 'Escape') { setOpen(false); setChosen(-1); }
  };
  return html`
    <form class="query" role="search" onSubmit=${event => { event.preventDefault(); setOpen(false); submit(text.trim()); }}>
      <input ref=${input} id="query" type="text" spellcheck=${false} autocomplete="off" aria-label="Search messages" value=${text}
        role="combobox" aria-expanded=${offers.length > 0} aria-controls="offers" aria-autocomplete="list"
        aria-activedescendant=${chosen >= 0 && offers.length ? `offer-${chosen}` : undefined}
        placeholder="namespace:shop topic:orders state:dead since:1h" onInput=${e => { setText(e.target.value); setOpen(true); setChosen(-1); }}
        onFocus=${() => setOpen(true)} onBlur=${() => setTimeout(() => setOpen(false), 150)} onKeyDown=${keys} />
      <button type="submit" class="primary">Search</button>
      <ul id="offers" role="listbox" aria-label="Completions" hidden=${!offers.length}>${offers.map((offer, i) => html`
        <li key=${offer.text} id=${`offer-${i}`} role="option" aria-selected=${i === chosen} onMouseDown=${e => { e.preventDefault(); take(offer); }}>
          <b>${offer.text}</b> <span>${offer.about}</span></li>`)}</ul>
    </form>`;
}

const at = row => row.created_at || row.died_at;

export function Messages({ route }) {
  const line = route.query.get('q') || '';
  const cursor = route.query.get('cursor') || '';
  const { query, errors } = parse(line);
  useEffect(() => { if (query.id) go(`#/messages/${query.id}`); }, [query.id]);
  const call = toCall(query);
  const { data, error, reload } = useFetch(errors.length || query.id ? null : call.path + params({ ...call.values, cursor, limit: LIMIT }));
  const rows = data ? data.items : [];
  return html`
    <${Page} title="Messages" actions=${html`<button type="button" onClick=${reload}>Refresh</button>`}>
      <${QueryLine} line=${line} submit=${text => (text === line ? reload() : go(address(text)))} />
      ${errors.map(text => html`<p class="note warn" role="alert">${text}</p>`)}
      <${Failed} error=${error} />
      ${!data && !error && !errors.length && html`<${Loading} />`}
      ${data && (rows.length ? html`<${Panel}><${Table} label="Messages" rows=${rows} keyOf=${r => r.id} open=${r => go(`#/messages/${r.id}`)} cells=${[
        ['message', r => html`<a href=${`#/messages/${r.id}`}><code title=${r.id}>${shortId(r.id)}</code></a>`],
        ['topic', r => topicOf(r)], ['key', r => r.key ? html`${r.key}<span class="muted">#${String(r.sequence)}</span>` : '', 'wide'],
        ['type', r => r.event_type, 'wide'], ['state', r => html`<${Badge} state=${r.state || 'dead'} />`],
        ['tries', r => number(r.attempts), 'num wide'], ['code', r => r.last_code || r.code || '', 'wide'],
        [call.path === '/dead' ? 'died' : 'created', r => html`<${Time} at=${at(r)} />`, 'num']]} /></${Panel}>`
        : html`<${Empty} title=${data.next ? 'None so far' : 'No message matches'}>${data.next
            ? 'Rare conditions are looked up a part of the log at a time. Look further back with “Older”.'
            : line ? 'Take a word out of the query, or look at a longer time with since:7d.' : html`Nothing was enqueued yet. Try <code>./postrider enqueue -n demo -t hello -p '{}'</code>`}</${Empty}>`)}
      <nav class="pager" aria-label="Pages">
        ${cursor && html`<button type="button" onClick=${() => history.back()}>Newer</button>`}
        ${data && data.next && html`<a class="button" href=${address(line, data.next)} id="older">Older</a>`}
      </nav>
      ${!errors.length && html`<details class="same"><summary>Same on the command line</summary><${Command} text=${toCommand(query)} /></details>`}
      ${!line && html`<p class="muted small">Fields: ${Object.keys(FIELDS).map(name => html`<code>${name}:</code> `)}</p>`}
    </${Page}>`;
}
