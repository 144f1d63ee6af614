import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageRunId } from '../../../src/workflows/package/ids.ts';
import { PackageRegistry } from '../../../src/workflows/package/packageRegistry.ts';
import { readWorkflowPackage } from '../../../src/workflows/package/readPackage.ts';
import { type PackageRunState, parsePackageRunState } from '../../../src/workflows/package/state.ts';
import { createWorkflowOfPackageRun } from '../../../src/workflows/package/workflowOf.ts';
import { Conversation } from '../../engine/conversation.ts';
import type { ScriptedReply } from '../../support/scriptedClient.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

/** A run of a package's only workflow, with a scripted model. */
export interface Stage {
  conversation: Conversation;
  /** The state document, and its frontmatter. */
  text(): string;
  state(): PackageRunState;
  /** What was said in the system's name, in order. */
  told(): Promise<string[]>;
  end(): Promise<void>;
}

/** @param files of the package; `others`: of the workspace */
export async function playPackage(
  files: Record<string, string>,
  replies: ScriptedReply[],
  { others = {}, autopilot = false }: { others?: Record<string, string>; autopilot?: boolean } = {},
): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'stage-')));
  const inPackage = Object.entries(files).map(([file, text]) => [`.towpath/packages/one/${file}`, text]);
  const workspace = await temporaryWorkspace({ ...Object.fromEntries(inPackage), ...others });
  const shelf = new PackageRegistry({
    project: workspace,
    storage: path.join(folder, 'unpacked'),
    openedFile: path.join(folder, 'opened.json'),
    stateFolder: () => path.join(folder, 'state'),
    autopilot: () => autopilot,
    now: () => new Date('2026-01-01T00:00:00Z'),
    read: readWorkflowPackage,
    follow: createWorkflowOfPackageRun,
  });
  const [shelved] = await shelf.list();
  if (!shelved || 'problem' in shelved) throw new Error(shelved?.problem ?? 'no package');
  const conversation = new Conversation(workspace, replies);
  const workflowId = shelved.source.workflows[0]!.id;
  conversation.workflow = (await shelf.workflow(packageRunId({ key: shelved.key, workflowId })))!;
  conversation.build();
  const text = () => readFileSync(path.join(folder, 'state', 'workflow.md'), 'utf8');
  return {
    conversation,
    text,
    state: () => parsePackageRunState(text()),
    async told() {
      const { messages } = await conversation.kept();
      return messages.flatMap((message) => (message.role === 'system' ? [message.content] : []));
    },
    async end() {
      await conversation.end();
      rmSync(folder, { recursive: true });
    },
  };
}
