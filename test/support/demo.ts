// npm run demo [-- folder for the pictures]: the story hands-free, in a real editor, with the demonstration model.
import path from 'node:path';
import { whenToldToEnd } from './editor/ending.ts';
import { transcriptText } from './editor/panel.ts';
import { draw } from './editor/picture.ts';
import { projectRoot } from './editor/project.ts';
import { openEditors, openTowpath, type Towpath } from './editor/towpath.ts';

const request = 'Make the greeting friendlier.';
const file = 'src/greet.js';
const screenshots = path.resolve(process.argv[2] ?? path.join(projectRoot, 'dist', 'demo'));

console.log('Opening VS Code with Towpath on a fresh copy of the sample workspace …');
let leaving = false;
whenToldToEnd(async () => {
  leaving = true; // what fails from now on does so because its editor goes away
  for (const one of openEditors()) await one.stop();
  process.exit(130);
});
try {
  await tell(await openTowpath({ screenshots, builtIn: 'all', viewport: { width: 1440, height: 900 } }));
} catch (error) {
  if (!leaving) {
    console.error(error);
    for (const one of openEditors())
      console.error(`\nThe demo stopped there. Picture: ${await draw(one.page, screenshots, 'failure')}`);
    process.exitCode = 1;
  }
} finally {
  for (const one of openEditors()) await one.stop();
}

async function tell({ page, host, panel, dialog, read, screenshot, resizePanel }: Towpath): Promise<void> {
  const before = read(file);
  await resizePanel(460);
  await host.evaluate(async (vscode, name) => {
    const [workspace] = vscode.workspace.workspaceFolders ?? [];
    if (!workspace) throw new Error('No folder is open.');
    await vscode.window.showTextDocument(vscode.Uri.joinPath(workspace.uri, name), { preview: false });
  }, file);
  await screenshot('1-before');

  console.log(`Asking: ${request}`);
  await panel.send(request);
  console.log(`\nTowpath has a question:\n${indent(await dialog.text())}\n`);
  await screenshot('2-question');

  await dialog.click('Review…');
  await page.locator('.monaco-diff-editor .line-insert').first().waitFor();
  const waiting = panel.frame.getByTestId('show-question');
  await waiting.hover();
  await screenshot('3-review');

  await waiting.click();
  await dialog.click('Allow');
  await panel.waitForPhase('WaitingUser');
  await screenshot('4-after');

  const after = read(file);
  console.log(`Transcript:\n${indent(transcriptText(await panel.transcript()))}\n`);
  console.log(`${file} is now:\n${indent(after ?? '(gone)')}\n`);
  console.log(`Pictures: ${screenshots}`);
  if (after === before) throw new Error(`${file} has not changed.`);
}

function indent(text: string): string {
  return text.trimEnd().replace(/^/gm, '    ');
}
