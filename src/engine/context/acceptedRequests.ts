import type { Called } from '../core/modelCall.ts';

/** The longest requests that models have answered in this window, in tokens as they are estimated here. */
export class AcceptedRequests {
  private readonly longest = new Map<string, number>();

  /** Notes a request that was answered. */
  add(called: Called, model: string, tokens: number): void {
    this.longest.set(keyOf(called, model), Math.max(tokens, this.of(called, model)));
  }

  /** 0: none was answered. */
  of(called: Called, model: string): number {
    return this.longest.get(keyOf(called, model)) ?? 0;
  }
}

const keyOf = ({ id, host = '' }: Called, model: string): string => `${id ?? model} ${host}`;
