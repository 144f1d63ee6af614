import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packageRunId } from '../../../src/workflows/package/ids.ts';
import { PackageRegistry } from '../../../src/workflows/package/packageRegistry.ts';
import { readWorkflowPackage } from '../../../src/workflows/package/readPackage.ts';
import { createWorkflowOfPackageRun } from '../../../src/workflows/package/workflowOf.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { sampleFiles, writePackage } from './sample.ts';
import { zip } from './zip.ts';

const place = '.towpath/packages/letters';

describe('a package is found', () => {
  let folder: string;
  let workspace: TemporaryWorkspace;
  let shelf: PackageRegistry;
  let now = new Date();
  beforeEach(async () => {
    now = new Date();
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'shelf-')));
    const files = Object.entries(sampleFiles).map(([file, text]) => [`${place}/${file}`, text]);
    workspace = await temporaryWorkspace(Object.fromEntries(files));
    shelf = new PackageRegistry({
      project: workspace,
      storage: path.join(folder, 'unpacked'),
      openedFile: path.join(folder, 'opened.json'),
      stateFolder: () => path.join(folder, 'state'),
      autopilot: () => false,
      now: () => now,
      read: readWorkflowPackage,
      follow: createWorkflowOfPackageRun,
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
    const file = 'agents.json';
    assert.deepEqual(await shelf.list(), [
      { key, place: path.join(workspace.root, place), problem, file, opened: false },
    ]);
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

  describe('and forgotten', () => {
    const archive = (title: string) => {
      const manifest = JSON.stringify({ ...JSON.parse(sampleFiles['bmad.json']!), title });
      const files = { ...sampleFiles, 'bmad.json': manifest };
      return zip(Object.entries(files).map(([name, content]) => ({ name, content })));
    };
    const unpacked = () => readdirSync(path.join(folder, 'unpacked'));
    const openArchive = (title: string) => {
      const file = path.join(folder, `${title}.bmad`);
      writeFileSync(file, archive(title));
      return shelf.open(file);
    };
    const titles = async () =>
      (await shelf.list()).map((one) =>
        'source' in one ? `${one.source.title}${one.opened ? ', opened' : ''}` : one.problem,
      );

    it('with what was unpacked of it, and nothing else', async () => {
      const one = await openArchive('One');
      await openArchive('Two');
      assert.deepEqual(await titles(), ['Letters', 'One, opened', 'Two, opened']);
      await shelf.forget(one.key);
      assert.deepEqual([await titles(), unpacked().length], [['Letters', 'Two, opened'], 1]);
      assert.ok(existsSync(path.join(folder, 'One.bmad')));
      await assert.rejects(shelf.workflow(packageRunId({ key: one.key, workflowId: 'write' })), {
        code: 'WORKFLOW_NOT_FOUND',
      });
      await openArchive('One');
      assert.ok(await shelf.workflow(packageRunId({ key: one.key, workflowId: 'write' })));
    });

    it('without touching a folder of the person’s, whatever its name', async () => {
      for (const name of ['mine', 'a'.repeat(64)]) {
        const own = writePackage(path.join(folder, name));
        const { key } = await shelf.open(path.join(own, 'bmad.json'));
        assert.equal((await titles()).length, 2);
        await shelf.forget(key);
        assert.deepEqual([await titles(), existsSync(path.join(own, 'agents.json'))], [['Letters'], true]);
      }
    });

    it('only where it was opened: one of the workspace stays', async () => {
      const own = path.join(workspace.root, place, 'bmad.json');
      const { key } = await shelf.open(own);
      assert.deepEqual(await titles(), ['Letters, opened']);
      await shelf.forget(key);
      assert.deepEqual([await titles(), existsSync(own)], [['Letters'], true]);
    });

    it('once a run that was begun with an archive is gone, and not before', async () => {
      const file = '.towpath/packages/other.bmad';
      workspace.write(file, archive('One') as unknown as string);
      const { key } = (await shelf.list())[1]!;
      const id = packageRunId({ key, workflowId: 'write' });
      workspace.write(file, archive('Two') as unknown as string);
      await openArchive('Three');
      mkdirSync(path.join(folder, 'unpacked', '.new-cut-off'));
      mkdirSync(path.join(folder, 'unpacked', 'not-ours'));
      assert.deepEqual(await titles(), ['Letters', 'Two', 'Three, opened']);
      const left = async (ids: (string | undefined)[]) => {
        await shelf.sweep(async () => ids);
        return unpacked().length;
      };
      assert.equal(await left(['chat']), 5, 'it may just have been unpacked');
      now = new Date(Date.now() + 2 * 60 * 60 * 1000);
      assert.equal(await left([id, undefined]), 5, 'a run that cannot be read may need any of them');
      assert.equal(await left([id, 'chat']), 3, 'nobody needs the second, nor what was cut off');
      assert.equal((await shelf.workflow(id))!.id, id, 'a run goes on with what it was begun with');
      assert.equal(await left(['chat']), 2);
      await assert.rejects(shelf.workflow(id), { code: 'WORKFLOW_NOT_FOUND' });
      assert.deepEqual(await titles(), ['Letters', 'Two', 'Three, opened']);
    });
  });
});
