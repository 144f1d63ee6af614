import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UndoConfirmationAnswer, UndoConfirmationRequest, UndoResult } from '../../../src/engine/run/undo.ts';
import { newestRedoableUndo } from '../../../src/protocol/run/runFiles.ts';
import { Conversation } from '../../engine/conversation.ts';
import { call, type ScriptedReply } from '../../support/scriptedClient.ts';
import { workspaceIn } from '../../support/workspace.ts';
import { RecordedFolder } from './folder.ts';

/** State of a folder without `.git`: the entries by path. */
export type FolderState = Record<string, string>;

/** Run of a whole engine whose commands are allowed and recorded, in the folder `ws` of a temporary folder. */
export class RecordedRun {
  readonly base = realpathSync(mkdtempSync(path.join(tmpdir(), 'towpath-recorded-')));
  readonly folder = Object.assign(Object.create(RecordedFolder.prototype) as RecordedFolder, {
    root: path.join(this.base, 'ws'),
  });
  /** Losses that approvals named. */
  readonly losses: string[] = [];
  readonly commands: string[] = [];
  private talk: Conversation | undefined;
  private readonly replies: ScriptedReply[] = [];

  /** Makes the folder by a shell script, which starts in it. */
  prepare(script: string): void {
    mkdirSync(this.folder.root);
    this.folder.run(script);
  }

  /** Runs a command line as a call of the model in a turn of its own, and returns the ID of the call. */
  async command(command: string): Promise<string> {
    const { talk, replies } = this.conversation();
    const made = call('shell.run', { command });
    replies.push({ calls: [made] }, { text: 'Done.' });
    await (this.commands.length === 0 ? talk.start() : talk.continue('And now?'));
    this.commands.push(command);
    return made.id;
  }

  /** Undoes calls; `asked` is the confirmation, undefined if nothing was to be undone. */
  async undo(
    toolCallIds: readonly string[],
    answer: UndoConfirmationAnswer,
  ): Promise<{ asked?: UndoConfirmationRequest; left: UndoResult['left'] }> {
    const { talk } = this.conversation();
    let asked: UndoConfirmationRequest | undefined;
    const result = await talk.engine.undo(talk.runId, { toolCallIds }, talk.workspace, async (question) => {
      asked = question;
      return answer;
    });
    if (!('left' in result)) throw new Error(JSON.stringify(result));
    return { ...(asked && { asked }), left: result.left };
  }

  /** Redoes the newest undo, if there is one. */
  async redo(): Promise<UndoResult['left']> {
    const { talk } = this.conversation();
    const undone = newestRedoableUndo(await talk.kept(), () => true);
    if (!undone) return [];
    const result = await talk.engine.undo(talk.runId, { undo: undone.seq }, talk.workspace, async () => 'none');
    if (!('left' in result)) throw new Error(JSON.stringify(result));
    return result.left;
  }

  async end(): Promise<void> {
    await this.talk?.end();
    rmSync(this.base, { recursive: true, force: true });
  }

  private conversation(): { talk: Conversation; replies: ScriptedReply[] } {
    if (this.talk) return { talk: this.talk, replies: this.replies };
    const workspace = workspaceIn(this.base);
    const talk = new Conversation(workspace, this.replies);
    talk.maxTurns = 1000;
    talk.approve = async ({ plan }) => {
      if (plan.loss) this.losses.push(plan.loss.text);
      return { decision: 'allow' };
    };
    talk.recordCommands(path.join(this.base, 'snapshots'), { budget: 200_000_000 });
    this.talk = talk;
    return { talk, replies: this.replies };
  }
}
