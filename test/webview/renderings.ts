import type { LinkTarget } from '../../webview/markdown/links.ts';

/** What one rendering came to. */
export interface Rendering {
  text: string;
  /** Names of the elements in use, each once. */
  elements: string[];
  /** Names of the attributes in use, each once. */
  attributes: string[];
  nodes: number;
  ms: number;
  /** What each link asked for when it was clicked, and what it says about where it leads. */
  links: { target: LinkTarget; text: string; title: string }[];
  images: number;
  cut: boolean;
}

/** How much was done for a text that came in slices. */
export interface Work {
  text: string;
  wholeText: string;
  html: string;
  wholeHtml: string;
  lexed: number;
  added: number;
}

/** What the page of page/markdown.ts offers to a test, as `globalThis.markdown`. */
export interface MarkdownPage {
  render(source: string): Rendering;
  /** Shows growing parts of a text, up to each of `ends`, then the whole of it at once in another view. */
  stream(source: string, ends: number[]): Promise<Work>;
  /** Slices of a text, the colours of its code once it is shown up to `at`, and the rest; then the whole of it in another view. */
  streamAround(source: string, at: number): Promise<Pick<Work, 'html' | 'wholeHtml'>>;
  /** Shows a text, and then the colours of its code. */
  colour(source: string): Promise<Record<'before' | 'after', { text: string; height: number; colours: number }>>;
  /** Resolves when all code has its colors. */
  loadColours(): Promise<void>;
}
