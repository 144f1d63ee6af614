import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import type { ErrorInfo, ToolCall } from '../../protocol/content/messages.ts';
import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { Repeated } from '../../protocol/text/codes.ts';
import { visibleLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { toErrorInfo } from '../../protocol/text/localized.ts';

/** In how many turns a call fails before the model gets a hint, and before the loop stops. */
const hintAt = 2;
const stopAt = 3;
/** After so many turns in a row that brought nothing new the model hears of it. */
const staleAt = 2;

const failsAgain = 'This repeats calls that failed before. Do something else, or say what is missing.';
const nothingNew =
  'You have had this result before, apart from times and numbers at most. Go on with what you know, or say what you wait for.';

/** A call that failed, in how many turns, and the state of the files it names at the last of them. */
interface Failure {
  turns: number;
  files: string | undefined;
}

/**
 * Detects a model that repeats itself: a call that fails again, whatever else was done in between, while nothing that the call
 * depends on has changed. Two calls are the same when their names and arguments are.
 *
 * A call of a file tool depends on the files that it names: its failures are counted for as long as these keep their size and times.
 * It is unknown what any other call depends on, so any change clears its failures. Something has changed when a call succeeded with an outcome that it
 * never had: a call that may do more than read, or a repeated one that only reads, whose subject others have changed then.
 * Outcomes are compared without what varies by itself (`outcomeKey`).
 *
 * Turns are counted rather than calls, because a model learns of a failure after its whole reply has run. Successes that repeat get
 * a hint and otherwise count towards the limit of turns only: a model that waits asks for the same again.
 */
export class RepeatGuard {
  private readonly failures = new Map<string, Failure>();
  /** All that each call has given. */
  private readonly given = new Map<string, Set<string>>();
  /** In this turn. */
  private failed = new Set<string>();
  private isNew = false;
  /** Turns in a row in which every call gave what it had given before. */
  private stale = 0;
  private circling?: { key: string; call: ToolCall };

  /** @param stateOfFiles the state of the files that a call names; undefined: it names none */
  constructor(private readonly stateOfFiles: (call: ToolCall) => Promise<string | undefined>) {}

  /** A reply has come. */
  beginTurn(): void {
    this.failed = new Set();
    this.isNew = false;
  }

  /** All calls of the reply have been noted. Once it is enough: a sentence for the person, with the call that is repeated (`details`). */
  async endTurn(): Promise<Omit<ErrorInfo, 'code'> | undefined> {
    this.stale = this.isNew ? 0 : this.stale + 1;
    if (!this.circling) return undefined;
    const { key, call } = this.circling;
    if ((await this.stateOfFiles(call)) !== this.failures.get(key)?.files) {
      this.circling = undefined; // a later call of the same reply has changed them
      return undefined;
    }
    const words = message(
      'The same call failed {0} times without a change in between: {1}. Change the instructions, or continue.',
      stopAt,
      wordsOf(call),
    );
    return {
      ...toErrorInfo(words),
      details: { name: call.name, arguments: shortened(call), times: stopAt } satisfies Repeated,
    };
  }

  /** The person has said something, or a command has ended meanwhile, which may change anything: all is counted anew. */
  forget(): void {
    this.failures.clear();
    this.given.clear();
    this.isNew = true;
    this.stale = 0;
    this.circling = undefined;
  }

  /** Notes an outcome; returns the one the model is to be told, with a hint when it begins to repeat itself. */
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
 * Identifies an outcome. File tools give what is in a file, to the letter; of anything else, what varies from one run to the next
 * is left out: numbers (durations, dates, counters, ports), identifiers, names of temporary files, and the order of lines. An exit code is
 * no such number.
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

/** Matches names in the temporary folders of Linux, macOS and Windows. */
const temporaryName = /(\/tmp\/|\/var\/folders\/\w+\/\w+\/T\/|\\+Temp\\+)[^\s"'/\\:,)]+/g;
/** Matches durations with the brackets around them: test runners leave them out for what was quick, or was not run again. */
const duration =
  / ?[([<]?(?:in |< ?)?(?<![\d.:_A-Z]|(?<!\\)[a-z])(?:\d+(?:[.,]\d+)?(?: ?(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b)(?:,? (?=\d))?|\d+:\d\d:\d\d(?![\w:]))+[)\]]?|\(cached\)/g;
/** Matches numbers, with a unit of time if there is one. */
const number = /\d+(?:[.,:]\d+)*(?: ?(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?)\b)?/g;
/** Tells a hash or a random name: letters with digits among them. */
const isIdentifier = (word: string): boolean => /^[\da-f-]*\d[\da-f-]*$/i.test(word) || /\d[a-z]/i.test(word);

/** The call and its arguments on one line, for the person; of what is long the middle is left out. */
function wordsOf(call: ToolCall): string {
  const { name, malformed } = call;
  const words = `${short(name, mostOfText)} ${short(malformed ?? JSON.stringify(shortened(call)), mostOfArguments)}`;
  return visibleLine(words).replaceAll('*Towpath', '\\u002aTowpath'); // commands of ours stand out so in a sentence
}

const shortened = ({ arguments: args }: ToolCall): Record<string, unknown> =>
  JSON.parse(JSON.stringify(args, (_, value) => (typeof value === 'string' ? short(value, mostOfText) : value)));

const mostOfText = 80;
const mostOfArguments = 200;

function short(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half).replace(/[\ud800-\udbff]$/, '')}…${text.slice(-half).replace(/^[\udc00-\udfff]/, '')}`;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64');
