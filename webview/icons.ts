import { html, svg, type TemplateResult } from 'lit-html';

const icon = (drawing: TemplateResult<2>): TemplateResult =>
  html`<svg class="icon" slot="" viewBox="0 0 16 16" aria-hidden="true">${drawing}</svg>`;

const line = (path: string): TemplateResult => icon(svg`<path d=${path} />`);

const circle = 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z';

export const icons = {
  add: line('M8 3v10M3 8h10'),
  branch: line(
    'M5 10.5v-5M5 10.5a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM5 5.5a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM11 6.5a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM11 6.5C11 9 8.5 9 5 9.3',
  ),
  check: line('M3 8.5l3.2 3L13 4.5'),
  chevron: line('M6 4l4 4-4 4'),
  close: line('M4 4l8 8M12 4l-8 8'),
  dot: icon(svg`<circle class="filled" cx="8" cy="8" r="3" />`),
  down: line('M8 3v9.5M4 8.8l4 4 4-4'),
  error: line(`${circle}M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4`),
  eye: line(
    'M1.5 8S3.9 3.8 8 3.8 14.5 8 14.5 8 12.1 12.2 8 12.2 1.5 8 1.5 8zM8 9.9a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8z',
  ),
  file: line('M4 2.5h5l3 3v8H4zM9 2.5v3h3'),
  flow: line('M2.5 3h4v3.5h-4zM9.5 9.5h4V13h-4zM4.5 6.5v4.8h5'),
  folder: line('M2 4h4l1.3 1.5H14V13H2z'),
  history: line('M2.8 8a5.3 5.3 0 1 0 1.6-3.8L2.8 5.7M2.8 2.6v3.1h3.1M8 5v3.2l2.2 1.5'),
  info: line(`${circle}M8 7.3v3.9M8 4.9v.3`),
  left: line('M10 4L6 8l4 4'),
  lines: line('M3 4h10M3 8h7M3 12h9'),
  list: line('M2.5 4l1 1 1.7-2M2.5 10.8l1 1 1.7-2M8 4.3h5.5M8 11h5.5'),
  more: icon(svg`${[3.5, 8, 12.5].map((x) => svg`<circle class="filled" cx=${x} cy="8" r="1.2" />`)}`),
  pause: icon(svg`<path class="filled" d="M5 4h2v8H5zM9 4h2v8H9z" />`),
  pauseLines: line('M6 4.5v7M10 4.5v7'),
  pencil: line('M3 13l.6-2.8 7.2-7.2 2.2 2.2-7.2 7.2zM9.4 4.4l2.2 2.2'),
  person: line('M8 8a2.7 2.7 0 1 0 0-5.4A2.7 2.7 0 0 0 8 8zM3 13.5c.3-2.3 2.3-3.6 5-3.6s4.7 1.3 5 3.6'),
  picture: line('M2.5 3.5h11v9h-11zM2.5 11l3-3 2.5 2.5 2-2 3.5 3.5M10.4 6.3v.2'),
  pin: line('M5 2.5h6M6.2 2.5v4L4 9.5h8L9.8 6.5v-4M8 9.5V14'),
  plug: line('M6 2.5v3M10 2.5v3M4.5 5.5h7v2.2a3.5 3.5 0 0 1-7 0zM8 11.2v2.8'),
  prompt: line('M2.5 3.5h11v7.5H7L4.3 13.3V11H2.5z'),
  question: line(`${circle}M6.3 6.4a1.75 1.75 0 1 1 2.6 1.5c-.6.4-.9.7-.9 1.4M8 11.2v.3`),
  right: line('M3 8h9.5M8.8 4l4 4-4 4'),
  ring: line('M8 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z'),
  ringDot: icon(
    svg`<path d="M8 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z" /><circle class="filled" cx="8" cy="8" r="2" />`,
  ),
  send: line('M8 13V3.5M3.9 7.4L8 3.3l4.1 4.1'),
  shield: line('M8 2l5 1.8v3.9c0 2.9-2 5-5 6.3-3-1.3-5-3.4-5-6.3V3.8zM6 7.8l1.5 1.5 2.7-3'),
  skipped: line('M4 8h8'),
  spark: line('M8 2.5l1.5 4 4 1.5-4 1.5-1.5 4-1.5-4-4-1.5 4-1.5z'),
  stop: icon(svg`<rect class="filled" x="4" y="4" width="8" height="8" rx="1" />`),
  symbol: line('M6 3H4.8v3.6L3.4 8l1.4 1.4V13H6M10 3h1.2v3.6L12.6 8l-1.4 1.4V13H10'),
  terminal: line('M2.5 3.5h11v9h-11zM4.8 6.2L6.8 8l-2 1.8M8.2 10.3h3'),
  trash: line('M3 4.5h10M6.3 4.5V3h3.4v1.5M4.4 4.5l.6 8.5h6l.6-8.5M6.8 7v3.6M9.2 7v3.6'),
  undo: line('M5.5 3.5L2.8 6.2l2.7 2.7M3 6.2h6.3a3.6 3.6 0 0 1 0 7.2H6'),
  up: line('M8 13V3.5M4 7.2l4-4 4 4'),
  warning: line('M8 2.5L14 13H2zM8 6.5v3.2M8 11.3v.3'),
};
