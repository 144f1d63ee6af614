import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import * as paths from 'node:path';
import { checkModelFile } from '../../src/llm/local/modelFile/checkModelFile.ts';
import { invalidGgufReason } from '../../src/llm/local/modelFile/ggufHeader.ts';
import { workspaceInstructions } from '../../src/tools/instructions/instructions.ts';
import { readPlainConfigFile } from '../../src/tools/mcp/config/config.ts';
import { readRegularFile } from '../../src/tools/sandbox/regularFile.ts';
import { breakHardLink, replaceFile } from '../../src/tools/sandbox/writeFile.ts';
import { unpackArchive } from '../../src/workflows/package/archive.ts';
import { loadPackage } from '../../src/workflows/package/load.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../support/workspace.ts';
import { conversation, error } from './conversation.ts';

// Whatever waits for one of these waits for ever: the test ends by mocha's limit then.
const kinds = ['pipe', 'socket', ...(canMakeDevices() ? ['device'] : [])] as const;
const names: Record<string, string> = { pipe: 'pipe', socket: 'socket', device: 'device' };

let workspace: TemporaryWorkspace;
let server: Server;
const at = (name: string) => paths.join(workspace.root, name);

/** Only an administrator may. */
function canMakeDevices(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0;
}

// Holds files-open-in-one-place.
describe('what is no plain file is neither read nor waited for', () => {
  before(async function () {
    if (process.platform === 'win32') return this.skip();
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n', 'sub/b.txt': 'one\n' });
    execFileSync('mkfifo', [
      at('pipe'),
      at('sub/pipe'),
      at('AGENTS.md'),
      at('x.gguf'),
      at('x.bmad'),
      at('bmad.json'),
      at('mcp.json'),
    ]);
    if (canMakeDevices()) execFileSync('mknod', [at('device'), 'c', '1', '5']); // as /dev/zero: it never ends
    server = createServer();
    await new Promise<void>((resolve) => server.listen(at('socket'), resolve));
  });
  after(async () => {
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    workspace?.cleanup();
  });

  for (const kind of kinds) {
    const path = names[kind]!;
    const calls: [tool: string, args: object][] = [
      ['fs.read', { path }],
      ['fs.search', { pattern: 'one', path }],
      ['fs.find', { pattern: '*', path }],
      ['fs.list', { path }],
      ['fs.write', { path, content: 'x' }],
      ['fs.edit', { path, edits: [{ oldText: 'one', newText: 'two' }] }],
      ['fs.apply_patch', { path, patch: '@@ -1 +1 @@\n-one\n+two\n' }],
      ['fs.delete', { path }],
    ];
    for (const [tool, args] of calls)
      it(`${tool} of a ${kind}`, async () => {
        const { code } = await error(conversation(workspace).call(tool, args));
        assert.match(code, /E_SANDBOX_VIOLATION|E_PRECONDITION_FAILED/);
      });

    for (const command of [`cat ${path}`, `wc -l < ${path}`, `grep one ${path}`, `head -n 1 a.txt ${path}`])
      it(`${command} (a ${kind}) is no command that only reads`, async () => {
        const policy = { readOnlyCommands: true };
        const { call, asked } = conversation(workspace, { policy, answer: 'deny' });
        await call('shell.run', { command });
        assert.equal(asked.length, 1);
      });

    it(`readPlain of a ${kind}`, () => assert.rejects(readRegularFile(at(path), 1000), { code: 'NOT_PLAIN' }));
    it(`writing over a ${kind} that was swapped in`, () => assert.rejects(replaceFile(at(path), Buffer.from('x'))));
  }

  it('in a folder that is searched, listed or looked through', async () => {
    const { call } = conversation(workspace);
    for (const [tool, args] of [
      ['fs.search', { pattern: 'one' }],
      ['fs.search', { pattern: 'one', path: 'sub' }],
      ['fs.find', { pattern: '**/*' }],
      ['fs.list', { path: 'sub' }],
    ] as const) {
      const outcome = await call(tool, args);
      assert.equal(outcome.ok, true, JSON.stringify(outcome));
    }
  });

  it('moved, it stays what it is', async () => {
    const { call } = conversation(workspace);
    assert.equal((await call('fs.move', { from: 'sub/pipe', to: 'sub/pipe2' })).ok, true);
    assert.equal(statSync(at('sub/pipe2')).isFIFO(), true);
  });

  it('AGENTS.md, a configuration of servers, packages and their archives, models', async () => {
    assert.deepEqual(await workspaceInstructions({ workspace, isExcluded: () => false }).everywhere(), []);
    await assert.rejects(readPlainConfigFile(at('mcp.json')), { code: 'NOT_PLAIN' });
    await assert.rejects(unpackArchive(at('x.bmad'), at('storage')), /cannot be read/);
    await assert.rejects(loadPackage(workspace.root), /not a plain file/);
    assert.deepEqual(invalidGgufReason(at('x.gguf')), { english: 'It is not a regular file.' });
    await assert.rejects(checkModelFile(at('x.gguf')), /not a GGUF model file/);
  });

  it('a file with two names is read as one', async () => {
    linkSync(at('a.txt'), at('second.txt'));
    await breakHardLink(at('second.txt'));
    assert.deepEqual([statSync(at('a.txt')).nlink, readFileSync(at('second.txt'), 'utf8')], [1, 'one\n']);
    rmSync(at('second.txt'));
  });
});

describe('what somebody else may have put there', () => {
  /** These open what Towpath itself keeps or is built of, what the system gives, or a folder that is held. */
  const own =
    /^(runs\/|build\/|llm\/local\/(?!modelFile\/(ggufHeader|checkModelFile))|tools\/sandbox\/(openFile|regularFile|writeFile|dirHandle|fileTree)\.ts|tools\/commandInput\/(inputWaits|terminal)\.ts|tools\/commands\/grants\/tables\.ts|tools\/commandSandbox\/(applyOverlay|linux\/(limits\/)?\w+)\.ts|tools\/shell\/(spawnCommand|processes|orphanedCommands|processTable)\.ts|tools\/network\/listeningSockets\.ts|tools\/snapshot\/(currentContents|packWriter|snapshotFile)\.ts|workflows\/package\/(document|packageRegistry)\.ts|extension\/(settings\/decisionFile|runs\/shownRunFile|approvals\/reviews)\.ts)/;

  it('is opened in one place', () => {
    const source = paths.join(import.meta.dirname, '../../src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const opening = files.filter((name) => {
      const text = readFileSync(paths.join(source, name), 'utf8');
      const imported = [...text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g)].map(([, all]) => all!);
      return (
        imported.some((all) => /\b(readFile|readFileSync|open|openSync|createReadStream|copyFile)\b/.test(all)) ||
        /\bfs\.(readFile|open|copyFile|createReadStream)\(/.test(text.replaceAll('workspace.fs.readFile', ''))
      );
    });
    const flagged = opening.filter((name) => !own.test(name));
    assert.deepEqual(flagged.sort(), ['llm/local/modelFile/checkModelFile.ts', 'llm/local/modelFile/ggufHeader.ts']); // which may not know the tools
  });
});
