// Calls of the HTTP API, with the session's cookie. The header tells the server that a page of its own calls.

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `HTTP ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

// A number that JavaScript cannot hold exactly. It is shown as the server wrote it.
export class ExactNumber {
  constructor(source) { this.source = source; }
  toString() { return this.source; }
}

const exact = (key, value, context) =>
  typeof value === 'number' && context && context.source !== undefined && !same(value, context.source)
    ? new ExactNumber(context.source) : value;

const same = (value, source) =>
  String(value) === source || (Number.isFinite(value) && source.length < 16 && Number(source) === value);

export const readJson = text => JSON.parse(text, exact);

let onSignedOut = () => {};
export const whenSignedOut = listener => { onSignedOut = listener; };

export async function call(method, path, body) {
  const headers = { 'X-Postrider-Console': '1', Accept: 'application/json' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch('../v1' + path, {
      method, headers, credentials: 'same-origin', body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (e) {
    throw new ApiError(0, { detail: 'The server does not answer.' });
  }
  const text = await response.text();
  let data = {};
  try {
    data = text ? readJson(text) : {};
  } catch (e) {
    throw new ApiError(response.status, { detail: `The answer is not JSON (HTTP ${response.status}).` });
  }
  if (!response.ok) {
    if (response.status === 401 && path !== '/session') onSignedOut();
    throw new ApiError(response.status, data);
  }
  return data;
}

export const get = path => call('GET', path);
// Without a body if none is given: calls that take none refuse one.
export const post = (path, body) => call('POST', path, body);

export const params = values => {
  const query = new URLSearchParams();
  Object.entries(values).forEach(([name, value]) => {
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  });
  const text = query.toString();
  return text ? '?' + text : '';
};

// Calls that act on many stop after a while and say so. Goes on until they are complete.
export async function untilComplete(path, body, progress) {
  let count = 0;
  for (;;) {
    const done = await post(path, body);
    count += Number(done.count);
    progress(count);
    if (done.complete) return count;
  }
}
