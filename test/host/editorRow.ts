import * as vscode from 'vscode';
import { createEditorModelClient } from '../../src/extension/providers/editorModels.ts';
import { withTextToolCallParsing } from '../../src/llm/textCalls/textCalls.ts';
import type { Own, Row } from '../llm/behaviours.ts';
import type { Deed } from '../support/providers.ts';

/** What test/support/editor/model-ext gives: a model that is really offered to the editor, and what it was asked. */
export interface OfferedModels {
  deeds: readonly (Deed & { everyMs?: number })[];
  asked: { messages: vscode.LanguageModelChatMessage[]; options: vscode.LanguageModelChatRequestOptions }[];
}

export const scripted = 'table/scripted';

/** The other extension, with these deeds before it and everything forgotten that was asked before. */
export async function offeredModels(deeds: OfferedModels['deeds']): Promise<OfferedModels> {
  const models: OfferedModels = await vscode.extensions.getExtension('test.models')!.activate();
  while ((await vscode.lm.selectChatModels({ vendor: 'table' })).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return Object.assign(models, { deeds, asked: [] });
}

const noWait: Own = {
  as: 'not asked again, for the editor tells no time to wait',
  gives: { code: 'LLM_RATE_LIMITED' },
};
const noKind: Own = {
  as: 'not asked again, for the editor does not tell what kind of error it is',
  gives: { code: 'UNKNOWN', message: /Request failed: 500 Oops/ },
};

/** `vscode.lm` of a real editor, with a real provider of models behind it. */
export const editorRow: Row = {
  name: 'vscode-lm',
  model: scripted,
  limits: { connectMs: 500, idleMs: 500 },
  own: {
    text: { as: 'and no count of tokens, for the editor has none', gives: { content: 'Hello 🙂', finish: 'stop' } },
    thinking: { absent: 'the editor passes text and calls only' },
    limitedOnce: noWait,
    limited: noWait,
    failingOnce: noKind,
    failing: noKind,
    rejected: { as: 'as the extension says it', gives: { code: 'UNKNOWN', message: /Request failed: 400/ } },
    stopInWait: { as: 'after a silence', deeds: ['no answer'] },
  },
  async start(deeds) {
    const models = await offeredModels(deeds);
    return {
      client: () => withTextToolCallParsing(createEditorModelClient()),
      requests: () => models.asked.length,
      // VS Code 1.100 does not pass a cancellation on once a request has begun: what the other extension goes on with
      // is out of Towpath's sight, and what it says is heard by nobody.
      open: () => 0,
      close: async () => {},
    };
  },
};
