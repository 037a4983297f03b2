// Drawings of 16 by 16, in the colour of the text.
import { html } from './lib.js';

export const Icon = ({ path }) => html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${path} /></svg>`;
