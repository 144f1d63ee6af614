import { html, nothing, type TemplateResult } from 'lit-html';

/**
 * Path on one line: the folder is shortened with an ellipsis, the file name never.
 *
 * @param path path in its displayed form
 */
export function pathView(path: string): TemplateResult {
  const cut = Math.max(path.lastIndexOf('/', path.length - 2), path.lastIndexOf('\\', path.length - 2));
  const folder = cut > 0 ? path.slice(0, cut) : '';
  // A short folder is not shortened: the ellipsis would be as wide.
  return html`<span class="path">${
    folder
      ? html`<span class="path-folder" .style=${`--least: ${folder.length > 3 ? '3ch' : 'max-content'}`}><bdi>${folder}</bdi></span>`
      : nothing
  }<span class="path-name"><bdi>${path.slice(folder.length)}</bdi></span></span>`;
}
