import * as vscode from 'vscode';

export async function showMarkdown(page: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(page);
  await vscode.languages.setTextDocumentLanguage(document, 'markdown');
  try {
    await vscode.commands.executeCommand('markdown.showPreview', page);
  } catch {
    await vscode.window.showTextDocument(document, { preview: false }); // the command does not exist
  }
}
