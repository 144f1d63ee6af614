import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import { performance } from 'node:perf_hooks';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from './conversation.ts';

/** Swaps two names for as long as it lives, as fast as it can; each is at every moment one or the other, or just gone. */
const swapper = `
  const { renameSync } = require('node:fs');
  const [a, b] = process.argv.slice(1);
  process.stdout.write('ready');
  process.on('SIGTERM', () => process.exit());
  (function swap() {
    for (let round = 0; round < 200; round++) {
      renameSync(a, a + '~'); renameSync(b, a); renameSync(a, b); renameSync(a + '~', a);
    }
    setImmediate(swap);
  })();
`;

describe('paths: swapped while they are used', function () {
  this.timeout(20_000);
  let workspace: TemporaryWorkspace;
  let outside: TemporaryWorkspace;
  let process_: ChildProcess | undefined;
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'x/secret.txt': 'INSIDE' });
    outside = await temporaryWorkspace({ 'secret.txt': 'CANARY-OUTSIDE' });
  });
  afterEach(async () => {
    if (process_?.exitCode === null) {
      process_.kill();
      await once(process_, 'exit');
    }
    workspace.cleanup();
    outside.cleanup();
  });

  const swaps: [name: string, real: string, link: string, target: () => string][] = [
    ['a folder and a link to outside', 'x', 'l', () => outside.root],
    ['a file and a link to outside', 'x/secret.txt', 'x/l', () => paths.join(outside.root, 'secret.txt')],
  ];
  for (const [name, real, link, target] of swaps) {
    it(`${name}: no read ever gives what is outside`, async () => {
      const at = (path: string) => paths.join(workspace.root, path);
      symlinkSync(target(), at(link));
      process_ = spawn(process.execPath, ['-e', swapper, at(real), at(link)], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(process_.stdout!, 'data');
      const { call } = conversation(workspace);
      const seen = { ok: 0, refused: 0 };
      const end = performance.now() + 2000;
      while (performance.now() < end) {
        const calls = Array.from({ length: 8 }, () => call('fs.read', { path: 'x/secret.txt' }));
        for (const outcome of await Promise.all(calls)) {
          assert.ok(!JSON.stringify(outcome).includes('CANARY'), JSON.stringify(outcome));
          seen[outcome.ok ? 'ok' : 'refused'] += 1;
        }
      }
      assert.ok(seen.ok > 0 && seen.refused > 0, `the swapping must be felt: ${JSON.stringify(seen)}`);
    });
  }
});
