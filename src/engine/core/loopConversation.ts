import type { Compaction } from '../../protocol/content/compaction.ts';
import type { Message } from '../../protocol/content/messages.ts';
import type { CallState } from '../../protocol/run/run.ts';
import type { Dictionary } from '../../protocol/values/dictionary.ts';

/**
 * Messages and compactions of a conversation: of a run, or separately of a node. `contextTokens`: tokens of the newest model call, prompt
 * and answer, 0 if unknown; `contextMessages`: messages counted by it. `calls` are keyed by `callPrefix` and id. `callIds`: keys of calls
 * with another prefix, from before a restart of the node.
 */
export interface RunConversation {
  readonly messages: readonly Message[];
  readonly compactions: readonly Compaction[];
  readonly contextTokens: number;
  readonly contextMessages: number;
  readonly calls: Readonly<Dictionary<CallState>>;
  readonly callPrefix?: string;
  readonly callIds?: Readonly<Record<string, string>>;
}
