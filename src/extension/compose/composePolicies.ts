import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { lazyImport } from '../../protocol/panel/lazyImport.ts';
import { AllowRulesAddedInWindow } from '../approvals/addedRules.ts';
import { ApprovalPolicies } from '../approvals/policies.ts';
import { SandboxPage } from '../approvals/sandboxPage.ts';
import { SandboxStatus } from '../approvals/sandboxStatus.ts';
import { diskFolders, isVirtualWorkspace } from '../dialogs/folders.ts';
import { DecisionFile } from '../settings/decisionFile.ts';
import type { ModelServices } from './composeModels.ts';

export type PolicyServices = ReturnType<typeof composePolicyServices>;

/** Creates the presets and permission rules of the user, and the sandbox of the system. */
export function composePolicyServices(services: ModelServices) {
  const { context, log, changes, workspace, modals, memory } = services;
  const userMemory = new DecisionFile(path.join(context.globalStorageUri.fsPath, 'approvals.json'));
  const changed = () => {
    changes.status.notify();
    changes.state.notify();
  };
  const storage = context.globalStorageUri.fsPath;
  const commandSandbox = lazyImport(
    () => import('../../tools/commandSandbox/systemSandbox.ts'),
    ({ createSystemSandbox }) =>
      createSystemSandbox({
        store: path.join(storage, 'sandbox'),
        forwarder: context.asAbsolutePath('dist/sandboxForwarder.cjs'),
        home: homedir(),
        hidden: [path.resolve(storage, '../../..')], // the storage of the editor, and of all its extensions
        folders: () => Promise.all(diskFolders().map(({ uri }) => realpath(uri.fsPath))),
        log: (text) => log.info(text),
      }),
  );
  const sandbox = new SandboxStatus({
    probe: async () => (await commandSandbox()).availability(),
    folders: () => (diskFolders().length > 0 ? 'disk' : isVirtualWorkspace() ? 'virtual' : 'none'),
    onKnown: changed,
  });
  const policies = new ApprovalPolicies(memory, userMemory, modals, sandbox, log, changed);
  const sandboxPage = new SandboxPage({ policies, workspace });
  context.subscriptions.push(policies, sandboxPage.register(), { dispose: () => commandSandbox.made()?.close() });
  const addedRules = new AllowRulesAddedInWindow(policies);
  return { ...services, userMemory, sandbox, commandSandbox, sandboxPage, policies, addedRules };
}
