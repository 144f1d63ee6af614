import stringify from 'safe-stable-stringify';
import { escapeInvisible, escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../protocol/text/l10n.ts';
import { textHead, textTail } from '../../protocol/text/shorten.ts';
import type { ServerToolText } from '../../tools/mcp/serverText.ts';
import type { McpToolChangesApprovalRequest } from '../../tools/mcp/toolChanges.ts';
import type { ApprovalText } from '../dialogs/approvalText.ts';
import { type ExcerptForDialog, excerptLineForDialog } from '../dialogs/dialogExcerpt.ts';

const maxLines = 20;
const maxCharacters = 2000;
const longestName = 130;
/** Maximum characters of a difference, and of the surrounding context. */
const longestPart = 200;
const around = 30;
const longestSides = 4_000_000;
/** Line length in a review, because editors truncate very long lines. */
const pieces = /.{1,100}/gu;

/**
 * Returns the text of a review request for changed tools. Server text is displayed as data: nothing is hidden, and no text can start a new
 * line. `whole`: nothing was omitted, so a review is not required.
 */
export function toolChangesApprovalText(question: McpToolChangesApprovalRequest): ApprovalText & { whole: boolean } {
  const { definition, added, changed, removed, trusted } = question;
  const lines = new Lines();
  for (const { was, now } of changed) lines.add('Changed: {0}', now.name, changesOf(was, now));
  for (const tool of added) lines.add('New: {0}', tool.name, excerptsOf(tool));
  if (removed.length > 0) lines.add('Missing: {0}', removed.map(({ name }) => name).join(', '), []);
  const claims = [...added, ...changed.map(({ now }) => now)].some(({ annotations }) => annotations?.readOnlyHint);
  const detail = [
    lines.text,
    trusted && claims && t('You trust the read-only tools of this server. They run without approval.'),
    !lines.whole &&
      t(
        'The text does not fit here. {0} shows all of it next to the previous version; then you can allow it.',
        t('Review…'),
      ),
    t(
      'Your permissions for a changed tool then apply to the new version. If you decline, new and changed tools stay disabled; the others can be used. The server is configured in {0}.',
      escapeInvisibleInLine(definition.source),
    ),
  ];
  return {
    message: t('The MCP server {0} has changed its tools. Use them as they are now?', line(definition.name).text),
    detail: detail.filter(Boolean).join('\n\n'),
    whole: lines.whole,
  };
}

/** Returns the old and new tools for a diff. */
export function toolChangesApprovalDiff({ added, changed, removed }: McpToolChangesApprovalRequest): {
  before: string;
  after: string;
  whole: boolean;
} {
  const both: { name: string; was?: Partial<ServerToolText>; now?: ServerToolText }[] = [
    ...changed.map(({ was, now }) => ({ name: now.name, was: was ?? { name: now.name }, now })),
    ...added.map((now) => ({ name: now.name, now })),
    ...removed.map((was) => ({ name: was.name, was })),
  ].sort((one, other) => (one.name < other.name ? -1 : 1));
  let [before, after] = ['', ''];
  let left = longestSides;
  for (const [index, { was, now }] of both.entries()) {
    left -= JSON.stringify([was, now]).length;
    if (left < 0) {
      const left = t(
        '{0}: too large to be shown, and so to be allowed. Removing the server starts over.',
        localizedCount(both.length - index, 'more tool'),
      );
      after += `${left}\n`;
      return { before, after, whole: false };
    }
    before += was ? block(was) : '';
    after += now ? block(now) : '';
  }
  return { before, after, whole: true };
}

type Heading = 'Changed: {0}' | 'New: {0}' | 'Missing: {0}';

/** Builder of dialog lines up to the limit; lines beyond the limit cost no time. */
class Lines {
  private readonly lines: string[] = [];
  private length = 0;
  private left = 0;
  whole = true;

  /** @param parts a line per part */
  add(what: Heading, name: string, parts: Iterable<ExcerptForDialog>): void {
    if (this.left === 0 && this.take(what, name, parts)) return;
    this.left += 1;
    this.whole = false;
  }

  private take(what: Heading, name: string, parts: Iterable<ExcerptForDialog>): boolean {
    const head = line(name);
    const lines = [t(what, head.text)];
    let { whole } = head;
    for (const part of parts) {
      lines.push(`· ${part.text}`);
      whole &&= part.whole;
      if (this.lines.length + lines.length > maxLines) return false;
    }
    const length = this.length + lines.join('\n').length;
    if (length > maxCharacters) return false;
    this.lines.push(...lines);
    this.length = length;
    this.whole &&= whole;
    return true;
  }

  get text(): string {
    const rest = this.left > 0 ? [t('… and {0} more', this.left)] : [];
    return [...this.lines, ...rest].join('\n');
  }
}

function* changesOf(was: ServerToolText | undefined, now: ServerToolText): Generator<ExcerptForDialog> {
  const after = partsOf(now);
  if (!was) yield { text: t('its previous definition is unknown'), whole: true };
  const before = was ? partsOf(was) : new Map<string, string>();
  let changes = 0;
  for (const label of new Set([...before.keys(), ...after.keys()])) {
    const [one, other] = [before.get(label), after.get(label)];
    if (one === other) continue;
    changes += 1;
    if (other === undefined) yield excerptOf(t('missing: {0}', label), one!);
    else if (one === undefined) yield excerptOf(label, other);
    else yield* differing(label, one, other);
  }
  if (changes === 0) yield { text: t('matching its schema only'), whole: true };
}

function* excerptsOf(tool: ServerToolText): Generator<ExcerptForDialog> {
  for (const [label, text] of partsOf(tool)) yield excerptOf(label, text);
}

function excerptOf(label: string, text: string, most = longestPart): ExcerptForDialog {
  const [of, shown] = [line(label), shortened(text, most)];
  return { text: t('{0}: “{1}”', of.text, shown.text), whole: of.whole && shown.whole };
}

/** Returns the differing parts of two texts with some context. */
function differing(label: string, was: string, now: string): ExcerptForDialog[] {
  const shorter = Math.min(was.length, now.length);
  let start = 0;
  while (start < shorter && was[start] === now[start]) start++;
  let end = 0;
  while (end < shorter - start && was.at(-1 - end) === now.at(-1 - end)) end++;
  const from = Math.max(0, start - around);
  const [one, other] = [was, now].map((text) => {
    const to = Math.min(text.length, text.length - end + around);
    const piece = `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
    return shortened(piece, longestPart + 2 * around);
  });
  const { text: of, whole } = line(label);
  const isSeen = one!.text !== other!.text || !one!.whole || !other!.whole;
  if (!isSeen) return [{ text: t('{0}: differs only in spaces or color codes', of), whole }];
  return [
    { text: t('{0} was: “{1}”', of, one!.text), whole: whole && one!.whole },
    { text: t('{0} is: “{1}”', of, other!.text), whole: whole && other!.whole },
  ];
}

/** Formats a text as a line with head and tail. Only the ends of a very long text are examined for hidden characters, to save time. */
function shortened(text: string, most: number): ExcerptForDialog {
  if (text.length <= 10 * most) return excerptLineForDialog(escapeInvisibleInLine(text), most);
  const end = Math.floor(most / 4);
  const ends = [textHead(text, most - end), textTail(text, end)].map(escapeInvisibleInLine);
  return { text: ends.join(`… (${t(localizedCount(text.length - most, 'more character'))}) …`), whole: false };
}

const line = (name: string): ExcerptForDialog => shortened(name, longestName);

function partsOf({ title, description, inputSchema, annotations }: ServerToolText): Map<string, string> {
  const { type: _, properties, required, ...rest } = Object(inputSchema) as Record<string, unknown>;
  const json = (value: unknown) => stringify(value) ?? '';
  const parts: [label: string, text: string | undefined][] = [
    [t('title'), title],
    [t('description'), description],
    ...Object.entries(Object(properties)).map(
      ([name, value]) => [t('argument {0}', name), json(value)] as [string, string],
    ),
    [t('required arguments'), required === undefined ? undefined : json(required)],
    [t('schema'), Object.keys(rest).length > 0 ? json(rest) : undefined],
    [t('definition'), annotations === undefined ? undefined : json(annotations)],
  ];
  return new Map(parts.filter((part): part is [string, string] => part[1] !== undefined));
}

/** Formats a tool; a bar before each line distinguishes server text from our own. */
function block({ name = '', title, description, inputSchema, annotations }: Partial<ServerToolText>): string {
  const head = line(name);
  const parts: [label: string, text: string | undefined][] = [
    [t('name'), head.whole ? undefined : name],
    [t('title'), title],
    [t('description'), description],
    [t('arguments'), inputSchema && stringify(inputSchema, null, 2)],
    [t('definition'), annotations && stringify(annotations, null, 2)],
  ];
  const lines = parts.flatMap(([label, text]) => (text === undefined ? [] : [`  ${label}`, ...barred(text)]));
  return `${[head.text, ...lines].join('\n')}\n\n`;
}

const barred = (text: string) =>
  escapeInvisible(text)
    .split('\n')
    .flatMap((line) => (line.match(pieces) ?? ['']).map((piece, index) => `    ${index > 0 ? '⋮' : '|'} ${piece}`));
