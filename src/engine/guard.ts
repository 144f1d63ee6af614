import { createHash } from 'node:crypto';
import { stringify } from 'safe-stable-stringify';
import type { Repeated } from '../protocol/codes.ts';
import { sentence } from '../protocol/l10n.ts';
import type { ErrorInfo, ToolCall } from '../protocol/messages.ts';
import { saidAs } from '../protocol/sentence.ts';
import type { ToolOutcome } from '../protocol/tools.ts';
import { visibleLine } from '../protocol/visible.ts';

/** In how many turns a call fails before the model gets a hint, and before the loop stops. */
const hintAt = 2;
const stopAt = 3;
/** After so many turns in a row that brought nothing new the model hears of it. */
const staleAt = 2;

const failsAgain = 'This repeats calls that failed before. Do something else, or say what is missing.';
const nothingNew = 'You have had this result before. Go on with what you know, or say what you wait for.';

/**
 * Notices a model that goes in circles: a call that fails again, whatever else was done in between, as long as nothing
 * changed that it could depend on.
 *
 * What a call depends on cannot be told from its name, so anything may be it that has changed. Something has when a call
 * succeeded and gave what it never gave before: any call that may do more than read, and one that only reads when it was
 * made before, for then others have changed it. The second time that a command prints the same, or that a file gets the text it
 * had before, the world is where it was. A call is the same when its name and arguments are.
 *
 * Turns are counted and not calls, for a model hears of a failure when all of its reply has run. Successes that repeat are
 * answered with a hint and are otherwise left to the limit of turns: who waits for something asks for the same again.
 */
export class RepeatGuard {
  /** In how many turns each call has failed since something changed. */
  private readonly failures = new Map<string, number>();
  /** All that each call has given. */
  private readonly given = new Map<string, Set<string>>();
  /** In this turn. */
  private failed = new Set<string>();
  private isNew = false;
  /** Turns in a row in which every call gave what it had given before. */
  private stale = 0;
  private circling?: ToolCall;

  /** A reply has come. */
  beginTurn(): void {
    this.failed = new Set();
    this.isNew = false;
  }

  /** All calls of the reply have been noted. Once it is enough: a sentence for the person, with the call that is repeated (`details`). */
  endTurn(): Omit<ErrorInfo, 'code'> | undefined {
    this.stale = this.isNew ? 0 : this.stale + 1;
    if (!this.circling) return undefined;
    const words = sentence(
      'The same call failed {0} times, with nothing changed in between: {1}. Say what to do instead, or continue.',
      stopAt,
      wordsOf(this.circling),
    );
    return {
      ...saidAs(words),
      details: { name: this.circling.name, arguments: shortened(this.circling), times: stopAt } satisfies Repeated,
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
  note(call: ToolCall, outcome: ToolOutcome, onlyReads: boolean): ToolOutcome {
    const key = `${call.name} ${stringify(call.malformed ?? call.arguments)}`;
    const before = this.given.get(key) ?? new Set();
    const gave = digest(JSON.stringify(outcome));
    const isNew = !before.has(gave);
    if (isNew) this.isNew = true;
    if (isNew && outcome.ok && (!onlyReads || before.size > 0)) this.changed();
    this.given.set(key, before.add(gave));
    if (!outcome.ok) return this.noteFailure(call, key, outcome);
    return isNew || this.stale < staleAt ? outcome : { ...outcome, hint: nothingNew };
  }

  private noteFailure(call: ToolCall, key: string, outcome: Extract<ToolOutcome, { ok: false }>): ToolOutcome {
    const times = (this.failures.get(key) ?? 0) + (this.failed.has(key) ? 0 : 1);
    this.failed.add(key);
    this.failures.set(key, times);
    if (times >= stopAt) this.circling = call;
    if (times < hintAt) return outcome;
    return { ok: false, error: { ...outcome.error, message: `${outcome.error.message} ${failsAgain}` } };
  }

  private changed(): void {
    this.failures.clear();
    this.failed.clear();
    this.circling = undefined;
  }
}

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
