import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { EditorProvidedToolInfo } from '../../tools/editorTools/editorTool.ts';
import { type EditorProvidedTools, maxEditorProvidedTools } from '../../tools/editorTools/editorTools.ts';
import { notify } from '../dialogs/notify.ts';
import type { McpReview } from './mcpReview.ts';
import { contributedEditorTools } from './offeredEditorTools.ts';

interface Choice extends vscode.QuickPickItem {
  tool: EditorProvidedToolInfo;
}

const reviewButton = () => ({
  iconPath: new vscode.ThemeIcon('book'),
  tooltip: t('Everything it reports about itself'),
});

/** *Tools of the Editor…*: selects the editor tools available to models; each call needs approval. */
export async function chooseEditorTools(tools: EditorProvidedTools, reviews: McpReview): Promise<void> {
  const all = contributedEditorTools();
  if (all.length === 0) {
    notify(
      'info',
      t('This editor offers no tools for models at the moment: none of its own, of extensions or of MCP servers.'),
    );
    return;
  }
  const picker = vscode.window.createQuickPick<Choice>();
  picker.title = t('Towpath: editor tools for models');
  picker.placeholder = t('Each call asks like any other; the editor may ask, too');
  picker.canSelectMany = true;
  picker.matchOnDescription = true;
  picker.matchOnDetail = true;
  picker.items = all.map((tool) => choiceOf(tool, tools));
  picker.selectedItems = picker.items.filter(({ tool }) => tools.stateOf(tool) === 'on');
  picker.onDidTriggerItemButton(({ item: { tool } }) =>
    reviews.show(tool.name, toolText(tool), t('Tool of the editor')),
  );
  const chosen = await new Promise<readonly Choice[] | undefined>((resolve) => {
    picker.onDidAccept(() => resolve(picker.selectedItems));
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();
  if (!chosen) return;
  await tools.switchOn(chosen.slice(0, maxEditorProvidedTools).map(({ tool }) => tool));
  if (chosen.length > maxEditorProvidedTools)
    notify(
      'warning',
      t(
        'Only the first {0} are switched on, because more would leave a model no context for anything else.',
        maxEditorProvidedTools,
      ),
    );
}

function choiceOf(tool: EditorProvidedToolInfo, tools: EditorProvidedTools): Choice {
  const by = escapeInvisibleInLine(tool.lender ?? t('of the editor or one of its MCP servers'));
  const changed = tools.stateOf(tool) === 'changed';
  return {
    label: escapeInvisibleInLine(tool.title ? `${tool.name}: ${tool.title}` : tool.name),
    description: changed ? t('{0}, has changed since you switched it on', by) : by,
    detail: escapeInvisibleInLine(tool.description).slice(0, 300),
    buttons: [reviewButton()],
    tool,
  };
}

const toolText = ({ name, title, lender, description, inputSchema, tags }: EditorProvidedToolInfo): string =>
  [
    [name, title].filter(Boolean).join(': '),
    lender === undefined ? t('Of the editor or one of its MCP servers') : t('Of the extension {0}', lender),
    t('Tags: {0}', tags.join(', ') || t('none')),
    description,
    JSON.stringify(inputSchema ?? {}, null, 2),
  ].join('\n\n');
