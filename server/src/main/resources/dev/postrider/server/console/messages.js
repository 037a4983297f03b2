// Search by a query line, a page at a time.
import { html, useEffect, useMemo, useRef, useState } from './lib.js';
import { get, params } from './api.js';
import { Time, number, shortId, topicOf } from './format.js';
import { live } from './live.js';
import { FIELDS, completions, parse, toCall, toCommand } from './query.js';
import { Badge, Command, Empty, Failed, Key, Loading, Page, Panel, Table, go } from './ui.js';

const LIMIT = 50;
// Where most searches begin.
const QUICK = [['state:pending', 'Pending'], ['state:processing', 'In flight'], ['state:dead', 'Dead'], ['state:discarded', 'Discarded'], ['state:delivered since:15m', 'Delivered, last 15 minutes']];
const address = (line, cursor) => `#/messages${params({ q: line, cursor })}`;

export function QueryLine({ line, submit }) {
  const [text, setText] = useState(line);
  const [chosen, setChosen] = useState(-1);
  const [open, setOpen] = useState(false);
  const input = useRef(null);
  useEffect(() => setText(line), [line]);
  const [codes, setCodes] = useState(null);
  // Codes of what is dead now, asked for when the first one is typed.
  useEffect(() => {
    if (codes || !/(^|\s)code:\S*$/.test(text)) return;
    setCodes([]);
    get('/dead/groups').then(found => setCodes(found.items.map(group => group.code).filter(Boolean)), () => {});
  }, [text]);
  const offers = open ? completions(text, live.status, codes || []).slice(0, 9) : [];
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

const LOOKS = 10;

// A page of what matches. The state of a message is not in an index, so a call may look at a part of the log and find
// nothing there: then the next part is asked for, a few times.
function usePage(call, cursor, asked) {
  const [found, setFound] = useState({});
  const [turn, setTurn] = useState(0);
  const path = asked ? call.path + params(call.values) : null;
  useEffect(() => {
    let current = true;
    const look = async () => {
      let next = cursor;
      for (let looks = 1; current; looks++) {
        const data = await get(call.path + params({ ...call.values, cursor: next, limit: LIMIT }));
        if (!current) return;
        const over = data.items.length > 0 || !data.next || looks === LOOKS;
        setFound({ path, cursor, data, over });
        if (over) return;
        next = data.next;
      }
    };
    if (path) look().catch(error => current && setFound({ path, cursor, error }));
    return () => { current = false; };
  }, [path, cursor, turn]);
  const now = found.path === path && found.cursor === cursor;
  return { data: now && found.over ? found.data : null, further: now && !found.over && !found.error, error: now ? found.error : null, reload: () => setTurn(n => n + 1) };
}

export function Messages({ route }) {
  const line = route.query.get('q') || '';
  const cursor = route.query.get('cursor') || '';
  const { query, errors } = parse(line);
  useEffect(() => { if (query.id) go(`#/messages/${query.id}`); }, [query.id]);
  const call = useMemo(() => toCall(query), [line]); // since:1h is a time, that of the question
  const { data, further, error, reload } = usePage(call, cursor, !errors.length && !query.id);
  const rows = data ? data.items : [];
  return html`
    <${Page} title="Messages" actions=${html`<button type="button" onClick=${reload}>Refresh</button>`}>
      <${QueryLine} line=${line} submit=${text => (text === line ? reload() : go(address(text)))} />
      ${!line && html`<p class="quick">${QUICK.map(([words, text]) => html`<a class="pill" href=${address(words)}>${text}</a>`)}</p>`}
      ${errors.map(text => html`<p class="note warn" role="alert">${text}</p>`)}
      <${Failed} error=${error} />
      ${!data && !error && !errors.length && html`<${Loading} text=${further ? 'Looking further back…' : undefined} />`}
      ${data && (rows.length ? html`<${Panel}><${Table} label="Messages" rows=${rows} keyOf=${r => r.id} open=${r => go(`#/messages/${r.id}`)} cells=${[
        ['message', r => html`<a href=${`#/messages/${r.id}`}><code title=${r.id}>${shortId(r.id)}</code></a>`],
        ['topic', r => topicOf(r)], ['key', r => html`<${Key} of=${r} />`, 'wide'],
        ['type', r => r.event_type, 'wide'], ['state', r => html`<${Badge} state=${r.state || query.state || 'dead'} />`],
        ['tries', r => number(r.attempts), 'num wide'], ['code', r => r.last_code || r.code || '', 'wide'],
        [call.path === '/dead' ? 'died' : 'created', r => html`<${Time} at=${at(r)} />`, 'num']]} /></${Panel}>`
        : html`<${Empty} title=${data.next ? 'None so far' : 'No message matches'}>${data.next
            ? 'Rare conditions are looked up a part of the log at a time. “Older” looks further back.'
            : line ? 'Take a word out of the query, or look at a longer time with since:7d.' : html`Nothing was enqueued yet. Try <code>./postrider enqueue -n demo -t hello -p '{}'</code>`}</${Empty}>`)}
      <nav class="pager" aria-label="Pages">
        ${cursor && html`<button type="button" onClick=${() => history.back()}>Newer</button>`}
        ${data && data.next && html`<a class="button" href=${address(line, data.next)} id="older">Older</a>`}
      </nav>
      ${!errors.length && html`<details class="same"><summary>Same on the command line</summary><${Command} text=${toCommand(query)} /></details>`}
    </${Page}>`;
}
