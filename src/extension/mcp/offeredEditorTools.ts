import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import { onAbort } from '../../protocol/values/abort.ts';
import type { EditorProvidedToolInfo } from '../../tools/editorTools/editorTool.ts';
import { EditorProvidedTools } from '../../tools/editorTools/editorTools.ts';
import { notifyWithActions } from '../dialogs/notify.ts';
import { DecisionFile } from '../settings/decisionFile.ts';

/** Maximum milliseconds of an editor tool's call, including a dialog of the editor. */
const limitMs = 600_000;
const memoryName = 'on';

/** Creates the set of enabled editor tools (`vscode.lm.tools`: tools of the editor, other extensions, and MCP servers of the editor). */
export function createEditorTools(context: vscode.ExtensionContext): EditorProvidedTools {
  const memory = new DecisionFile(vscode.Uri.joinPath(context.globalStorageUri, 'editor-tools.json').fsPath);
  return new EditorProvidedTools({
    listed: contributedEditorTools,
    memory: { get: () => memory.get(memoryName), set: (value) => memory.update(memoryName, value) },
    invoke,
    limitMs,
    changed: (tool) => void notifyChanged(tool),
  });
}

export function contributedEditorTools(): EditorProvidedToolInfo[] {
  const brought = contributed();
  return [...vscode.lm.tools]
    .map(({ name, description, inputSchema, tags }) => ({
      name,
      description: description ?? '',
      ...(inputSchema && { inputSchema }),
      tags: [...(tags ?? [])],
      ...brought.get(name),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the extension and display title of each tool by the extensions' package.json. */
function contributed(): Map<string, Pick<EditorProvidedToolInfo, 'lender' | 'title'>> {
  const all = vscode.extensions.all.flatMap(({ id, packageJSON }) => {
    const tools: unknown = packageJSON?.contributes?.languageModelTools;
    return (Array.isArray(tools) ? tools : []).flatMap((tool: { name?: unknown; displayName?: unknown } | null) => {
      const title = typeof tool?.displayName === 'string' ? { title: tool.displayName } : {};
      return typeof tool?.name === 'string' ? [[tool.name, { lender: id, ...title }] as const] : [];
    });
  });
  return new Map(all);
}

/** Calls a tool. Outside of the editor's chat there is no invocation token, so the editor shows a dialog if needed. */
async function invoke(name: string, input: object, signal: AbortSignal): Promise<readonly unknown[]> {
  const cancel = new vscode.CancellationTokenSource();
  const stopListening = onAbort(signal, () => cancel.cancel());
  try {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined }, cancel.token);
    return content;
  } finally {
    stopListening();
    cancel.dispose();
  }
}

async function notifyChanged({ name }: EditorProvidedToolInfo): Promise<void> {
  const text = t(
    'The editor’s tool {0} has changed since you switched it on. It is off until you switch it on again.',
    escapeInvisibleInLine(name),
  );
  const show = t('Editor Tools…');
  if ((await notifyWithActions('warning', text, show)) === show)
    await vscode.commands.executeCommand('towpath.editorTools');
}
