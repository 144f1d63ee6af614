import assert from 'node:assert/strict';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from '../tools/conversation.ts';

/** Describes one call of a tool in a workspace, and what is wanted of its outcome. */
export interface ToolCase {
  files?: { [name: string]: string };
  /** Files that are no UTF-8 text, in hexadecimal. */
  bytes?: { [name: string]: string };
  call: [name: string, args: unknown];
  want: {
    /** Contents of files afterwards; `null` for one that is not there. */
    files?: { [name: string]: string | null };
    ok?: boolean;
    /** A pattern that the data or the error matches, in any case of letters. */
    says?: string;
    /** A pattern that neither matches. */
    not?: string;
    matches?: number;
    found?: unknown;
    mostCharacters?: number;
  };
}

/** Calls the tool of a case without a question, and holds its outcome to what is wanted. */
export async function checkToolCase({ files = {}, bytes = {}, call, want }: ToolCase): Promise<void> {
  const binary = Object.fromEntries(Object.entries(bytes).map(([name, hex]) => [name, Buffer.from(hex, 'hex')]));
  const workspace = await temporaryWorkspace({ ...files, ...binary });
  try {
    const talk = conversation(workspace, { policy: { preset: 'autopilot' } });
    const outcome = await talk.call(...call);
    const data = (outcome.ok ? outcome.data : {}) as { matches?: number; files?: unknown; output?: string };
    const text = JSON.stringify(outcome.ok ? outcome.data : outcome.error);
    if (want.ok !== undefined) assert.equal(outcome.ok, want.ok, text);
    if (want.says !== undefined) assert.match(text, new RegExp(want.says, 'i'));
    if (want.not !== undefined) assert.doesNotMatch(text, new RegExp(want.not, 'i'));
    if (want.matches !== undefined) assert.equal(data.matches, want.matches);
    if (want.found !== undefined) assert.deepEqual(data.files, want.found);
    if (want.mostCharacters !== undefined)
      assert.ok((data.output ?? text).length <= want.mostCharacters, text.slice(0, 300));
    for (const [name, content] of Object.entries(want.files ?? {}))
      assert.equal(workspace.exists(name) ? workspace.read(name) : null, content, `${name} after ${text}`);
  } finally {
    workspace.cleanup();
  }
}
