import assert from 'node:assert/strict';
import { openTowpath, type Towpath } from '../support/editor/towpath.ts';
import { eventually } from '../support/eventually.ts';
import { hostileFiles } from '../support/hostile.ts';
import { type Provider, reply, startProvider } from '../support/provider.ts';

/** Files that are wrong: all but two of a package with a wrong graph. */
const expected = Object.keys(hostileFiles())
  .filter((file) => !/packages\/graph\/(bmad|agents)\.json/.test(file))
  .sort();

describe('a repository that means harm', () => {
  let editor: Towpath;
  let provider: Provider;
  before(async () => {
    provider = await startProvider(() => reply.text('I am here.'));
    editor = await openTowpath({
      files: hostileFiles(),
      settings: {
        'towpath.model': 'openai-compatible/scripted',
        'towpath.providers': { 'openai-compatible': { baseUrl: provider.url } },
      },
    });
  });
  after(async () => {
    await editor?.stop();
    await provider.close();
  });

  const problems = () =>
    editor.host.evaluate((vscode) =>
      vscode.languages
        .getDiagnostics()
        .flatMap(([uri, all]) =>
          all.some(({ source, severity }) => source === 'Towpath' && severity === 0)
            ? [vscode.workspace.asRelativePath(uri)]
            : [],
        ),
    );

  it('leaves the editor as it is: a chat is answered while its files are looked through, and each has its problem', async () => {
    await editor.panel.send('Are you there?');
    await editor.panel.shows('I am here.');
    const isWrong = (found: string[]) => expected.every((file) => found.includes(file));
    await eventually('every file has its problem', async () => isWrong(await problems()));
    assert.deepEqual((await problems()).sort(), expected);
    await editor.command('View: Focus Problems');
    await editor.page.getByText('The file is larger than 256 KiB.').first().waitFor();
    await editor.screenshot('hostile-problems');
  });
});
