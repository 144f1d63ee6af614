import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import type { ErrorInfo, ToolCall } from '../../protocol/content/messages.ts';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { RepeatedCallDetails } from '../../protocol/text/codes.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';
import { textHead, textTail } from '../../protocol/text/shorten.ts';

/** Failed turns of a call before a hint and before the stop. */
const hintAt = 2;
const stopAt = 3;
/** Consecutive turns without new results before a hint. */
const staleAt = 2;

const failsAgain = 'This repeats calls that failed before. Do something else, or say what is missing.';
const nothingNew =
  'You have had this result before, apart from times and numbers at most. Go on with what you know, or say what you wait for.';

interface Failure {
  turns: number;
  files: string | undefined;
}

/**
 * Detects repetition: a call that fails again although its preconditions have not changed, regardless of calls in between. Calls are equal
 * if names and arguments are equal.
 *
 * A file tool depends on the files that it names: failures count while the sizes and times of these files are unchanged. The dependencies
 * of other calls are unknown, so any change clears their failures. A change is a success with a new outcome: of a call with effects, or of
 * a repeated read whose subject was changed by others. Outcomes are compared without variable parts (`outcomeKey`).
 *
 * Turns are counted, not calls, because a model sees a failure only after its whole reply has run. Repeated successes give a hint and count
 * only towards the turn limit, because a waiting model repeats calls.
 */
export class RepeatGuard {
  private readonly failures = new Map<string, Failure>();
  private readonly given = new Map<string, Set<string>>();
  private failed = new Set<string>();
  private isNew = false;
  private stale = 0;
  private circling?: { key: string; call: ToolCall };

  constructor(private readonly stateOfFiles: (call: ToolCall) => Promise<string | undefined>) {}

  beginTurn(): void {
    this.failed = new Set();
    this.isNew = false;
  }

  async endTurn(): Promise<Omit<ErrorInfo, 'code'> | undefined> {
    this.stale = this.isNew ? 0 : this.stale + 1;
    if (!this.circling) return undefined;
    const { key, call } = this.circling;
    if ((await this.stateOfFiles(call)) !== this.failures.get(key)?.files) {
      this.circling = undefined; // a later call of the same reply changed the files
      return undefined;
    }
    const text = message(
      'The same call failed {0} times without a change in between: {1}. Change the instructions, or continue.',
      stopAt,
      callText(call),
    );
    return {
      ...toErrorInfo(text),
      details: { name: call.name, arguments: shortened(call), times: stopAt } satisfies RepeatedCallDetails,
    };
  }

  forget(): void {
    this.failures.clear();
    this.given.clear();
    this.isNew = true;
    this.stale = 0;
    this.circling = undefined;
  }

  async note(call: ToolCall, outcome: ToolOutcome, onlyReads: boolean): Promise<ToolOutcome> {
    const key = `${call.name} ${stringify(call.malformed ?? call.arguments)}`;
    const before = this.given.get(key) ?? new Set();
    const gave = outcomeKey(call, outcome);
    const isNew = !before.has(gave);
    if (isNew) this.isNew = true;
    if (isNew && outcome.ok && (!onlyReads || before.size > 0)) this.changed();
    this.given.set(key, before.add(gave));
    if (!outcome.ok) return this.noteFailure(call, key, outcome);
    return isNew || this.stale < staleAt ? outcome : { ...outcome, hint: nothingNew };
  }

  private async noteFailure(
    call: ToolCall,
    key: string,
    outcome: Extract<ToolOutcome, { ok: false }>,
  ): Promise<ToolOutcome> {
    const files = await this.stateOfFiles(call);
    const last = this.failures.get(key);
    const before = last?.files === files ? (last?.turns ?? 0) : 0;
    const turns = Math.max(1, before + (this.failed.has(key) ? 0 : 1));
    this.failed.add(key);
    this.failures.set(key, { turns, files });
    if (turns >= stopAt) this.circling = { key, call };
    if (turns < hintAt) return outcome;
    return { ok: false, error: { ...outcome.error, message: `${outcome.error.message} ${failsAgain}` } };
  }

  private changed(): void {
    for (const [key, { files }] of this.failures) {
      if (files !== undefined) continue;
      this.failures.delete(key);
      this.failed.delete(key);
      if (this.circling?.key === key) this.circling = undefined;
    }
  }
}

/**
 * Identifies an outcome. File tools count literally. Other outcomes are compared without numbers (durations, dates, counters, ports),
 * identifiers, names of temporary files, and line order. Exit codes count.
 */
function outcomeKey(call: ToolCall, outcome: ToolOutcome): string {
  const text = JSON.stringify(outcome);
  if (call.name.startsWith('fs.')) return digest(text);
  const varying = text
    .replace(temporaryName, '$1')
    .replace(/[\w-]{6,}/g, (word) => (isIdentifier(word) ? '0' : word))
    .replace(duration, '')
    .replace(number, '0')
    .replace(/0(?:[ ,]+0)+/g, '0');
  const { exitCode } = Object(outcome.ok && outcome.data) as { exitCode?: unknown };
  return digest([exitCode, ...varying.split(/\\n|"/).sort()].join('\n'));
}

const temporaryName = /(\/tmp\/|\/var\/folders\/\w+\/\w+\/T\/|\\+Temp\\+)[^\s"'/\\:,)]+/g;
/** Durations with their brackets: test runners omit durations of fast or cached tests. */
const duration =
  / ?[([<]?(?:in |< ?)?(?<![\d.:_A-Z]|(?<!\\)[a-z])(?:\d+(?:[.,]\d+)?(?: ?(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b)(?:,? (?=\d))?|\d+:\d\d:\d\d(?![\w:]))+[)\]]?|\(cached\)/g;
const number = /\d+(?:[.,:]\d+)*(?: ?(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?)\b)?/g;
const isIdentifier = (word: string): boolean => /^[\da-f-]*\d[\da-f-]*$/i.test(word) || /\d[a-z]/i.test(word);

function callText(call: ToolCall): string {
  const { name, malformed } = call;
  const text = `${short(name, maxOfText)} ${short(malformed ?? JSON.stringify(shortened(call)), maxOfArguments)}`;
  return escapeInvisibleInLine(text).replaceAll('*Towpath', '\\u002aTowpath'); // avoids markup for commands of Towpath
}

const shortened = ({ arguments: args }: ToolCall): Record<string, unknown> =>
  JSON.parse(JSON.stringify(args, (_, value) => (typeof value === 'string' ? short(value, maxOfText) : value)));

const maxOfText = 80;
const maxOfArguments = 200;

function short(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${textHead(text, half)}…${textTail(text, half)}`;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
