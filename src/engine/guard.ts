import { stringify } from 'safe-stable-stringify';
import type { ToolCall } from '../protocol/messages.ts';
import type { ToolOutcome } from '../protocol/tools.ts';

/** How often the same failing pattern of calls is seen before the model gets a hint, and before the loop stops. */
const hintAt = 2;
const stopAt = 3;
/** The longest pattern that is looked for: A A A, A B A B A B, A B C A B C A B C. */
const longestCycle = 3;

/**
 * Notices a model that goes in circles: the same call, or the same short cycle of calls, failing again and again.
 * Any success starts the count anew.
 */
export class RepeatGuard {
  private failures: string[] = [];
  private names: string[] = [];

  /** Notes an outcome; returns the outcome the model is to be told, with a hint when it begins to repeat itself. */
  note(call: ToolCall, outcome: ToolOutcome): ToolOutcome {
    if (outcome.ok) {
      this.failures = [];
      this.names = [];
      return outcome;
    }
    this.failures.push(`${call.name} ${stringify(call.malformed ?? call.arguments)}`);
    this.names.push(call.name);
    if (this.repeats() < hintAt) return outcome;
    const hint = 'This repeats calls that failed before. Do something else, or say what is missing.';
    return { ok: false, error: { ...outcome.error, message: `${outcome.error.message} ${hint}` } };
  }

  /** What is being repeated, in words, once it is enough. */
  get repeated(): string | undefined {
    if (this.repeats() < stopAt) return undefined;
    return [...new Set(this.names.slice(-longestCycle))].join(', ');
  }

  /** How many times in a row the newest cycle of failures has been seen. */
  private repeats(): number {
    let most = this.failures.length > 0 ? 1 : 0;
    for (let length = 1; length <= longestCycle; length++) {
      const newest = this.failures.slice(-length).join('\n');
      let count = 0;
      for (let end = this.failures.length; end >= length; end -= length) {
        if (this.failures.slice(end - length, end).join('\n') !== newest) break;
        count++;
      }
      most = Math.max(most, count);
    }
    return most;
  }
}
