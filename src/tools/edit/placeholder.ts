import { ToolError } from '../core/tool.ts';

/**
 * Refuses text with a placeholder line for omitted code ("// ... rest unchanged"): writing the text would delete that code. A line already
 * in the file is allowed.
 */
export function rejectOmittedCodePlaceholders(text: string, before: string | null): void {
  const lines = text.split(/\r?\n/);
  let own: Set<string> | undefined; // few texts have a placeholder
  const isOwn = (line: string) => {
    own ??= new Set((before ?? '').split(/\r?\n/).map((one) => one.trim()));
    return own.has(line.trim());
  };
  const index = lines.findIndex((line) => isOmittedCodePlaceholder(line) && !isOwn(line));
  if (index < 0) return;
  const line = JSON.stringify(lines[index]!.trim().slice(0, 100));
  throw new ToolError(
    'TOOL_ARGS_INVALID',
    `Line ${index + 1} stands for text that was left out: ${line}. Write everything out, or change a part with fs.edit.`,
    { reason: 'PLACEHOLDER' },
  );
}

// Maximum characters of a placeholder; the limit also bounds the duration of the patterns.
const longestPlaceholder = 300;

export function isOmittedCodePlaceholder(whole: string): boolean {
  const line = whole.trim().replace(/\s+/g, ' ');
  if (line.length > longestPlaceholder) return false;
  const inner =
    /^\s*(?:\/\/+|#+|--+|;+|%+|\/\*+|\{\s*\/\*|<!--|\(\*|"""|\[|\(|<|\*)\s*(.*?)\s*(?:\*\/\s*\}?|-->|\*\)|"""|\]|\)|>)?\s*$/.exec(
      line,
    )?.[1];
  const words = (inner ?? (/^\s*(?:\.{3}(?![\w$.[({]+[)\]},;]*\s*$)|…)/.test(line) ? line : '')).trim().toLowerCase();
  if (words === '') return false;
  if (/^\s*(\/\/+|#+|--+|;+|%+|\/\*+|<!--|\{\s*\/\*)\s*(\.{3,}|…)\s*(\*\/\s*\}?|-->)?\s*$/.test(line)) return true;
  const dots = /^(?:\.{3}|…)|(?:\.{3}|…)$/.test(words);
  const bare = words
    .replace(/\.{3}|…|[()[\].,:;-]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (dots && (leftOut.test(bare) || leftOutByUs.test(words))) return true;
  return unchanged.test(bare);
}

const leftOut =
  /\b(rest|remaining|remainder|existing|unchanged|omitted|previous code|other (code|methods|functions|lines|imports|tests|fields)|same as (before|above)|as before|keep|truncated|snip)\b/;
// Marker of `truncate` in older calls of the model.
const leftOutByUs = /^… [\d,]+ characters left out …$/;
const unchanged =
  /^(the )?(rest|remaining|remainder|existing|other|previous)\b( of)?( (the|this|your))?( (code|file|content|contents|implementation|function|functions|method|methods|class|component|lines|imports|tests|logic))*( (is|are|stays?|remains?|goes|go))?( the)? (unchanged|same|omitted|as before|here)( as before| here)?$/;
