import { conversationCallIds } from '../../llm/core/callIds.ts';
import { type Compaction, createCompactionRecord } from '../../protocol/content/compaction.ts';
import { userMessage } from '../../protocol/content/messages.ts';
import type { RunLog } from '../core/runLog.ts';
import type { SeparateConversationLog, WorkflowContext } from '../core/workflow.ts';
import { deliverQueued, hasInterruptingMessage } from '../input/messageQueue.ts';
import type { LoopConversation } from '../loop/loop.ts';
import { reportCommandEnds } from '../notices/commandEnds.ts';
import { type FindUserEdits, reportUserEdits } from '../notices/userEdits.ts';

type Emit = WorkflowContext['emit'];

/** Returns the conversation of the run. */
export const talkOf = (
  { run, emit, idle }: RunLog,
  { edited = async () => [], come }: { edited?: FindUserEdits; come(): Promise<void> },
): LoopConversation => ({
  async receiveMessages() {
    await reportCommandEnds({ run, emit });
    await come();
    if (hasInterruptingMessage(run)) await reportUserEdits({ run, emit }, edited);
    await deliverQueued({ run, emit, idle });
  },
  messages: run.messages,
  compactions: run.compactions,
  get contextTokens() {
    return run.contextTokens;
  },
  get contextMessages() {
    return run.contextMessages;
  },
  calls: run.calls,
  get isInterrupted() {
    return hasInterruptingMessage(run);
  },
  hasCall: (id) => conversationCallIds(run.messages).has(id) || Object.hasOwn(run.calls, id),
  add: (message) => emit({ type: 'message', message }),
});

/**
 * Creates the separate conversation of a node or a task. Its text and compactions are reported there. Drafts of a node's calls are not
 * displayed.
 */
export function talkApart(
  apart: SeparateConversationLog,
  { run, emit, idle }: RunLog,
): { talk: LoopConversation; emit: Emit } {
  const { node, task, branch, conversation } = apart;
  const position = { ...(node !== undefined && { node }), ...(task && { task: task.id }) };
  const waiting = () => (task && run.tasks?.[task.id]?.waiting) ?? [];
  const unkept: Compaction[] = [];
  const counted = { contextTokens: 0, contextMessages: 0 };
  const talk: LoopConversation = {
    get messages() {
      return apart.messages;
    },
    get compactions() {
      return apart.compactions ?? unkept;
    },
    get contextTokens() {
      return counted.contextTokens;
    },
    get contextMessages() {
      return counted.contextMessages;
    },
    calls: run.calls,
    callPrefix: apart.callPrefix,
    get callIds() {
      return apart.callIds;
    },
    get isInterrupted() {
      return waiting().length > 0;
    },
    async receiveMessages() {
      await idle();
      for (const { text, attachments, queued } of waiting())
        await emit({ type: 'task-message', task: task!.id, message: userMessage(text, attachments), queued });
    },
    hasCall: (id) => conversationCallIds(apart.messages).has(id) || Object.hasOwn(run.calls, id),
    async add(message) {
      if (apart.add) await apart.add(message);
      else apart.messages.push(message);
      if (!apart.bare) return;
      if (message.role === 'assistant' && message.content)
        void emit({ type: 'chunk', content: message.content, ...position });
    },
  };
  return {
    talk,
    async emit(event) {
      if (event.type === 'chunk') {
        if (task) await emit({ ...event, ...position });
        else if (event.content) await emit({ type: 'chunk', content: event.content, ...position });
      } else if (event.type === 'usage') {
        await emit({ ...event, ...position, filling: undefined }); // the displayed context usage is the run's
        if (event.beside) return;
        counted.contextTokens = event.usage.promptTokens + event.usage.completionTokens;
        counted.contextMessages = apart.messages.length + 1; // the answer comes next
      } else if (event.type === 'compaction') {
        const nodePosition = {
          ...(branch !== undefined && { branch }),
          ...(conversation !== undefined && { conversation }),
        };
        await emit({ ...event, ...position, ...nodePosition });
        counted.contextTokens = 0;
        if (!apart.compactions) unkept.push(createCompactionRecord(event, apart.messages.length));
      } else if (event.type === 'request' || event.type === 'attempt' || event.type === 'progress') {
        await emit({ ...event, ...position });
      } else await emit(event);
    },
  };
}
