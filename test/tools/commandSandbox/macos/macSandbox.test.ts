import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import type { CommandSandbox } from '../../../../src/tools/commandSandbox/commandSandbox.ts';
import { createMacSandbox } from '../../../../src/tools/commandSandbox/macos/macSandbox.ts';
import type { ApprovalAnswer } from '../../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../../src/tools/host/builtinTools.ts';
import { hasProgram } from '../../../support/bwrap.ts';
import { type Listening, listen } from '../../../support/listening.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../../support/workspace.ts';
import { conversation, data } from '../../conversation.ts';

/** In place of `sandbox-exec`, which only macOS has: it confines nothing, and answers the test like one that does. */
const fake = `#!/bin/sh
[ "$1" = -f ] || exit 99
profile=$2; shift 2
case $3 in *towpath-test*) echo inside; echo done; exit;; esac
cp "$profile" "$(dirname "$0")/used.sb"; exec "$@"
`;

const withoutConfinement = '#!/bin/sh\nshift 2; exec "$@"\n';

describe('the sandbox of macOS, with a program in place of sandbox-exec', () => {
  let folder: string;
  let workspace: TemporaryWorkspace;
  let sandbox: CommandSandbox;
  let server: Listening;

  const create = (script: string): CommandSandbox => {
    const program = paths.join(folder, 'sandbox-exec');
    writeFileSync(program, script, { mode: 0o755 });
    return createMacSandbox({
      store: paths.join(folder, 'store'),
      home: paths.join(folder, 'home'),
      hidden: [],
      program,
    });
  };

  before(async function () {
    if (process.platform === 'win32' || !hasProgram('curl')) return this.skip();
    server = await listen(async (_, response) => void response.end('hello'));
  });
  after(() => server?.close());
  beforeEach(async () => {
    folder = realpathSync(mkdtempSync(paths.join(tmpdir(), 'towpath-mac-')));
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n' });
    sandbox = create(fake);
  });
  afterEach(async () => {
    await sandbox.close();
    workspace.cleanup();
    await rm(folder, { recursive: true, force: true });
  });

  const run = async (command: string, answer: ApprovalAnswer['decision'] = 'deny') => {
    const talking = conversation(workspace, {
      tools: builtinTools({ shell: { sandbox, covers: async () => ({ isWhole: true }) } }),
      policy: { preset: 'sandbox' },
      answer,
    });
    const ran = await data<{ output: string; note?: string }>(talking.call('shell.run', { command }));
    return { ...ran, asked: talking.asked.map(({ plan }) => plan.what) };
  };

  it('is not available if nothing confines a command', async () => {
    writeFileSync(paths.join(folder, 'x'), '');
    const { isAvailable, ...found } = await create(withoutConfinement).availability();
    assert.equal(isAvailable, false);
    assert.match(JSON.stringify(found), /a command could (?:write outside|write a protected file)/);
  });

  it('is not available without the program, and is a preview otherwise', async () => {
    const missing = createMacSandbox({ store: folder, home: folder, hidden: [], program: '/nonexistent' });
    assert.equal((await missing.availability()).isAvailable, false);
    assert.deepEqual(await sandbox.availability(), { isAvailable: true, program: 'sandbox-exec', isPreview: true });
  });

  it('runs in the working folder, with a profile that is removed at the end', async () => {
    const { output } = await run('echo two > a.txt; pwd; echo $TMPDIR');
    const [working, temporary] = output.trim().split('\n');
    assert.deepEqual([working, workspace.read('a.txt')], [realpathSync(workspace.root), 'two\n']);
    assert.ok(existsSync(temporary!) && paths.basename(temporary!).startsWith(`towpath-run-${process.pid}-`));
    const profile = readFileSync(paths.join(folder, 'used.sb'), 'utf8');
    assert.ok(profile.includes(`(subpath "${realpathSync(workspace.root)}")`));
    assert.deepEqual(readdirSync(paths.join(folder, 'store/profiles')), []);
  });

  it('asks for each host, and knows only clients with its password', async () => {
    const url = `http://127.0.0.1:${server.port}/`;
    const allowed = await run(`curl -sS ${url}`, 'allow');
    assert.deepEqual([allowed.output, allowed.asked], ['hello', [`Allow network access to 127.0.0.1:${server.port}?`]]);
    const denied = await run(`curl -sS ${url}`);
    assert.match(denied.note!, /^Sandbox: no network access to 127\.0\.0\.1:/);
    const stranger = await run(
      `curl -sS -o /dev/null -w '%{http_code}' -x "http://\${HTTP_PROXY##*@}" ${url}`,
      'allow',
    );
    assert.deepEqual([stranger.output, stranger.asked], ['407', []]);
  });

  it('names what could not be written', async () => {
    const { note } = await run('echo "sh: $PWD/.vscode/x: Operation not permitted" >&2; exit 1');
    assert.match(note!, /^Sandbox: cannot write \.vscode\/x\. Ask with the reason in `outside`\.$/);
  });

  it('ends what a command leaves behind', async () => {
    const { output } = await run("(setsid sh -c 'sleep 1000' > /dev/null 2>&1 & echo $!)");
    assert.equal(existsSync(`/proc/${output.trim()}/cwd`), false);
  });
});
