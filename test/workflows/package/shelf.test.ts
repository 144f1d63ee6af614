import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageRunId } from '../../../src/workflows/package/ids.ts';
import { Shelf } from '../../../src/workflows/package/shelf.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { sampleFiles } from './sample.ts';
import { zip } from './zip.ts';

const place = '.towpath/packages/letters';

describe('a package is found', () => {
  let folder: string;
  let workspace: TemporaryWorkspace;
  let shelf: Shelf;
  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'shelf-')));
    const files = Object.entries(sampleFiles).map(([file, text]) => [`${place}/${file}`, text]);
    workspace = await temporaryWorkspace(Object.fromEntries(files));
    shelf = new Shelf({
      project: workspace,
      storage: path.join(folder, 'unpacked'),
      openedFile: path.join(folder, 'opened.json'),
      stateFolder: () => path.join(folder, 'state'),
      autopilot: () => false,
      now: () => new Date(0),
    });
  });
  afterEach(() => {
    workspace.cleanup();
    rmSync(folder, { recursive: true });
  });

  it('never in a workspace that is not trusted', async () => {
    const [shelved] = await shelf.list();
    workspace.trusted = false;
    assert.deepEqual(await shelf.list(), []);
    const id = packageRunId({ key: shelved!.key, workflowId: 'write' });
    await assert.rejects(shelf.workflow(id), { name: 'EngineError', code: 'WORKFLOW_UNTRUSTED' });
    await assert.rejects(shelf.open(path.join(workspace.root, place, 'bmad.json')), { name: 'PackageError' });
  });

  it('and says what is wrong with one, or that it is gone', async () => {
    const [shelved] = await shelf.list();
    const { key } = shelved!;
    workspace.write(`${place}/agents.json`, '{}');
    const problem = 'agents.json: agents: expected array, but it is missing';
    assert.deepEqual(await shelf.list(), [{ key, place: path.join(workspace.root, place), problem }]);
    await assert.rejects(shelf.workflow(packageRunId({ key, workflowId: 'write' })), {
      code: 'WORKFLOW_INVALID',
      message: `The package cannot be used: ${problem}.`,
    });
    workspace.write(`${place}/agents.json`, sampleFiles['agents.json']!);
    for (const id of [
      packageRunId({ key: 'other', workflowId: 'write' }),
      packageRunId({ key, workflowId: 'paint' }),
      packageRunId({ key, workflowId: 'write', agentId: 'nobody' }),
    ])
      await assert.rejects(shelf.workflow(id), { code: 'WORKFLOW_NOT_FOUND' }, id);
    assert.equal(await shelf.workflow('chat'), undefined);
  });

  it('in archives of the workspace, and among what was opened', async () => {
    const archive = zip(Object.entries(sampleFiles).map(([name, content]) => ({ name, content })));
    workspace.write('.towpath/packages/letters.bmad', archive);
    mkdirSync(path.join(folder, 'elsewhere'));
    writeFileSync(path.join(folder, 'elsewhere', 'again.bmad'), archive);
    const opened = await shelf.open(path.join(folder, 'elsewhere', 'again.bmad'));
    rmSync(path.join(folder, 'elsewhere'), { recursive: true });
    const listed = await shelf.list();
    assert.equal(listed.length, 2); // the same content is the same package
    assert.deepEqual(listed.map(({ key }) => key).includes(opened.key), true);
    rmSync(path.join(workspace.root, '.towpath'), { recursive: true });
    assert.deepEqual(
      (await shelf.list()).map(({ key }) => key),
      [opened.key],
    );
    assert.ok(await shelf.workflow(packageRunId({ key: opened.key, workflowId: 'write' })));
  });
});
