import * as vscode from 'vscode';
import type { PermissionRule } from '../../protocol/content/rule.ts';
import { networkAccessTool } from '../../tools/core/commandSandbox.ts';
import { openFolderRoots, type Workspace } from '../../tools/core/workspace.ts';
import { allowedFolderLocations } from '../../tools/policy/policy.ts';
import { showMarkdown } from '../dialogs/showMarkdown.ts';
import type { ApprovalPolicies } from './policies.ts';
import { sandboxReport } from './sandboxReport.ts';

const scheme = 'towpath-sandbox';
const page = vscode.Uri.from({ scheme, path: '/Towpath Sandbox.md' });

interface Dependencies {
  policies: ApprovalPolicies;
  workspace: Workspace;
}

/** Read-only page about the sandbox of the window, opened by `/sandbox`. */
export class SandboxPage implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private report = '';

  constructor(private readonly dependencies: Dependencies) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(this.changed, vscode.workspace.registerTextDocumentContentProvider(scheme, this));
  }

  provideTextDocumentContent(): string {
    return this.report;
  }

  async show(): Promise<void> {
    const { policies, workspace } = this.dependencies;
    this.report = sandboxReport({
      availability: await policies.sandbox.probe(),
      trusted: workspace.trusted,
      preset: policies.preset,
      workspace: [
        ...openFolderRoots(workspace.roots).map(({ path }) => path),
        ...allowedFolderLocations(policies.current()),
      ],
      hosts: allowedHosts(policies.current().rules),
    });
    this.changed.fire(page); // an open page still has the old text
    await showMarkdown(page);
  }
}

const allowedHosts = (rules: readonly PermissionRule[]): string[] =>
  rules.flatMap(({ effect, tool, site, registries }) =>
    effect === 'allow' && tool === networkAccessTool && (site ?? registries) !== undefined
      ? (registries ?? [site!]).map((one) => new URL(one).host)
      : [],
  );
