// Sends delivered messages again: choose, count, start, watch.
import { html, useState } from './lib.js';
import { post } from './api.js';
import { Time, duration, number, plural, quoted } from './format.js';
import { time } from './query.js';
import { Badge, Command, Empty, Failed, Loading, Page, Panel, Table, ask, say, useFetch } from './ui.js';

const FIELDS = [['namespace', 'Namespace'], ['topic', 'Topic'], ['key', 'Key'], ['tenant', 'Tenant'], ['aggregate_type', 'Aggregate type'], ['aggregate_id', 'Aggregate id'], ['event_type', 'Event type'],
  ['from', 'From', '6h, or a time'], ['to', 'To', '1h, or a time']];

const filterOf = values => Object.fromEntries(FIELDS.map(([name]) => [name, (values[name] || '').trim()])
  .filter(([, value]) => value).map(([name, value]) => [name, name === 'from' || name === 'to' ? time(value) : value]));

const command = (values, rate) => './postrider replay' + FIELDS.map(([name]) => [name, (values[name] || '').trim()]).filter(([, v]) => v)
  .map(([name, v]) => ` --${name.replace('_', '-')} ${quoted(v)}`).join('') + (rate ? ` --rate ${rate}` : '');

const stop = (job, then) => ask({
  title: `Stop replay ${job.id}?`, text: soFar(job), verb: 'Stop', danger: true, command: `./postrider replay stop ${job.id}`,
  run: async () => { await post(`/replays/${job.id}/stop`); then(); return 'It stops after its current step.'; },
});

// A job does not keep its rate: it goes on with the one that is entered now.
const resume = (job, rate, then) => ask({
  title: `Resume replay ${job.id}?`, text: `${soFar(job)} It goes on ${rate ? `with ${rate} messages per second at most` : 'as fast as it can: enter a rate above to limit it'}.`,
  verb: 'Resume', command: `./postrider replay resume ${job.id}${rate ? ` --rate ${rate}` : ''}`,
  run: async () => { await post(`/replays/${job.id}/resume`, rate ? { rate: Number(rate) } : {}); then(); return 'It goes on.'; },
});

const soFar = job => `${plural(job.requeued, 'message')} ${job.requeued === 1 ? 'was' : 'were'} sent again so far.`;

// A job that is called running and does not move has perhaps lost its process. It can be resumed.
const SILENT_MS = 60000;
const silent = job => job.state === 'running' && Date.now() - Date.parse(job.updated_at) > SILENT_MS;

export function Replay({ may }) {
  const [values, setValues] = useState({});
  const [rate, setRate] = useState('');
  const [counted, setCounted] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const { data: jobs, error: failed, reload } = useFetch('/replays?limit=20', 2000);
  const body = () => ({ filter: filterOf(values), ...(rate ? { rate: Number(rate) } : {}) });
  const count = async event => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    setCounted(null);
    try {
      setCounted(await post('/replays', { filter: filterOf(values), dry_run: true }));
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  const many = counted && (counted.requeued === undefined ? `at least ${number(counted.matched)}` : number(counted.requeued));
  const start = () => ask({
    title: `Send ${many} messages again?`, text: 'Receivers get them once more under their ids, marked as redeliveries.',
    verb: `Replay ${many}`, danger: true, command: `${command(values, rate)} --yes`,
    run: async () => { const job = await post('/replays', body()); setCounted(null); reload(); return `Replay ${job.id} has started.`; },
  });
  return html`
    <${Page} title="Replay">
      ${may.operate && html`<${Panel} title="Send delivered messages again">
        <form class="fields" onSubmit=${count}>
          ${FIELDS.map(([name, label, hint]) => html`<label key=${name}>${label}<input name=${name} placeholder=${hint || ''} value=${values[name] || ''}
            onInput=${e => { setValues({ ...values, [name]: e.target.value }); setCounted(null); }} /></label>`)}
          <label>Per second at most<input type="number" min="0.1" step="any" placeholder="as fast as it goes" value=${rate} onInput=${e => setRate(e.target.value)} /></label>
          <div class="buttons"><button type="submit" class=${counted ? '' : 'primary'} disabled=${busy}>${busy ? 'Counting…' : 'Count first'}</button>
            <button type="button" class=${counted && counted.matched ? 'danger' : ''} disabled=${!counted || counted.matched === 0} onClick=${start}>Replay…</button></div>
        </form>
        <${Failed} error=${error} />
        ${counted && html`<p class="note" role="status" id="counted">${plural(counted.matched, 'message')} ${counted.matched === 1 ? 'matches' : 'match'}${counted.complete ? '' : ' so far'}.
          ${counted.requeued !== undefined && html` ${number(counted.requeued)} would be sent again, ${number(counted.skipped)} skipped: still queued, dead or discarded.`}</p>`}
        <${Command} text=${`${command(values, rate)} --dry-run`} />
      </${Panel}>`}
      <${Panel} title="Jobs">
        <${Failed} error=${failed} />
        ${!jobs && !failed && html`<${Loading} />`}
        ${jobs && (jobs.items.length ? html`<${Table} label="Replay jobs" rows=${jobs.items} keyOf=${j => String(j.id)} cells=${[
          ['job', j => String(j.id), 'num'], ['state', j => html`<${Badge} state=${silent(j) ? 'stopped' : j.state}>${silent(j) ? 'not moving' : j.state}</${Badge}>`], ['sent again', j => number(j.requeued), 'num'], ['took', j => duration((Date.parse(j.finished_at || j.updated_at) - Date.parse(j.created_at)) / 1000), 'num wide'], ['skipped', j => number(j.skipped), 'num wide'],
          ['what', j => html`<code class="wrap">${Object.entries(j.filter || {}).map(([n, v]) => `${n}:${v}`).join(' ') || 'by id'}</code>`],
          ['by', j => j.created_by, 'wide'], ['started', j => html`<${Time} at=${j.created_at} />`, 'num wide'],
          ['', j => may.operate && j.state !== 'done' && html`<span class="row-acts">
            ${j.state === 'stopped' || silent(j) ? html`<button type="button" class="small primary" onClick=${() => resume(j, rate, reload)}>Resume</button>` : ''}
            ${j.state === 'running' && html`<button type="button" class="small" onClick=${() => stop(j, reload)}>Stop…</button>`}</span>`, 'num']]} />`
          : html`<${Empty} title="No replay was started yet">If a receiver lost messages that it had confirmed, send them again from here.</${Empty}>`)}
        <${Command} text="./postrider replay jobs" />
      </${Panel}>
    </${Page}>`;
}
