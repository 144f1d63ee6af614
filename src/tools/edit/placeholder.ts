import { ToolError } from '../core/tool.ts';

/**
 * Refuses text in which a line stands for code left out ("// ... rest unchanged"): written to a file it would delete
 * what it stands for. A line that the file has already is the file's own.
 */
export function refusePlaceholders(text: string, before: string | null): void {
  const lines = text.split(/\r?\n/);
  let own: Set<string> | undefined; // few texts have such a line
  const isOwn = (line: string) => {
    own ??= new Set((before ?? '').split(/\r?\n/).map((one) => one.trim()));
    return own.has(line.trim());
  };
  const index = lines.findIndex((line) => isPlaceholder(line) && !isOwn(line));
  if (index < 0) return;
  const line = JSON.stringify(lines[index]!.trim().slice(0, 100));
  throw new ToolError(
    'TOOL_ARGS_INVALID',
    `Line ${index + 1} stands for text that was left out: ${line}. Write everything out, or change a part with fs.edit.`,
    { reason: 'PLACEHOLDER' },
  );
}

/** Nobody says it at greater length; and what follows would take its time with a line made for that. */
const longestPlaceholder = 300;

/** A whole line that is a comment, or in brackets, and says that something is left out. */
export function isPlaceholder(whole: string): boolean {
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
/** As `truncate` writes it into what a model is shown of its own older calls. */
const leftOutByUs = /^… [\d,]+ characters left out …$/;
const unchanged =
  /^(the )?(rest|remaining|remainder|existing|other|previous)\b( of)?( (the|this|your))?( (code|file|content|contents|implementation|function|functions|method|methods|class|component|lines|imports|tests|logic))*( (is|are|stays?|remains?|goes|go))?( the)? (unchanged|same|omitted|as before|here)( as before| here)?$/;
