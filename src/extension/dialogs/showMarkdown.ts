import * as vscode from 'vscode';

/** Shows a Markdown page of Towpath as a preview; as text where the editor's Markdown extension is off. */
export async function showMarkdown(page: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(page);
  await vscode.languages.setTextDocumentLanguage(document, 'markdown');
  try {
    await vscode.commands.executeCommand('markdown.showPreview', page);
  } catch {
    await vscode.window.showTextDocument(document, { preview: false }); // there is no such command
  }
}
