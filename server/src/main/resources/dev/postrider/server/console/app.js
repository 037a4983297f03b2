// The frame: who is signed in, where in the console one is, and the keyboard.
import { html, render, useEffect, useErrorBoundary, useRef, useState } from './lib.js';
import { call, get, whenSignedOut } from './api.js';
import { number, shortTime } from './format.js';
import { Icon } from './icon.js';
import { unwatch, useLive, watch } from './live.js';
import { Message } from './message.js';
import { PAGES } from './nav.js';
import { SignIn } from './signin.js';
import { Dialogs, Loading, Page, go } from './ui.js';

function readRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { parts: path.split('/').map(decodeURIComponent), query: new URLSearchParams(query || '') };
}

const mayOf = session => ({
  operate: session.permissions.includes('operate'), payloads: session.permissions.includes('payload:read'),
  unlimited: session.limits.length === 0,
});

const SHORTCUTS = [['/', 'search messages'], ['j k', 'next or previous row'], ['Enter', 'open the row'], ['r', 'requeue or retry the row; else the first one'], ['g then o m d k t', 'go to Overview, Messages, Dead letters, Keys, Live tail'], ['?', 'this help'], ['Esc', 'close']];

function Help({ close }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} aria-labelledby="help-title" onClose=${close}>
    <h2 id="help-title">Keyboard</h2>
    <dl class="facts">${SHORTCUTS.map(([key, text]) => html`<div key=${key}><dt>${key.split(' ').map(k => k === 'then' ? ' then ' : html`<kbd>${k}</kbd> `)}</dt><dd>${text}</dd></div>`)}</dl>
    <div class="buttons"><button type="button" onClick=${() => dialog.current.close()}>Close</button></div></dialog>`;
}

function step(by) {
  const rows = [...document.querySelectorAll('tr[data-row].row')];
  if (!rows.length) return;
  const now = rows.findIndex(row => row.contains(document.activeElement));
  const next = rows[Math.max(0, Math.min(rows.length - 1, now < 0 ? 0 : now + by))];
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function useKeyboard(help) {
  useEffect(() => {
    let went = 0;
    const listen = event => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')
          || event.target.closest('input,textarea,select')) return;
      const places = { o: '#/', m: '#/messages', d: '#/dead', k: '#/keys', t: '#/tail' };
      if (Date.now() - went < 1000 && places[event.key]) { went = 0; go(places[event.key]); }
      else if (event.key === 'g') went = Date.now();
      else if (event.key === '?') help();
      else if (event.key === 'j') step(1);
      else if (event.key === 'k') step(-1);
      else if (event.key === 'r') {
        const row = document.activeElement.closest('[data-row]');
        const button = (row && row.querySelector('[data-key=r]')) || document.querySelector('#main [data-key=r]');
        if (button) button.click();
      } else if (event.key === '/') {
        if (!document.getElementById('query')) go('#/messages');
        setTimeout(() => { const input = document.getElementById('query'); if (input) { input.focus(); input.select(); } }, 50);
      } else return;
      event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

// Shows a page whose file is loaded when it is first opened.
function Later({ page, ...rest }) {
  const [found, setFound] = useState({});
  const load = () => page.from().then(file => setFound({ page, Body: file[page.name] }), () => setFound({ page, failed: true }));
  useEffect(() => { load(); }, [page]);
  if (found.page !== page) return html`<${Page} title=${page.name}><${Loading} /></${Page}>`;
  return found.failed ? html`<${Page} title=${page.name}><p class="note bad" role="alert">This page could not be loaded: the server does not answer.</p>
      <button type="button" onClick=${() => location.reload()}>Load the console again</button></${Page}>`
    : html`<${found.Body} ...${rest} />`;
}

const STALE_MS = 20000;

// What is shown may be old: nobody may take it for the truth of this moment.
function Stale({ live }) {
  const [, tick] = useState(0);
  useEffect(() => { const timer = setInterval(() => tick(n => n + 1), 2000); return () => clearInterval(timer); }, []);
  const text = live.lost ? 'The server does not answer'
    : live.connected && live.heard && Date.now() - live.heard > STALE_MS ? 'The server sends nothing new' : '';
  return text && html`<p class="stale" role="alert"><strong>${text}.</strong> ${live.at && `You see what was known at ${shortTime(live.at)}.`} ${live.lost
    ? 'The console goes on by itself when it is back.' : 'Perhaps it cannot read the database: ./postrider doctor tells.'}</p>`;
}

const themeNow = () => localStorage.getItem('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');

function Frame({ session, signOut }) {
  const [route, setRoute] = useState(readRoute());
  const [help, setHelp] = useState(false);
  const [menu, setMenu] = useState(false);
  const [theme, setTheme] = useState(themeNow());
  const [broken, mend] = useErrorBoundary();
  const live = useLive();
  const may = mayOf(session);
  const shown = PAGES.filter(p => (!p.all || may.unlimited) && (!p.needs || session.permissions.includes(p.needs)));
  useKeyboard(() => setHelp(true));
  useEffect(() => { document.documentElement.dataset.theme = theme; }, [theme]);
  useEffect(() => {
    const listen = () => { setRoute(readRoute()); setMenu(false); mend && mend(); scrollTo(0, 0); };
    addEventListener('hashchange', listen);
    return () => removeEventListener('hashchange', listen);
  }, []);
  const [first, second] = route.parts;
  const page = shown.find(p => p.path === first) || (first === '' ? shown[0] : null);
  useEffect(() => { document.title = page ? `${page.name} · Postrider` : 'Postrider'; }, [page && page.name]);
  const flip = () => { const next = theme === 'dark' ? 'light' : 'dark'; localStorage.setItem('theme', next); setTheme(next); };
  const body = broken ? html`<${Page} title="This page failed"><p class="note bad">${String(broken)}</p></${Page}>`
    : !session.permissions.includes('read') ? html`<${Page} title="Nothing to see"><p>The token ${session.name} does not have the permission read.</p></${Page}>`
      : first === 'messages' && second ? html`<${Message} key=${second} id=${second} may=${may} />`
        : page ? html`<${page.page || Later} page=${page} route=${route} may=${may} theme=${theme} />`
          : html`<${Page} title="Nothing here"><p>There is no page ${first}. <a href="#/">Overview</a></p></${Page}>`;
  return html`
    <a class="skip" href="#main" onClick=${e => { e.preventDefault(); document.getElementById('main').focus(); }}>To the content</a>
    <div class=${`frame ${menu ? 'menu-open' : ''}`}>
      <aside class="sidebar">
        <div class="brand"><img src="icon.svg" alt="" width="26" height="26" /><span>Postrider</span>
          <button type="button" class="menu quiet" aria-expanded=${menu} aria-controls="nav" onClick=${() => setMenu(!menu)}>Menu</button></div>
        <nav id="nav" aria-label="Pages">${shown.map(p => {
          const n = p.count && live.status ? p.count(live.status) : 0;
          return html`<a key=${p.path} class=${p.group ? 'first' : ''} href=${`#/${p.path}`} aria-current=${page === p ? 'page' : undefined}><${Icon} path=${p.icon} />${p.name}
            ${n > 0 && html`<span class="nav-count">${number(n)}</span>`}</a>`;
        })}</nav>
        <footer>
          ${may.unlimited && html`<p class="small" role="status"><span class=${`dot ${live.connected ? 'good' : 'bad'}`}></span>${live.connected ? 'live' : 'no connection'}</p>`}
          <p class="small who" title=${session.permissions.join(', ')}>${session.name}${session.role ? `, ${session.role}` : ''}${session.limits.length ? ` (${session.limits.join(', ')})` : ''}</p>
          <div class="side-buttons"><button type="button" class="quiet small" onClick=${flip}>${theme === 'dark' ? 'Light' : 'Dark'}</button>
            <button type="button" class="quiet small" onClick=${() => setHelp(true)}>Help</button>
            <button type="button" class="quiet small" id="sign-out" onClick=${signOut}>Sign out</button></div>
        </footer>
      </aside>
      <div class="content">${may.unlimited && html`<${Stale} live=${live} />`}${body}</div>
    </div>
    <${Dialogs} />
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

function App() {
  const [session, setSession] = useState(null);
  const [notice, setNotice] = useState('');
  const [code] = useState(() => (readRoute().parts[0] === 'sign-in' ? readRoute().parts[1] : ''));
  const leaving = useRef(false);
  const left = text => { unwatch(); setNotice(text); setSession({ signed_in: false }); };
  const check = () => get('/session').then(
    found => (found.signed_in ? setSession(found) : left('')), () => setTimeout(check, 2000));
  useEffect(() => {
    document.documentElement.dataset.theme = themeNow();
    // Calls that were on their way when the user signed out are refused, too.
    whenSignedOut(() => leaving.current || left('The session has ended: the token was revoked or has expired. Sign in again.'));
    if (code) setSession({ signed_in: false });
    else check();
  }, []);
  useEffect(() => {
    if (session && session.signed_in && session.limits.length === 0 && session.permissions.includes('read')) {
      // Refused: either the session is over or the server is away for a moment.
      const again = () => get('/session').then(
        found => (found.signed_in ? watch(() => setTimeout(again, 2000)) : leaving.current || left('The session has ended. Sign in again.')),
        () => setTimeout(again, 2000));
      watch(again);
    }
  }, [session]);
  const signOut = () => {
    leaving.current = true;
    return call('DELETE', '/session').then(
      () => 'You are signed out.',
      e => (e.status === 401 ? 'You are signed out.' : 'The session may not have ended: the server did not answer.')).then(left);
  };
  const signedIn = found => { leaving.current = false; setSession(found); };
  if (!session) return null;
  return session.signed_in ? html`<${Frame} session=${session} signOut=${signOut} />`
    : html`<${SignIn} code=${code} notice=${notice} signedIn=${signedIn} />`;
}

document.getElementById('app').textContent = '';
render(html`<${App} />`, document.getElementById('app'));
