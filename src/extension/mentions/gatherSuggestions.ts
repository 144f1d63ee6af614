import * as vscode from 'vscode';
import type { PromptSuggestion } from '../../protocol/panel/panelMessages.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { realOrVirtualRelativePath } from '../../tools/sandbox/resolveReadPath.ts';
import { chooseCommitRepository, type GitExtension } from '../commit/git.ts';
import { uriToWorkspacePath } from '../editor/languageService.ts';
import { promptSuggestionsForWorkspace } from './suggestions.ts';

const maxLines = 2000;

/** Suggests actions for this workspace by the editor's current state; only open documents are read. */
export async function gatherSuggestions(workspace: Workspace): Promise<PromptSuggestion[]> {
  if (workspace.roots.length === 0) return [];
  const find = async (glob: string) =>
    (await vscode.workspace.findFiles(glob, '**/{node_modules,vendor,.git}/**', 1))[0];
  const [readme, agents, test, changes, front] = await Promise.all([
    find('{README,README.md,Readme.md,readme.md}'),
    find('{AGENTS.md,CLAUDE.md,.github/copilot-instructions.md}'),
    find('**/{*.test.*,*.spec.*,*_test.*,test_*.py,*Test.java,*Tests.cs}'),
    changedFiles(),
    inFront(workspace),
  ]);
  const problems = vscode.languages.getDiagnostics().flatMap(([, all]) => all);
  return promptSuggestionsForWorkspace({
    errors: problems.filter(({ severity }) => severity === vscode.DiagnosticSeverity.Error).length,
    changes,
    front,
    readme: readme && (await relativePath(workspace, readme)),
    instructs: agents !== undefined,
    tested: test !== undefined,
  });
}

/** Returns zero also without a repository or before Git is ready. */
async function changedFiles(): Promise<number> {
  const { isTrusted } = vscode.workspace;
  const git = vscode.extensions.getExtension<GitExtension>('vscode.git');
  const inFront = vscode.window.activeTextEditor?.document.uri;
  try {
    const { repository } = await chooseCommitRepository({ isTrusted, git, inFront });
    const { indexChanges, workingTreeChanges, untrackedChanges } = repository.state;
    const all = [...indexChanges, ...workingTreeChanges, ...untrackedChanges];
    return new Set(all.map(({ uri }) => uri.toString())).size;
  } catch {
    return 0;
  }
}

async function relativePath(workspace: Workspace, uri: vscode.Uri): Promise<string | undefined> {
  const at = uriToWorkspacePath(uri);
  return at === undefined ? undefined : realOrVirtualRelativePath(workspace, at);
}

async function inFront(workspace: Workspace): Promise<{ path: string; todo?: number } | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  const path = document && (await relativePath(workspace, document.uri));
  if (!document || path === undefined) return undefined;
  for (let line = 0; line < Math.min(maxLines, document.lineCount); line++)
    if (/\b(TODO|FIXME)\b/.test(document.lineAt(line).text)) return { path, todo: line + 1 };
  return { path };
}
