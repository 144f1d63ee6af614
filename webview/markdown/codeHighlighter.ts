import type { HighlightedCodeSegment } from './highlight.ts';

type Highlighter = typeof import('./highlight.ts');

/** The highlighter is a separate script, loaded only for code. */
let highlighter: Highlighter | undefined;
let loading: Promise<void> | undefined;
let failed = false;
let plain: { text: Text; language: string }[] = [];
const whenColored: (() => void)[] = [];
/** Milliseconds for highlighting per task; the rest follows in later tasks. */
const budget = 50;
let spent = 0;

/**
 * Returns code as nodes. Before the highlighter is loaded, or above the time budget, the result is one text node, later replaced by the
 * same text in colors without layout changes.
 */
export function highlightedCodeNodes(code: string, language: string): Node[] {
  if (highlighter && spent < budget) return colored(highlighter, code, language);
  const text = document.createTextNode(code);
  if (language && !failed) {
    plain.push({ text, language });
    if (highlighter) pause();
    else void loadCodeHighlighter();
  }
  return [text];
}

/** Loads the highlighter once. Resolves when all code is colored. Never rejects: a failed load leaves code plain. */
export async function loadCodeHighlighter(): Promise<void> {
  loading ??= import('./highlight.ts')
    .then((loaded) => {
      highlighter = loaded;
      colorPlain();
    })
    .catch((error) => {
      failed = true;
      plain = [];
      console.warn('Towpath: code has no colors.', error);
    });
  await loading;
  if (plain.length > 0) await new Promise<void>((resolve) => whenColored.push(resolve));
}

function colored({ highlightCode }: Highlighter, code: string, language: string): Node[] {
  const start = performance.now();
  const nodes = highlightCode(code, language).map(node);
  spent += performance.now() - start;
  pause();
  return nodes;
}

function colorPlain(): void {
  while (highlighter && spent < budget) {
    const next = plain.shift();
    if (!next) break;
    if (next.text.parentNode) next.text.replaceWith(...colored(highlighter, next.text.data, next.language));
  }
  if (plain.length === 0) for (const resolve of whenColored.splice(0)) resolve();
}

let pausing = false;

function pause(): void {
  if (pausing) return;
  pausing = true;
  setTimeout(() => {
    pausing = false;
    spent = 0;
    colorPlain();
  });
}

function node({ text, kind }: HighlightedCodeSegment): Node {
  if (!kind) return document.createTextNode(text);
  const run = document.createElement('span');
  run.className = `hl-${kind}`;
  run.append(text);
  return run;
}
