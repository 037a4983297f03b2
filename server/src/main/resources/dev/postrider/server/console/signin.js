// Sign in with a token, or with the code of a link that works once.
import { html, useEffect, useRef, useState } from './lib.js';
import { post } from './api.js';
import { Failed } from './ui.js';

export function SignIn({ code, signedIn, notice }) {
  const [token, setToken] = useState('');
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(!!code);
  const input = useRef(null);
  useEffect(() => { if (!code) input.current.focus(); }, []);
  const send = async body => {
    setBusy(true);
    setError(null);
    try {
      signedIn(await post('/session', body));
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  useEffect(() => {
    if (!code) return;
    history.replaceState(null, '', '#/');
    send({ code });
  }, []);
  return html`
    <main class="sign-in" id="main">
      <img src="icon.svg" alt="" width="48" height="48" />
      <h1>Postrider</h1>
      ${notice && html`<p class="note">${notice}</p>`}
      <form onSubmit=${event => { event.preventDefault(); send({ token: token.trim() }); }}>
        <label>Token<input type="password" name="token" required autocomplete="off" ref=${input} value=${token} onInput=${e => setToken(e.target.value)} /></label>
        <${Failed} error=${error} />
        <button type="submit" class="primary" disabled=${busy}>${busy ? 'Signing in…' : 'Sign in'}</button>
      </form>
      <p class="muted small">Make one with <code>./postrider token create NAME --role operator</code>. <code>./postrider up</code> prints a link that signs in.</p>
    </main>`;
}
