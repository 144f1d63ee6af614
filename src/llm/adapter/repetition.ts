import { message } from '../../protocol/text/l10n.ts';
import { type RepetitionSize, repeatedEnd } from '../../protocol/text/repeatedEnd.ts';
import type { ChatStreamChunk } from '../core/client.ts';
import { LLMError } from '../core/errors.ts';

/** A repetition that no reader wants. */
const inAnswer: RepetitionSize = { characters: 2000, times: 8 };
/** Files may repeat themselves: rows of zeros, generated data. */
const inArguments: RepetitionSize = { characters: 20_000, times: 80 };

/** Longest text that is found when it repeats itself, in characters. */
const maxPeriod = 500;
/** New characters between two checks. */
const interval = 500;

/**
 * Ends replies that repeat the same text again and again. Such a model does not end by itself: it fills the context window or the output
 * limit, and the user pays for it or waits.
 */
export class RepetitionGuard {
  private readonly texts = new Map<string, RepetitionDetector>();

  /** Adds a chunk. Throws `LLMError` if the reply does nothing else than repeat itself. */
  check({ content, thinking, toolCallDelta }: ChatStreamChunk): void {
    if (content) this.add('content', inAnswer, content);
    if (thinking) this.add('thinking', inAnswer, thinking);
    if (toolCallDelta?.argumentsText) this.add(`call ${toolCallDelta.index}`, inArguments, toolCallDelta.argumentsText);
  }

  private add(key: string, limit: RepetitionSize, text: string): void {
    const detector = this.texts.get(key) ?? new RepetitionDetector(limit);
    this.texts.set(key, detector);
    if (detector.add(text))
      throw new LLMError(
        'LLM_BAD_RESPONSE',
        message('The model repeated the same text again and again and was stopped. Try again or use another model.'),
      );
  }
}

class RepetitionDetector {
  private end = '';
  private unchecked = 0;

  constructor(private readonly limit: RepetitionSize) {}

  /** Adds text; true if the text now ends in a repetition over the limit. Costs the same at any length of the text. */
  add(text: string): boolean {
    this.end += text;
    this.unchecked += text.length;
    if (this.unchecked < interval) return false;
    this.unchecked = 0;
    this.end = this.end.slice(-Math.max(this.limit.characters, this.limit.times * maxPeriod));
    return repeatedEnd(this.end, this.limit) !== undefined;
  }
}
