import { html, nothing, type TemplateResult } from 'lit-html';

/** A path in one line: the folder gives way with an ellipsis, the name of the file never does. @param path as it is shown */
export function pathView(path: string): TemplateResult {
  const cut = Math.max(path.lastIndexOf('/', path.length - 2), path.lastIndexOf('\\', path.length - 2));
  const folder = cut > 0 ? path.slice(0, cut) : '';
  // A folder of a few letters is not shortened: an ellipsis is as wide.
  return html`<span class="path">${
    folder
      ? html`<span class="path-folder" .style=${`--least: ${Math.min(folder.length, 3)}ch`}><bdi>${folder}</bdi></span>`
      : nothing
  }<span class="path-name"><bdi>${path.slice(folder.length)}</bdi></span></span>`;
}
