import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
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
  private calls = 0;
  private talk: Conversation | undefined;
  private readonly replies: ScriptedReply[] = [];

  /** Makes the folder by a shell script, which starts in it. */
  prepare(script: string): void {
    mkdirSync(this.folder.root);
    this.folder.run(script);
  }

  /** Runs a command line as a call of the model in a turn of its own, and returns the ID of the call. */
  async command(command: string): Promise<string> {
    const id = await this.call('shell.run', { command });
    this.commands.push(command);
    return id;
  }

  /** Calls a tool in a turn of its own, and returns the ID of the call. */
  async call(name: string, args: Record<string, string>): Promise<string> {
    const { talk, replies } = this.conversation();
    const made = call(name, args);
    replies.push({ calls: [made] }, { text: 'Done.' });
    await (this.calls++ === 0 ? talk.start() : talk.continue('And now?'));
    return made.id;
  }

  /** State of the repository: refs, the entries of the index, and all other files but objects. Empty without a repository. */
  gitState(): FolderState {
    const { root } = this.folder;
    const folder = path.join(root, '.git');
    if (!existsSync(folder)) return {};
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
    const names = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const name = path.relative(folder, path.join(entry.parentPath, entry.name));
      return entry.isFile() && !/^(objects|refs)\/|^(packed-refs|index)$/.test(name) ? [name] : [];
    });
    return {
      refs: git('for-each-ref', '--format=%(refname) %(objectname) %(symref)'),
      index: git('ls-files', '--stage'),
      ...Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(folder, name), 'latin1')])),
    };
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
