import assert from 'node:assert/strict';
import path from 'node:path';
import { toWorkspaceRoots } from '../../../src/tools/core/workspaceRoots.ts';
import { resolvePath } from '../../../src/tools/sandbox/paths.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';

describe('the names of open folders', () => {
  const cases: [says: string, folders: [name: string, path: string][], names: string[]][] = [
    [
      'are the editor’s',
      [
        ['api', '/w/api'],
        ['My app', '/w/app'],
      ],
      ['api', 'My app'],
    ],
    [
      'tell two of one name by what they are in',
      [
        ['api', '/w/client/api'],
        ['api', '/w/server/api'],
        ['docs', '/w/docs'],
      ],
      ['api (client)', 'api (server)', 'docs'],
    ],
    [
      'whatever their capitals, which a disk may not tell',
      [
        ['Api', '/w/client/Api'],
        ['api', '/w/server/api'],
      ],
      ['Api (client)', 'api (server)'],
    ],
    [
      'by as much as it takes',
      [
        ['api', '/one/client/api'],
        ['api', '/two/client/api'],
        ['api', '/two/server/api'],
      ],
      ['api (one-client)', 'api (two-client)', 'api (server)'],
    ],
    [
      'are no path, and lead nowhere else',
      [
        ['a/b', '/w/x'],
        ['..', '/w/y'],
        ['', '/w/z'],
        ['..\\w', '/w/v'],
      ],
      ['x', 'y', 'z', 'v'],
    ],
    [
      'are there for a whole disk, too',
      [
        ['', '/'],
        ['a', '/a'],
      ],
      ['root', 'a'],
    ],
    [
      'come to an end where there is nothing more to tell them by',
      [
        ['api', '/api'],
        ['api', '/w/api'],
      ],
      ['api', 'api (w)'],
    ],
  ];
  for (const [says, folders, names] of cases)
    it(says, () => {
      const roots = toWorkspaceRoots(folders.map(([name, path]) => ({ name, path })));
      assert.deepEqual(
        roots.map(({ name }) => name),
        names,
      );
      assert.deepEqual(
        roots.map(({ path }) => path),
        folders.map(([, path]) => path),
      );
    });

  it('lead to each of two folders of one name', async () => {
    const workspace = await temporaryWorkspace({ 'client/api/a.txt': 'c', 'server/api/a.txt': 's' });
    const roots = toWorkspaceRoots(
      ['client', 'server'].map((one) => ({ name: 'api', path: path.join(workspace.root, one, 'api') })),
    );
    for (const name of ['api (client)', 'api (server)']) {
      const { relative, path: found } = await resolvePath(roots, `${name}/a.txt`, 'read');
      assert.equal(relative, `${name}/a.txt`);
      assert.equal((await resolvePath(roots, found, 'read')).relative, relative);
    }
    await assert.rejects(
      resolvePath(roots, 'a.txt', 'read'),
      /Begin with the folder: "api \(client\)\/…" or "api \(server\)\/…"/,
    );
    workspace.cleanup();
  });
});
