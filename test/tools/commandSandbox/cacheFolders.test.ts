import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import * as paths from 'node:path';
import { createLinuxSandbox } from '../../../src/tools/commandSandbox/linux/linuxSandbox.ts';
import { runSandboxed, type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';

describe('the private caches of a workspace', () => {
  let sandbox: TemporarySandbox;

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
  });
  after(() => sandbox?.cleanup());

  it('are folders again in the next window, which writes through no link', async () => {
    const folder = paths.join(sandbox.folder, 'ws');
    mkdirSync(folder);
    mkdirSync(paths.join(sandbox.home, '.cargo'));
    writeFileSync(paths.join(sandbox.home, '.cargo/config.toml'), '');
    const elsewhere = mkdtempSync(paths.join(sandbox.folder, 'elsewhere-'));
    const request = {
      runId: 'run',
      folder,
      folders: [folder],
      questions: { mayConnect: async () => false, mayKeep: async () => false },
    };
    const command = await sandbox.begin(request);
    const caches = paths.dirname(command.environment.CARGO_HOME!);
    const script = `cd ${caches} && rm -r cargo npm xdg && ln -s ${elsewhere} cargo && ln -s /nothing npm && echo > xdg`;
    assert.equal((await runSandboxed(command, script)).code, 0);
    const next = createLinuxSandbox({
      store: paths.join(sandbox.folder, 'store'),
      forwarder: paths.join(sandbox.folder, 'sandboxForwarder.cjs'),
      home: sandbox.home,
      hidden: [],
      folders: async () => [folder],
    });
    try {
      assert.equal((await next.availability()).isAvailable, true);
      const are = ['cargo', 'npm', 'xdg'].map((name) => lstatSync(paths.join(caches, name)).isDirectory());
      assert.deepEqual([are, readdirSync(elsewhere)], [[true, true, true], []]);
    } finally {
      await next.close();
    }
  });
});
