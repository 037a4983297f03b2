// The pages: their names, their icons, and from which file they come.
import { Dead } from './dead.js';
import { Messages } from './messages.js';
import { Overview } from './overview.js';

// needs: a permission; all: not for tokens that are limited to a tenant or namespace; from: loaded when it is first opened.
export const PAGES = [
  { path: '', name: 'Overview', page: Overview, all: true, icon: 'M2 9l6-6 6 6M4 8v6h8V8' },
  { path: 'messages', name: 'Messages', page: Messages, icon: 'M2 4h12v9H2zM2 4.5l6 4.5 6-4.5' },
  { path: 'dead', name: 'Dead letters', page: Dead, count: status => status.dead, icon: 'M8 2a6 6 0 100 12A6 6 0 008 2zM6 6l4 4M10 6l-4 4' },
  { path: 'keys', name: 'Keys', from: () => import('./keys.js'), all: true, count: status => status.blocked_keys, icon: 'M6 7a3 3 0 100 6 3 3 0 000-6zM8 8l5-5M11 5l2 2' },
  { path: 'replay', name: 'Replay', from: () => import('./replay.js'), all: true, icon: 'M3 8a5 5 0 105-5H4M6 1L4 3l2 2' },
  { path: 'tail', name: 'Live tail', from: () => import('./tail.js').then(file => ({ 'Live tail': file.Tail })), all: true, icon: 'M1 8h3l2-5 4 10 2-5h3' },
  { path: 'relays', name: 'Relays', from: () => import('./fleet.js'), all: true, group: true, icon: 'M2 3h12v4H2zM2 9h12v4H2zM5 5h.01M5 11h.01' },
  { path: 'destinations', name: 'Destinations', from: () => import('./fleet.js'), all: true, icon: 'M8 14s5-4.5 5-8A5 5 0 003 6c0 3.5 5 8 5 8zM8 4.5a1.5 1.5 0 100 3 1.5 1.5 0 000-3z' },
  { path: 'topics', name: 'Topics', from: () => import('./fleet.js'), all: true, icon: 'M6 2L5 14M11 2l-1 12M2.5 5.5h11.5M2 10.5h11.5' },
  { path: 'audit', name: 'Audit', from: () => import('./admin.js'), all: true, group: true, icon: 'M4 2h8v12H4zM6 5h4M6 8h4M6 11h2' },
  { path: 'tokens', name: 'Tokens', from: () => import('./admin.js'), all: true, needs: 'tokens', icon: 'M8 1.5l5 2V8c0 3-2 5-5 6.5C5 13 3 11 3 8V3.5zM6 8l1.5 1.5L10 6.5' },
  { path: 'retention', name: 'Retention', from: () => import('./admin.js'), all: true, icon: 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 5v3.5l2.5 1.5' },
];
