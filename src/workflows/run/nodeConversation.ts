import { isAbortedByEditorClose } from '../../engine/core/abortReason.ts';
import type { SeparateConversationLog, WorkflowContext } from '../../engine/core/workflow.ts';
import type { Message } from '../../protocol/content/messages.ts';
import type { WorkflowNodeConversation, WorkflowTrack } from '../../protocol/run/graph.ts';
import { createDictionary } from '../../protocol/values/dictionary.ts';
import type { RecordedNodeConversation } from '../action/action.ts';

interface StepAtWork {
  context: WorkflowContext;
  position: { node: string; branch?: string };
  track(): WorkflowTrack;
}

const none: WorkflowNodeConversation = { messages: [], given: 0, compactions: [], callIds: createDictionary() };

export function createRecordedNodeConversation(
  { context, position, track }: StepAtWork,
  key: string,
  callId: string,
): RecordedNodeConversation {
  const callPrefix = `${callId}:`;
  const own = (): WorkflowNodeConversation => track().conversations?.[key] ?? none;
  const record = (message: Message, more: { given?: true; anew?: true } = {}) =>
    context.emit({ type: 'node-message', ...position, conversation: key, callPrefix, message, ...more });
  const apart: SeparateConversationLog = {
    node: position.node,
    bare: true,
    ...(position.branch !== undefined && { branch: position.branch }),
    conversation: key,
    callPrefix,
    get messages() {
      return own().messages;
    },
    get compactions() {
      return own().compactions;
    },
    get callIds() {
      return own().callIds;
    },
    async add(message) {
      // a call interrupted by the editor's exit is examined on resume and has no result until then
      if (isAbortedByEditorClose(context.signal) && isInterruption(message)) return;
      await record(message);
    },
  };
  return {
    apart,
    get given() {
      return own().given;
    },
    async begin(messages) {
      const { messages: before, given } = own();
      const isAsked = before.length > given;
      if (isAsked || isSame(before, messages)) return;
      for (const [index, message] of messages.entries())
        await record(message, { given: true, ...(index === 0 && { anew: true as const }) });
    },
  };
}

const isInterruption = (message: Message): boolean =>
  message.role === 'tool' && message.toolResults.some(({ error }) => error === 'TOOL_INTERRUPTED');

const isSame = (before: readonly Message[], messages: readonly Message[]): boolean =>
  before.length > 0 && JSON.stringify(before) === JSON.stringify(messages);
