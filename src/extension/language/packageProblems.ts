import path from 'node:path';
import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import type { PackageRegistry, RegisteredPackage } from '../../workflows/package/packageRegistry.ts';
import { packageProblemFile } from './fileProblems.ts';
import { toEditorDiagnostic } from './workflowProblems.ts';

/** Milliseconds without a change before packages are checked again. */
const restMs = 500;

/** Reports problems of unusable packages in the editor's problem list, at the broken file. */
export function registerPackageDiagnostics(shelf: PackageRegistry, log: vscode.LogOutputChannel): vscode.Disposable[] {
  const problems = vscode.languages.createDiagnosticCollection('towpath-packages');
  let timer: NodeJS.Timeout | undefined;
  let [over, looking, again] = [false, false, false];
  const look = async () => {
    again = looking;
    if (looking) return;
    looking = true;
    try {
      const found = await shelf.list();
      if (over) return;
      problems.clear();
      for (const one of found)
        if ('problem' in one) for (const [uri, all] of diagnosticsOf(one)) problems.set(uri, all);
    } catch (error) {
      log.debug(String(error));
    } finally {
      looking = false;
      if (again && !over) void look();
    }
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), restMs);
  };
  const watcher = vscode.workspace.createFileSystemWatcher('**/.towpath/packages/**');
  void look();
  return [
    problems,
    watcher,
    ...[watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete].map((event) => event(soon)),
    vscode.workspace.onDidGrantWorkspaceTrust(soon),
    {
      dispose() {
        over = true;
        clearTimeout(timer);
      },
    },
  ];
}

type Broken = Extract<RegisteredPackage, { problem: string }>;

function diagnosticsOf(one: Broken): [vscode.Uri, vscode.Diagnostic[]][] {
  const files = new Map<string, [vscode.Uri, vscode.Diagnostic[]]>();
  const all = one.problems?.map(({ file, problem, said }) => ({ file, text: `${file}: ${localize(said ?? problem)}` }));
  for (const { file, text } of all ?? [{ file: one.file, text: localize(one.said ?? one.problem) }]) {
    const uri = fileUri(one, file);
    const known = files.get(uri.toString()) ?? [uri, []];
    files.set(uri.toString(), known);
    known[1].push(atBeginning(text));
  }
  return [...files.values()];
}

function fileUri({ place }: Broken, file: string | undefined): vscode.Uri {
  if (/\.bmad$/i.test(place)) return vscode.Uri.file(place);
  const folder = path.basename(place) === 'bmad.json' ? path.dirname(place) : place;
  return vscode.Uri.file(path.join(folder, packageProblemFile(file) ?? 'bmad.json'));
}

function atBeginning(problem: string): vscode.Diagnostic {
  const message = t('This package cannot be used: {0}.', problem.slice(0, 500));
  return toEditorDiagnostic({ line: 1, column: 1, endLine: 1, endColumn: 1, message }, vscode.DiagnosticSeverity.Error);
}
