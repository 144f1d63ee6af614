import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { locateFindings } from '../../../src/extension/review/locateFindings.ts';
import type { ReviewFinding } from '../../../src/workflows/agents/reviewFindings.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';

describe('a finding is placed', () => {
  let workspace: TemporaryWorkspace;
  afterEach(() => workspace.cleanup());

  const counted: string[] = [];
  const lineCount = async (file: string) => {
    counted.push(file);
    return readFileSync(file, 'utf8').split('\n').length;
  };
  const at = (path: string, line?: number, endLine?: number): ReviewFinding => ({
    path,
    severity: 'error',
    text: 'why',
    ...(line !== undefined && { line }),
    ...(endLine !== undefined && { endLine }),
  });
  async function check(findings: ReviewFinding[], expected: (string | undefined)[]) {
    counted.length = 0;
    const placed = await locateFindings(findings, workspace, lineCount);
    const shown = placed.map(({ file, path: name, line, endLine }) => {
      assert.equal(file, path.join(workspace.root, name));
      return [name, line, endLine].filter((one) => one !== undefined).join(':');
    });
    assert.deepEqual(shown, expected);
  }

  it('at the lines of its file, and never beyond its end', async () => {
    workspace = await temporaryWorkspace({ 'src/a.ts': '1\n2\n3', 'empty.ts': '' });
    await check(
      [at('src/a.ts', 2), at('./src/a.ts', 2, 3), at('src/a.ts', 9_999_999), at('src/a.ts', 3, 99), at('src/a.ts')],
      ['src/a.ts:2', 'src/a.ts:2:3', 'src/a.ts:3', 'src/a.ts:3:3', 'src/a.ts'],
    );
    await check([at('empty.ts', 7)], ['empty.ts:1']);
  });

  it('nowhere, and nothing is opened, if its path leads out of the workspace or to no file', async () => {
    workspace = await temporaryWorkspace({ 'src/a.ts': '1' });
    const outside = path.join(path.dirname(workspace.root), 'outside.txt');
    writeFileSync(outside, 'secret');
    symlinkSync(outside, path.join(workspace.root, 'link.txt'));
    mkdirSync(path.join(workspace.root, 'folder.ts'));
    const paths = [
      '../outside.txt',
      'src/../../outside.txt',
      outside,
      'link.txt',
      'folder.ts',
      'src/renamed.ts',
      '/etc/passwd',
      '~/.ssh/id_rsa',
      'C:\\Windows\\win.ini',
      'file:///etc/passwd',
      '\u001b[31msrc/a.ts',
      'src/a.ts\u202e',
      '',
      '.git/config',
    ];
    await check(
      paths.map((one) => at(one, 1)),
      [],
    );
    assert.deepEqual(counted, []);
    rmSync(outside);
  });

  it('below the name of its folder if several are open', async () => {
    workspace = await temporaryWorkspace({ 'api/a.ts': '1', 'web/a.ts': '1' }, { folders: ['api', 'web'] });
    await check([at('web/a.ts', 1), at('api/a.ts', 1)], ['web/a.ts:1', 'api/a.ts:1']);
  });

  it('not at a file that has no text', async () => {
    workspace = await temporaryWorkspace({ 'a.bin': '1' });
    const placed = await locateFindings([at('a.bin', 1)], workspace, async () => {
      throw new Error('binary');
    });
    assert.deepEqual(placed, []);
  });
});
