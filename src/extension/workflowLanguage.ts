import * as vscode from 'vscode';
import { hoverAt, type Language, type Schema, suggestionsAt } from '../workflows/complete.ts';
import { actionSchemas, jsonSchemas } from '../workflows/jsonSchema.ts';
import { kindOf, nameOf, patterns, type WorkflowFiles } from './workflowFiles.ts';

/**
 * Completion and hover in workflow and agent files, from the JSON schemas that an extension for YAML would use; where that
 * one is installed it is left to it.
 */
export function workflowLanguage(files: WorkflowFiles): vscode.Disposable[] {
  const schemas = jsonSchemas() as Record<'workflow' | 'agent', Schema>;
  const actions = new Map(Object.entries(actionSchemas()));
  const languageOf = async (uri: vscode.Uri): Promise<Language | undefined> => {
    const kind = kindOf(uri);
    if (!kind || vscode.extensions.getExtension('redhat.vscode-yaml')) return undefined;
    const agents = (await files.find('agent')).map(nameOf);
    return { schema: schemas[kind], agents, action: (name) => actions.get(name) };
  };
  const selector = Object.values(patterns).map((all) => ({ scheme: 'file', pattern: all.replace(',json', '') }));
  return [
    vscode.languages.registerCompletionItemProvider(
      selector,
      {
        async provideCompletionItems(document, position) {
          const language = await languageOf(document.uri);
          if (!language) return undefined;
          const offset = document.offsetAt(position);
          const { from, all } = suggestionsAt(document.getText(), offset, language);
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
        const language = await languageOf(document.uri);
        const text = language && hoverAt(document.getText(), document.offsetAt(position), language);
        return text ? new vscode.Hover(new vscode.MarkdownString(text)) : undefined;
      },
    }),
  ];
}
