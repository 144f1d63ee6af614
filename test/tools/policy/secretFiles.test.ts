import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { analyzeCommand } from '../../../src/tools/commands/analyzeCommand.ts';
import { runArgvPipeline } from '../../../src/tools/shell/argvPipeline.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

// One list for what is asked about, and for what searches leave out: each name is tried in every way to read it unasked.
const names: [path: string, secret: boolean][] = [
  ['.env', true],
  ['.env.local', true],
  ['.env_prod', true],
  ['.env-staging', true],
  ['.env.bak', true],
  ['.env~', true],
  ['.env.example', false],
  ['deploy/server.key', true],
  ['deploy/server.key.bak', true],
  ['deploy/server.pem~', true],
  ['id_rsa.old', true],
  ['main.tfstate.backup', true],
  ['prod.tfvars.json', true],
  ['.npmrc.bak', true],
  ['credentials.json~', true],
  ['secrets.yml.orig', true],
  ['prod.tfvars.json.old', true],
  ['id_ed25519_sk.save', true],
  ['.ssh/notes', true],
  ['deploy/.aws/config', true],
  ['.git/config', true],
  ['.git/worktrees/feature/config.worktree', true],
  ['keys.ts', false],
  ['threshold', false],
  ['public.key.ts', false],
];

describe('files that may hold secrets', () => {
  it('in a folder whose name is no text are not searched', async function () {
    if (process.platform !== 'linux') this.skip();
    const workspace = await temporaryWorkspace({ 'a.txt': 'CANARY of the file a\n' });
    try {
      const folder = Buffer.concat([Buffer.from(`${workspace.root}/x`), Buffer.from([0xff])]);
      mkdirSync(folder);
      writeFileSync(Buffer.concat([folder, Buffer.from('/.env')]), 'CANARY=1\n');
      const told = await conversation(workspace).call('fs.search', { pattern: 'CANARY' });
      assert.deepEqual(told, {
        ok: true,
        data: { matches: 1, files: [{ path: 'a.txt', lines: ['1: CANARY of the file a'] }] },
      });
    } finally {
      workspace.cleanup();
    }
  });

  for (const [path, secret] of names)
    it(`${path} ${secret ? 'is read after a question only' : 'is free to read'}`, async () => {
      const workspace = await temporaryWorkspace({ [path]: 'CANARY\n' });
      try {
        const talking = conversation(workspace, { answer: 'deny' });
        const told = [
          await talking.call('fs.read', { path }),
          await talking.call('fs.search', { pattern: 'CANARY' }),
          await talking.call('fs.edit', { path, edits: [{ oldText: 'CANARYX is here\n', newText: 'x\n' }] }),
        ];
        let seen = JSON.stringify(told);
        const folder = dirname(path);
        symlinkSync(folder, `${workspace.root}/link`);
        const commands = [
          `cat ${path}`,
          'rg --hidden CANARY',
          'rg -g "**" CANARY .',
          `rg CANARY ${path}`,
          `rg -g "**" CANARY ${folder}`,
          'rg -g "**" CANARY link',
          `cd ${folder} && rg -g "**" CANARY`,
          `cd ${folder} && rg CANARY ../${basename(folder)}`,
        ];
        for (const command of commands) {
          const { reading: line } = await analyzeCommand(workspace.roots, workspace.root, command);
          if (typeof line === 'string') continue;
          await runArgvPipeline(
            line,
            (chunk) => {
              seen += chunk;
            },
            AbortSignal.timeout(20_000),
            workspace.ripgrep,
          );
        }
        assert.equal(seen.replaceAll('CANARYX', '').includes('CANARY'), !secret);
        assert.equal(talking.asked.length > 0, secret);
      } finally {
        workspace.cleanup();
      }
    });
});
