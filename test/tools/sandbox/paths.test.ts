import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import * as paths from 'node:path';
import { toEnglishText } from '../../../src/protocol/text/l10n.ts';
import { isMutatingPathOperation, pathLocations } from '../../../src/tools/core/pathSyntax.ts';
import { ToolError } from '../../../src/tools/core/tool.ts';
import type { Workspace } from '../../../src/tools/core/workspace.ts';
import { isGitInternal, protectedPathReason } from '../../../src/tools/policy/protectedPaths.ts';
import { resolvePath } from '../../../src/tools/sandbox/paths.ts';
import { temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';
import { type PathCase, preparePath, shared, telling, toolFor } from '../pathCases.ts';

describe('tools: paths', () => {
  for (const one of telling) it(`${one.id} ${one.op} ${shown(one)}: ${one.why}`, () => check(one));

  it(`${shared.length} shared cases ${shared.length === 0 ? '(absent here)' : 'of this platform'}`, async () => {
    const wrong: string[] = [];
    for (const one of shared) {
      await check(one).catch((error) => wrong.push(`${one.id} ${one.op} ${shown(one)} (${one.why}): ${error.message}`));
    }
    assert.deepEqual(wrong, []);
  });

  const others = new Map([...telling, ...shared].map((one) => [one.id, one]));
  others.delete('M01'); // about the real paths of a Mac's disk; it runs there
  for (const one of others.values()) {
    if (one.platform !== 'win32' && one.platform !== 'darwin') continue;
    it(`${one.id} by its spelling alone: ${one.why}`, () => checkSpelling(one));
  }

  it('an open folder that is a whole home folder asks for every read', async () => {
    const found = await resolvePath([{ name: 'home', path: homedir() }], '.', 'list');
    assert.equal(toEnglishText(found.protected!), 'The open folder is a whole disk or home folder.');
  });

  for (const path of ['.v\u017fcode/tasks.json', '.env\u200b', '.\uff47ithub/x', '.\u00dfh/config'])
    it(`${JSON.stringify(path)} is protected like what some disks take it for`, () =>
      assert.notEqual(protectedPathReason(path.split('/')), undefined));

  it('a path that is in two folders is not guessed', async () => {
    const workspace = await temporaryWorkspace({ 'a/x.txt': 'a', 'b/x.txt': 'b' }, { folders: ['a', 'b'] });
    await assert.rejects(resolvePath(workspace.roots, 'x.txt', 'read'), {
      message: '"x.txt" could be in several folders. Begin with the folder: "a/…" or "b/…".',
      details: { reason: 'AMBIGUOUS_ROOT' },
    });
    assert.equal((await resolvePath(workspace.roots, 'b/x.txt', 'read')).relative, 'b/x.txt');
    workspace.cleanup();
  });

  it('what a refused link names is not in the message', async () => {
    const workspace = await temporaryWorkspace();
    fs.symlinkSync('/etc/hostname-of-somebody', paths.join(workspace.root, 'link'));
    await assert.rejects(resolvePath(workspace.roots, 'link', 'read'), {
      message: '"link" goes through a link that leaves the workspace.',
    });
    workspace.cleanup();
  });

  it('a slip in a name is answered with what is there', async () => {
    const workspace = await temporaryWorkspace({ 'src/greeting.ts': '', 'src/other.ts': '' });
    await assert.rejects(resolvePath(workspace.roots, 'src/greetings.ts', 'read'), {
      code: 'ENOENT',
      message: '"src/greetings.ts" does not exist. Did you mean "greeting.ts"?',
    });
    workspace.cleanup();
  });
});

function shown({ input }: PathCase): string {
  return JSON.stringify(input).slice(0, 60);
}

/** The races are tests of their own (`races.test.ts`). */
const elsewhere = new Set(['R01', 'R03', 'R05', 'R06']);

async function check(one: PathCase): Promise<void> {
  if (elsewhere.has(one.id) || one.platform !== process.platform) return;
  const place = await preparePath(one);
  const { roots, input, put } = place;
  try {
    if (one.id !== 'F18') await checkDecision(one, roots, input, put); // into itself: a rule of moving, not of a path
    await checkTool(one, roots, input, put);
    checkAfter(one, put);
  } finally {
    place.remove();
  }
}

/** The gate's own answer. What only opening the file can tell (size, binary) is left to the tool. */
async function checkDecision(one: PathCase, roots: Workspace['roots'], input: unknown, put: (text: string) => string) {
  const pattern = one.op === 'search';
  const decided = await (async () => {
    const found = await resolvePath(roots, pattern ? '.' : (input as string), one.op);
    if (one.to === undefined) return found;
    const to = await resolvePath(roots, put(one.to), 'create');
    return found.protected ? found : to;
  })().catch((error: ToolError) => error);
  if (pattern || ['TOO_LARGE', 'BINARY'].includes(one.code)) return;
  if (decided instanceof Error) {
    assert.ok(decided instanceof ToolError, String(decided));
    assert.equal(one.expect, 'deny', decided.message);
    assert.equal(codeOf(decided), one.code, decided.message);
    if (!JSON.stringify(input).includes(put('{ROOT}')))
      assert.ok(!decided.message.includes(put('{ROOT}')), decided.message);
    return;
  }
  assert.equal(decided.protected ? 'protected' : 'allow', one.expect, decided.protected?.english);
  if (one.resolves) assert.equal(decided.path, put(one.resolves));
}

/** The same through the tool that a model has for it: the answer is a question, or none, or a refusal. */
async function checkTool(one: PathCase, roots: Workspace['roots'], input: unknown, put: (text: string) => string) {
  const workspace = await temporaryWorkspace();
  workspace.roots = [...roots];
  const { call, asked, host } = conversation(workspace, { answer: 'allow-run' });
  const tool = toolFor(one, input, put);
  if (!tool) return workspace.cleanup();
  const outcome = await call(tool.name, tool.args);
  workspace.cleanup();
  const told = JSON.stringify(outcome);
  if (!JSON.stringify(one.post ?? '').includes('CANARY')) assert.ok(!told.includes('CANARY'), told);
  if (one.expect === 'deny') {
    assert.equal(asked.length, 0, 'a refused place is not asked about');
    assert.ok(!outcome.ok, told);
    assert.equal(codeOf(outcome.error), one.code, told);
    if (!JSON.stringify(input).includes(put('{ROOT}'))) assert.ok(!told.includes(put('{ROOT}')), told);
    return;
  }
  const changing = isMutatingPathOperation(one.op);
  assert.equal(asked.length, changing || one.expect === 'protected' ? 1 : 0, told);
  assert.equal(
    asked[0]?.plan.grant !== undefined,
    changing && one.expect === 'allow',
    'a protected place has no grant',
  );
  if (one.resolves && asked[0]) assert.equal(asked[0].plan.where, put(one.resolves));
  assert.ok(outcome.ok, told);
  assert.ok(host.isFree({ id: '', name: tool.name, arguments: {} }, 'run') === !changing);
  for (const excluded of one.post?.searchExcludes ?? []) assert.ok(!told.includes(`"${excluded}"`), told);
}

function codeOf({ code, details }: { code: string; details?: unknown }): string {
  const reason = (details as { reason?: string } | undefined)?.reason;
  if (code === 'ENOENT') return 'NOT_FOUND';
  if (code === 'TOOL_ARGS_INVALID') return 'BAD_ARGS';
  return reason ?? code;
}

/** On disk: only what tools of today do can be seen; what refuses leaves everything as it was. */
function checkAfter(one: PathCase, put: (text: string) => string): void {
  const done =
    one.expect === 'deny' || ['write', 'create', 'mkdir', 'delete', 'rename', 'read', 'search'].includes(one.op);
  if (!done) return;
  for (const path of one.post?.exists ?? []) assert.ok(fs.existsSync(put(path)), path);
  for (const path of one.post?.missing ?? []) assert.ok(!fs.existsSync(put(path)), path);
  for (const path of one.post?.symlink ?? []) assert.ok(fs.lstatSync(put(path)).isSymbolicLink(), path);
  for (const [path, mode] of Object.entries(one.post?.mode ?? {})) {
    assert.equal(fs.statSync(put(path)).mode & 0o777, mode, path);
  }
  for (const [path, content] of Object.entries(one.post?.content ?? {})) {
    assert.equal(fs.readFileSync(put(path), 'utf8'), content, path);
  }
}

/** Other systems' rules about spelling hold on every system, because the decision takes the platform as a value. */
function checkSpelling(one: PathCase): void {
  const roots = (one.roots ?? ['/tmp/ws']).map((path) => ({ name: 'ws', path, realPath: path }));
  const decide = (): string => {
    try {
      const [place] = pathLocations(roots, one.input as string, one.platform);
      if (!isMutatingPathOperation(one.op)) return 'OK';
      if (isGitInternal(place!.segments)) return 'GIT_INTERNAL';
      return protectedPathReason(place!.segments) ? 'PROTECTED' : 'OK';
    } catch (error) {
      return codeOf(error as ToolError);
    }
  };
  assert.equal(decide(), one.code);
}
