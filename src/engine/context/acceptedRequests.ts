import type { Called } from '../core/modelCall.ts';

/** Longest answered requests per model in this window, in estimated tokens; 0 if none. */
export class AcceptedRequests {
  private readonly longest = new Map<string, number>();

  add(called: Called, model: string, tokens: number): void {
    this.longest.set(keyOf(called, model), Math.max(tokens, this.of(called, model)));
  }

  of(called: Called, model: string): number {
    return this.longest.get(keyOf(called, model)) ?? 0;
  }
}

const keyOf = ({ id, host = '' }: Called, model: string): string => `${id ?? model} ${host}`;
