// Lines over time, drawn by uPlot. Colours come from the style sheet.
import { html, useEffect, useRef } from './lib.js';

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const HEIGHT = 150;

// Seconds only while the chart covers less than five minutes.
const clock = (seconds, u) => {
  const text = new Date(seconds * 1000).toTimeString().slice(0, 8);
  return u.scales.x.max - u.scales.x.min < 300 ? text : text.slice(0, 5);
};

// series: [{label, colour, column, fill}]. format: value => text. steps: distances of the lines, if not decimal.
export function Chart({ title, points, series, format, axis: short = format, steps, theme }) {
  const place = useRef(null);
  const plot = useRef(null);
  const legend = useRef(null);
  const data = [points.map(p => p[0] / 1000), ...series.map(s => points.map(p => p[s.column]))];
  useEffect(() => {
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    const show = u => {
      if (!legend.current) return;
      const at = u.cursor.idx ?? u.data[0].length - 1;
      [...legend.current.querySelectorAll('b')].forEach((node, i) => {
        const value = u.data[i + 1] && u.data[i + 1][at];
        node.textContent = value === null || value === undefined ? '–' : format(value);
      });
    };
    plot.current = new uPlot({
      width: place.current.clientWidth || 300,
      height: HEIGHT,
      padding: [10, 10, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: { y: { range: (u, low, high) => [0, high > 0 ? high * 1.1 : 10] } },
      axes: [{ ...axis, space: 80, size: 30, gap: 8, values: (u, times) => times.map(t => clock(t, u)) },
        { ...axis, size: 56, space: 34, ...(steps ? { incrs: steps } : {}), values: (u, values) => values.map(v => short(v)) }],
      series: [{}, ...series.map(s => ({
        label: s.label, stroke: colour(s.colour), width: 1.6, points: { show: false }, spanGaps: true,
        fill: s.fill ? colour(s.colour) + '22' : undefined }))],
      hooks: { setCursor: [show], setData: [show], ready: [show] },
    }, data, place.current);
    const observer = new ResizeObserver(() => plot.current && place.current
      && plot.current.setSize({ width: place.current.clientWidth, height: HEIGHT }));
    observer.observe(place.current);
    return () => { observer.disconnect(); plot.current.destroy(); plot.current = null; };
  }, [theme]);
  useEffect(() => { if (plot.current) plot.current.setData(data); }, [points]);
  const last = points.length ? points[points.length - 1] : null;
  const spoken = last ? series.map(s => `${s.label} ${last[s.column] === null ? 'none' : format(last[s.column])}`).join(', ') : 'no data yet';
  return html`
    <figure class="chart">
      <figcaption><span>${title}</span><span class="legend" ref=${legend} aria-hidden="true">${series.map(s => html`
        <span class="key"><i class=${s.colour.slice(2)}></i>${s.label} <b>–</b></span>`)}</span></figcaption>
      <div ref=${place} class="plot" role="img" aria-label=${`${title}: ${spoken}`}></div>
    </figure>`;
}
