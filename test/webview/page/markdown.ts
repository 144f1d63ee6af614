import { Lexer } from 'marked';
import { loadCodeHighlighter } from '../../../webview/markdown/codeHighlighter.ts';
import type { LinkTarget } from '../../../webview/markdown/links.ts';
import { MarkdownView } from '../../../webview/markdown/view.ts';
import type { MarkdownPage, Rendering, Work } from '../renderings.ts';

const counted = { lexed: 0 };
const blockTokens = Lexer.prototype.blockTokens;
let depth = 0;
Lexer.prototype.blockTokens = function (this: Lexer, source: string, ...rest: never[]) {
  if (depth === 0) counted.lexed += source.length;
  depth++;
  try {
    return (blockTokens as (...all: unknown[]) => never).call(this, source, ...rest);
  } finally {
    depth--;
  }
} as typeof blockTokens;

function render(source: string): Rendering {
  document.querySelector('.markdown')?.remove();
  const asked: LinkTarget[] = [];
  const begun = performance.now();
  const view = new MarkdownView({ open: (target) => asked.push(target), copy: () => {}, use: () => {} });
  view.show(source, true);
  document.body.append(view.element);
  const ms = performance.now() - begun;
  const elements = [...view.element.querySelectorAll('*')];
  const links = [...view.element.querySelectorAll<HTMLElement>('.link')].map((link) => {
    link.click();
    return { target: asked.pop()!, text: link.textContent ?? '', title: link.title };
  });
  const walker = document.createTreeWalker(view.element);
  let nodes = 0;
  while (walker.nextNode()) nodes++;
  return {
    text: view.element.textContent ?? '',
    elements: [...new Set(elements.map((element) => element.localName))],
    attributes: [...new Set(elements.flatMap((element) => element.getAttributeNames()))],
    nodes,
    ms,
    links,
    images: view.element.querySelectorAll('.image').length,
    cut: view.element.querySelector('.more') !== null,
  };
}

/** Shows growing parts of a text one after the other, then the whole of it at once in another view. */
async function stream(source: string, ends: number[]): Promise<Work> {
  const actions = { open: () => {}, copy: () => {}, use: () => {} };
  const view = new MarkdownView(actions);
  document.querySelector('.markdown')?.remove();
  document.body.append(view.element);
  let added = 0;
  const count = (records: MutationRecord[]) => {
    for (const record of records) added += record.addedNodes.length;
  };
  const observer = new MutationObserver(count);
  observer.observe(view.element, { childList: true, subtree: true });
  counted.lexed = 0;
  for (const end of ends) {
    view.show(source.slice(0, end), false);
    count(observer.takeRecords());
  }
  view.show(source, true);
  count(observer.takeRecords());
  observer.disconnect();
  const lexed = counted.lexed;
  const whole = new MarkdownView(actions);
  whole.show(source, true);
  await loadCodeHighlighter();
  return {
    text: view.element.textContent ?? '',
    wholeText: whole.element.textContent ?? '',
    html: view.element.outerHTML,
    wholeHtml: whole.element.outerHTML,
    lexed,
    added,
  };
}

async function colour(source: string): ReturnType<MarkdownPage['colour']> {
  const { text } = render(source);
  const shown = document.querySelector<HTMLElement>('.markdown')!;
  const look = () => ({
    text: shown.textContent ?? '',
    height: shown.clientHeight,
    colours: shown.querySelectorAll('[class^=hl-]').length,
  });
  const before = { ...look(), text };
  await loadCodeHighlighter();
  return { before, after: look() };
}

async function streamAround(source: string, at: number): Promise<Pick<Work, 'html' | 'wholeHtml'>> {
  const actions = { open: () => {}, copy: () => {}, use: () => {} };
  const view = new MarkdownView(actions);
  for (let end = 0; end < source.length; end += 7) {
    view.show(source.slice(0, end), false);
    if (end >= at) await loadCodeHighlighter();
  }
  view.show(source, true);
  const whole = new MarkdownView(actions);
  whole.show(source, true);
  await loadCodeHighlighter();
  return { html: view.element.outerHTML, wholeHtml: whole.element.outerHTML };
}

const page: MarkdownPage = { render, stream, streamAround, colour, loadColours: loadCodeHighlighter };
Object.assign(window, { markdown: page });
