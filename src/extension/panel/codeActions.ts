import * as vscode from 'vscode';
import type { ViewMessage } from '../../protocol/panel/panelMessages.ts';
import { t } from '../../protocol/text/l10n.ts';
import type { PanelConversation } from '../runs/conversation.ts';
import { terminalSafeLine } from './terminalSafe.ts';

type Used = Extract<ViewMessage, { type: 'use-code' }>;

/**
 * Uses a code block of a reply. `insert` changes an open document, to be saved or undone by the user; `apply` is a message to the model,
 * whose edit needs an approval as usual.
 */
export async function applyCodeBlock(
  { how: action, text, language }: Used,
  conversation: PanelConversation,
): Promise<void> {
  if (action === 'insert') return insert(text, conversation);
  if (action === 'new-file') {
    const known = new Set(await vscode.languages.getLanguages());
    const id = [language, languages[language] ?? ''].find((one) => known.has(one));
    const document = await vscode.workspace.openTextDocument({ content: text, ...(id && { language: id }) });
    await vscode.window.showTextDocument(document, { preview: false });
    return;
  }
  if (action === 'terminal') return toTerminal(text, conversation);
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const code = `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
  await conversation.send(`Apply this code of yours to the file that it is for:\n\n${code}`);
}

async function insert(text: string, conversation: PanelConversation): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  const isDone = await editor?.edit((builder) => {
    for (const selection of editor.selections) builder.replace(selection, text);
  });
  if (isDone && editor)
    await vscode.window.showTextDocument(editor.document, { viewColumn: editor.viewColumn, preview: false });
  else
    conversation.notice({
      level: 'info',
      text: editor
        ? t('The open file cannot be changed. Nothing was inserted.')
        : t('No file is open. Open one, and put the cursor where the code belongs.'),
    });
}

/** A terminal runs a line at its end, therefore several lines go to the clipboard. */
async function toTerminal(text: string, conversation: PanelConversation): Promise<void> {
  const line = terminalSafeLine(text);
  if (line === undefined) {
    await vscode.env.clipboard.writeText(text);
    conversation.notice({
      level: 'info',
      text: t(
        'The text has several lines, which a terminal would run one by one. It was copied instead; paste it where you want it.',
      ),
    });
    return;
  }
  const terminal = vscode.window.activeTerminal ?? vscode.window.createTerminal();
  terminal.show();
  terminal.sendText(line, false);
}

/** Editor language ids for fence languages with another name. */
const languages: Readonly<Record<string, string>> = {
  ts: 'typescript',
  tsx: 'typescriptreact',
  js: 'javascript',
  jsx: 'javascriptreact',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'shellscript',
  bash: 'shellscript',
  zsh: 'shellscript',
  shell: 'shellscript',
  yml: 'yaml',
  md: 'markdown',
  cs: 'csharp',
  'c++': 'cpp',
  'c#': 'csharp',
  text: 'plaintext',
  txt: 'plaintext',
};
