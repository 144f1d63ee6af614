import type { Compaction } from '../../protocol/content/compaction.ts';
import type { Message } from '../../protocol/content/messages.ts';
import type { CallState } from '../../protocol/run/run.ts';
import type { Dictionary } from '../../protocol/values/dictionary.ts';

/** What was said to a model and by it, and what was done about its window: a run's conversation, or a node's apart from it. */
export interface RunConversation {
  readonly messages: readonly Message[];
  readonly compactions: readonly Compaction[];
  /** Tokens of the newest model call, prompt and answer; 0: not known. */
  readonly contextTokens: number;
  /** How many messages `contextTokens` counts. */
  readonly contextMessages: number;
  /** By tool call id, after `callPrefix`. */
  readonly calls: Readonly<Dictionary<CallState>>;
  readonly callPrefix?: string;
  /** Ids in `calls` of the calls whose prefix is another one: those made before the node was begun anew. */
  readonly callIds?: Readonly<Record<string, string>>;
}
