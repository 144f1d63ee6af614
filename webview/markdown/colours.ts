import type { CodeRun } from './highlight.ts';

type Highlighter = typeof import('./highlight.ts');

/** The highlighter is a script of its own: a panel without code does not load it. */
let highlighter: Highlighter | undefined;
let loading: Promise<void> | undefined;
/** Code that is shown without its colours, as long as they may still come. */
let plain: { text: Text; language: string }[] | undefined = [];

/**
 * Code as nodes whose text is the code. Until the highlighter is there it is one plain text; the colours then take its place: the
 * same letters, so that nothing moves.
 */
export function codeNodes(code: string, language: string): Node[] {
  if (highlighter) return highlighter.highlightRuns(code, language).map(node);
  const text = document.createTextNode(code);
  if (language && plain) {
    plain.push({ text, language });
    void loadColours();
  }
  return [text];
}

/** Never fails: code without colours is code all the same. */
export function loadColours(): Promise<void> {
  loading ??= import('./highlight.ts')
    .then((loaded) => {
      highlighter = loaded;
      for (const { text, language } of plain ?? [])
        if (text.parentNode) text.replaceWith(...codeNodes(text.data, language));
    })
    .catch((error) => console.warn('Towpath: code has no colours.', error))
    .finally(() => {
      plain = undefined;
    });
  return loading;
}

function node({ text, kind }: CodeRun): Node {
  if (!kind) return document.createTextNode(text);
  const run = document.createElement('span');
  run.className = `hl-${kind}`;
  run.append(text);
  return run;
}
