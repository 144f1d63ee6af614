import { estimateTokenCount } from 'tokenx';
import type { RunEvent } from '../protocol/run/events.ts';

/**
 * Tokens, and milliseconds spent on them. `cached`: prompt tokens not evaluated again. `cost`: US dollars, absent if the cost of a reply is
 * unknown.
 */
export interface ModelCallMeasurements {
  replies: number;
  prompt: number;
  cached: number;
  written: number;
  readMs: number;
  writeMs: number;
  cost?: number;
}

export const emptyMeasurements: ModelCallMeasurements = {
  replies: 0,
  prompt: 0,
  cached: 0,
  written: 0,
  readMs: 0,
  writeMs: 0,
  cost: 0,
};

/**
 * Measures the model calls of a run from its events: prefill lasts until the first chunk, generation from then on. Loading a model and waiting
 * for it are not prefill: a model that reports its progress starts at 0.
 */
export class ModelCallMeter {
  private all: ModelCallMeasurements = emptyMeasurements;
  private askedAt?: number;
  private beganAt?: number;
  /** Text of the reply that has not reported its usage. */
  private unreported = '';

  constructor(private readonly now: () => number = () => performance.now()) {}

  get measured(): ModelCallMeasurements {
    return this.all;
  }

  /** Counts with the reply that was stopped, whose generated tokens are estimated; its prompt is unknown. */
  get measuredWithStoppedReply(): ModelCallMeasurements {
    if (this.unreported === '' || this.beganAt === undefined) return this.all;
    const { replies, written, writeMs } = this.all;
    return {
      ...this.all,
      replies: replies + 1,
      written: written + estimateTokenCount(this.unreported),
      writeMs: writeMs + (this.now() - this.beganAt),
    };
  }

  onEvent(event: RunEvent): void {
    if (event.type === 'request') {
      this.askedAt = this.now();
      this.beganAt = undefined;
      this.unreported = '';
    } else if (event.type === 'progress' && event.fraction === 0) this.askedAt = this.now();
    else if (event.type === 'chunk') {
      this.beganAt ??= this.now();
      this.unreported += chunkText(event);
    } else if (event.type === 'usage') {
      const { promptTokens, cachedTokens = 0, completionTokens, cost } = event.usage;
      const { prompt, cached, written, readMs, writeMs, replies } = this.all;
      const end = this.now();
      const asked = this.askedAt ?? end;
      const began = this.beganAt ?? end;
      this.unreported = '';
      this.all = {
        replies: replies + 1,
        prompt: prompt + promptTokens,
        cached: cached + Math.min(cachedTokens, promptTokens),
        written: written + completionTokens,
        readMs: readMs + (began - asked),
        writeMs: writeMs + (end - began),
        ...(this.all.cost !== undefined && cost !== undefined && { cost: this.all.cost + cost }),
      };
    }
  }
}

/** Returns the generated text of a chunk: answer, thinking and arguments. */
export const chunkText = ({ content, thinking, toolCall }: Extract<RunEvent, { type: 'chunk' }>): string =>
  [content, thinking, toolCall?.argumentsText].filter(Boolean).join('');
