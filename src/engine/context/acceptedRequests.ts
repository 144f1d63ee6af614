import type { CallableModel } from '../core/modelCall.ts';

/** Longest answered requests per model in this window, in estimated tokens; 0 if none. */
export class AcceptedRequestSizes {
  private readonly longest = new Map<string, number>();

  add(called: CallableModel, model: string, tokens: number): void {
    this.longest.set(keyOf(called, model), Math.max(tokens, this.of(called, model)));
  }

  of(called: CallableModel, model: string): number {
    return this.longest.get(keyOf(called, model)) ?? 0;
  }
}

const keyOf = ({ id, host = '' }: CallableModel, model: string): string => `${id ?? model} ${host}`;
