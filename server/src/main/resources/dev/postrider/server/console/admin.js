// Audit, tokens and retention.
import { html, useState } from './lib.js';
import { call, params, post } from './api.js';
import { Time, number, period, quoted } from './format.js';
import { useLive } from './live.js';
import { Badge, Command, Copy, Empty, Failed, Loading, Page, Panel, Table, ask, useFetch } from './ui.js';

const IDS = 3;

// Lists of ids are cut: nobody reads five hundred of them.
const said = v => (Array.isArray(v) && v.length > IDS ? `${v.slice(0, IDS).join(', ')} and ${number(v.length - IDS)} more`
  : v && typeof v === 'object' ? Object.entries(v).map(([name, one]) => `${name} ${said(one)}`).join(', ') : String(v));
const detail = value => Object.entries(value || {}).map(([name, v]) => `${name}: ${said(v)}`).join('; ');

export function Audit({ route }) {
  const [cursor, setCursor] = useState('');
  const actor = route.query.get('actor') || '';
  const action = route.query.get('action') || '';
  const { data, error, reload } = useFetch('/audit' + params({ actor, action, limit: 50, cursor }), cursor ? 0 : 5000);
  const only = values => `#/audit${params({ actor, action, ...values })}`;
  const link = (values, text) => html`<a href=${only(values)} onClick=${() => setCursor('')} title="Only these">${text}</a>`;
  return html`
    <${Page} title="Audit" actions=${html`<button type="button" onClick=${reload}>Refresh</button>`}>
      ${(actor || action) && html`<p class="quick">${actor && html`<a class="pill" href=${only({ actor: '' })} aria-label="Remove this condition">by ${actor} ✕</a>`}
        ${action && html`<a class="pill" href=${only({ action: '' })} aria-label="Remove this condition">${action} ✕</a>`}</p>`}
      <${Failed} error=${error} />
      ${!data && !error && html`<${Loading} />`}
      ${data && (data.items.length ? html`<${Panel}><${Table} label="Audit" rows=${data.items} keyOf=${e => String(e.id)} cells=${[
        ['time', e => html`<${Time} at=${e.at} />`], ['who', e => link({ actor: e.actor }, e.actor)], ['login', e => html`<span class="muted">${e.login}</span>`, 'wide'], ['action', e => link({ action: e.action }, e.action)],
        ['count', e => number(e.count), 'num'], ['about', e => detail(e.detail), 'wrap wide']]} /></${Panel}>`
        : html`<${Empty} title=${actor || action ? 'Nothing that matches' : 'Nobody did anything yet'}>Requeue, discard, replay, pause and every other act is recorded here.</${Empty}>`)}
      <nav class="pager" aria-label="Pages">
        ${cursor && html`<button type="button" onClick=${() => setCursor('')}>Newest</button>`}
        ${data && data.next && html`<button type="button" onClick=${() => setCursor(String(data.next))}>Older</button>`}</nav>
      <${Command} text=${`./postrider audit list${actor ? ` --by ${quoted(actor)}` : ''}${action ? ` --action ${quoted(action)}` : ''}`} />
    </${Page}>`;
}

const DAYS = [['P1D', '1 day'], ['P7D', '7 days'], ['P30D', '30 days'], ['P90D', '90 days'], ['', 'no end']];

function NewToken({ may, made }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState('viewer');
  const [payloads, setPayloads] = useState(false);
  const [namespace, setNamespace] = useState('');
  const [tenant, setTenant] = useState('');
  const [lifetime, setLifetime] = useState('P90D');
  const [error, setError] = useState(null);
  const command = `./postrider token create ${quoted(name || 'NAME')} --role ${role}${payloads ? ' --permission payload:read' : ''}${namespace ? ` --namespace ${quoted(namespace)}` : ''}`
    + `${tenant ? ` --tenant ${quoted(tenant)}` : ''}${lifetime ? ` --lifetime ${lifetime.slice(1).toLowerCase()}` : ''}`;
  const submit = async event => {
    event.preventDefault();
    setError(null);
    try {
      made(await post('/tokens', { name, role, ...(payloads ? { permissions: ['payload:read'] } : {}), ...(namespace ? { namespace } : {}), ...(tenant ? { tenant } : {}), ...(lifetime ? { lifetime } : {}) }));
      setName('');
    } catch (e) {
      setError(e);
    }
  };
  return html`
    <form class="fields" onSubmit=${submit}>
      <label>Name<input name="name" required maxlength="100" value=${name} onInput=${e => setName(e.target.value)} /></label>
      <label>Role<select value=${role} onChange=${e => setRole(e.target.value)}>${['viewer', 'operator', 'admin'].map(r => html`<option value=${r}>${r}</option>`)}</select></label>
      <label>Namespace<input placeholder="all" value=${namespace} onInput=${e => setNamespace(e.target.value)} /></label>
      <label>Tenant<input placeholder="all" value=${tenant} onInput=${e => setTenant(e.target.value)} /></label>
      <label>Expires after<select value=${lifetime} onChange=${e => setLifetime(e.target.value)}>${DAYS.map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select></label>
      ${may.payloads && html`<label class="check"><input type="checkbox" checked=${payloads} onChange=${e => setPayloads(e.target.checked)} /> may see payloads</label>`}
      <div class="buttons"><button type="submit" class="primary">Create token</button></div>
    </form>
    <${Failed} error=${error} />
    <${Command} text=${command} />`;
}

export function Tokens({ may }) {
  const { data, error, reload } = useFetch('/tokens?limit=1000');
  const [made, setMade] = useState(null);
  const state = t => (t.revoked_at ? 'revoked' : t.expires_at && Date.parse(t.expires_at) < Date.now() ? 'expired' : 'good');
  const revoke = t => ask({
    title: `Revoke the token ${t.name}?`, text: 'Its callers are refused from the next call on. This cannot be undone.',
    verb: 'Revoke 1 token', danger: true, command: `./postrider token revoke ${t.id}`,
    run: async () => { await call('DELETE', `/tokens/${t.id}`); reload(); return `Token ${t.name} is revoked.`; },
  });
  return html`
    <${Page} title="Tokens">
      <${Panel} title="New token"><${NewToken} may=${may} made=${token => { setMade(token); reload(); }} />
        ${made && html`<div class="note good" role="status"><p><strong>${made.name}</strong>: this is the only time its secret is shown.</p>
          <p class="secret"><code id="secret">${made.secret}</code> <${Copy} text=${made.secret} label="Copy the secret" /></p></div>`}
      </${Panel}>
      <${Failed} error=${error} />
      ${data && html`<${Panel} title="Tokens"><${Table} label="Tokens" rows=${[...data.items].reverse()} keyOf=${t => String(t.id)} cells=${[
        ['number', t => String(t.id), 'num wide'], ['name', t => t.name], ['state', t => html`<${Badge} state=${state(t) === 'good' ? 'closed' : 'plain'}>${state(t)}</${Badge}>`],
        ['may', t => t.permissions.join(', '), 'wrap wide'],
        ['limited to', t => [t.tenant && `tenant ${t.tenant}`, t.namespace && `namespace ${t.namespace}`, ...t.topics].filter(Boolean).join(', ') || html`<span class="muted">nothing</span>`, 'wide'],
        ['expires', t => t.expires_at ? html`<${Time} at=${t.expires_at} />` : html`<span class="muted">never</span>`, 'num'],
        ['', t => state(t) === 'good' && html`<button type="button" class="small" onClick=${() => revoke(t)}>Revoke…</button>`, 'num']]} />
        <${Command} text="./postrider token list" /></${Panel}>`}
    </${Page}>`;
}

export function Retention() {
  const { warnings } = useLive();
  const { data, error } = useFetch('/retention', 10000);
  return html`
    <${Page} title="Retention">
      <p class="muted">Relays remove rows that are past their retention. The periods are in their configuration: <code>postrider.retention</code>.</p>
      ${warnings.map(w => html`<p class="note warn" key=${w.about + w.text}><strong>${w.about}:</strong> ${w.text}. ${w.advice}</p>`)}
      <${Failed} error=${error} />
      ${!data && !error && html`<${Loading} />`}
      ${data && (data.items.length ? html`<${Panel}><${Table} label="Retention tasks" rows=${data.items} keyOf=${t => t.task} cells=${[
        ['task', t => html`<strong>${t.task.replace(/_/g, ' ')}</strong>${t.error && html`<span class="bad-text wrap small"><br />${t.error}</span>`}`, 'wrap'], ['kept for', t => period(t.period_seconds)],
        ['last run', t => t.finished_at ? html`<${Time} at=${t.finished_at} relative=${true} /> ${t.error && html`<${Badge} state="failed">failed</${Badge}>`}` : html`<span class="muted">not finished yet</span>`],
        ['removed then', t => number(t.last_removed), 'num wide'], ['removed ever', t => number(t.removed), 'num wide']]} /></${Panel}>`
        : html`<${Empty} title="No retention task ran yet">They run on a relay. Start one: <code>./postrider relay</code></${Empty}>`)}
      <${Command} text="./postrider doctor" />
    </${Page}>`;
}
