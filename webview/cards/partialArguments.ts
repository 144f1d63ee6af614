import { callSubjectArguments } from '../../src/protocol/run/callSubject.ts';
import type { StreamedCallDraft } from '../../src/protocol/run/run.ts';
import { createDictionary } from '../../src/protocol/values/dictionary.ts';

/** Parses incomplete arguments: finished strings of the keys that describe a call. */
export function parsePartialArguments(argumentsText: string): Record<string, string> {
  const written = argumentsText.slice(0, 4000);
  const found = createDictionary<string>();
  for (const [, name, value] of written.matchAll(stringField)) {
    if (callSubjectArguments.has(name!) && !(name! in found)) found[name!] = readString(value!);
  }
  return found;
}

const stringField = /"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"/g;

function readString(written: string): string {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return written;
  }
}

/** Progress of an edit call during streaming: line count and the newest three lines. */
export interface EditProgress {
  lines: number;
  newest: { sign: '+' | '-' | ' '; text: string }[];
}

const textNames: Record<string, string> = { 'fs.write': 'content', 'fs.edit': 'newText', 'fs.apply_patch': 'patch' };
const tail = 4000;
const longestLine = 300;

const counts = new WeakMap<StreamedCallDraft, { from: number; at: number; lines: number }>();

export function editProgressFromDraft(draft: StreamedCallDraft): EditProgress | undefined {
  const { name, argumentsText } = draft;
  const field = Object.hasOwn(textNames, name) ? textNames[name]! : undefined;
  if (field === undefined) return undefined;
  const key = argumentsText.lastIndexOf(`"${field}"`);
  const opening = /^"\w+"\s*:\s*"/.exec(argumentsText.slice(key, key + 60));
  if (key < 0 || !opening) return undefined;
  const from = key + opening[0].length;
  const end = endOfString(argumentsText, from);
  const before = counts.get(draft);
  const count = before?.from === from && before.at <= end ? before : { from, at: from, lines: 1 };
  counts.set(draft, countUpTo(argumentsText, end, count));
  const { lines } = counts.get(draft)!;
  const newest = unescaped(argumentsText.slice(Math.max(from, end - tail), end)).split('\n');
  const isEnded = newest.at(-1) === '';
  const shown = isEnded ? newest.slice(-4, -1) : newest.slice(-3);
  const isPatch = name === 'fs.apply_patch';
  return {
    lines: isEnded ? lines - 1 : lines,
    newest: shown.map((line) => {
      const sign = !isPatch ? '+' : line[0] === '+' || line[0] === '-' ? line[0] : ' ';
      return { sign, text: (isPatch ? line.slice(1) : line).slice(0, longestLine) };
    }),
  };
}

/** Index of the closing quote, possible only before the end of the arguments; else the end of the text. */
function endOfString(written: string, from: number): number {
  if (!/["}\]]\s*$/.test(written.slice(-20))) return written.length;
  for (let at = from; at < written.length; at++) {
    if (written[at] === '\\') at++;
    else if (written[at] === '"') return at;
  }
  return written.length;
}

function countUpTo(written: string, end: number, { from, at, lines }: { from: number; at: number; lines: number }) {
  let next = written.indexOf('\\n', at);
  while (next >= 0 && next + 2 <= end) {
    if (!isEscaped(written, next)) lines++;
    at = next + 2;
    next = written.indexOf('\\n', at);
  }
  return { from, at: Math.max(at, end - 1), lines };
}

/** Unescapes from and to positions that may be inside of an escape sequence. */
function unescaped(written: string): string {
  const whole = written.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, (end) =>
    isEscaped(written, written.length - end.length) ? end : '',
  );
  return whole.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, one: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (escapes[one] ?? one),
  );
}

function isEscaped(written: string, at: number): boolean {
  let slashes = 0;
  while (written[at - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '', f: '' };
