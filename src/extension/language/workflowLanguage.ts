import * as vscode from 'vscode';
import { t } from '../../protocol/text/l10n.ts';
import { helpCommand, helpLink } from '../help/help.ts';
import type { JobWorker } from '../worker/jobWorker.ts';
import type { WorkflowFileContext } from '../worker/parserJobs.ts';
import { type WorkflowFiles, workflowFileKindOf, workflowFilePatterns } from './workflowFiles.ts';

/**
 * Completion and hover in workflow and agent files, from the JSON schemas. Disabled if a YAML extension is installed, which uses the same
 * schemas.
 */
export function workflowLanguageFeatures(files: WorkflowFiles, worker: JobWorker): vscode.Disposable[] {
  const contextOf = async (uri: vscode.Uri): Promise<WorkflowFileContext | undefined> => {
    const kind = workflowFileKindOf(uri);
    if (!kind || vscode.extensions.getExtension('redhat.vscode-yaml')) return undefined;
    return { kind, agents: await files.agents() };
  };
  const selector = Object.values(workflowFilePatterns).map((all) => ({
    scheme: 'file',
    pattern: all.replace(',json', ''),
  }));
  return [
    vscode.languages.registerCompletionItemProvider(
      selector,
      {
        async provideCompletionItems(document, position) {
          const context = await contextOf(document.uri);
          if (!context) return undefined;
          const offset = document.offsetAt(position);
          const found = await worker.run('suggestions', document.getText(), offset, context).catch(() => undefined);
          if (!found) return undefined; // a file that takes too long has its own problem
          const { from, all } = found;
          const range = new vscode.Range(document.positionAt(from), position);
          return all.map(({ label, kind, description }) => {
            const { Property, Value } = vscode.CompletionItemKind;
            const item = new vscode.CompletionItem(label, kind === 'key' ? Property : Value);
            item.range = range;
            item.insertText = kind === 'key' ? `${label}: ` : label;
            if (description) item.documentation = new vscode.MarkdownString(description);
            return item;
          });
        },
      },
      ...[':', ' ', '.', '-'],
    ),
    vscode.languages.registerHoverProvider(selector, {
      async provideHover(document, position) {
        const context = await contextOf(document.uri);
        const offset = document.offsetAt(position);
        const text = context && (await worker.run('hover', document.getText(), offset, context).catch(() => undefined));
        if (!text) return undefined;
        const markdown = new vscode.MarkdownString(`${text}\n\n[${t('Workflows')}](${helpLink('workflows')})`);
        markdown.isTrusted = { enabledCommands: [helpCommand] };
        return new vscode.Hover(markdown);
      },
    }),
  ];
}
