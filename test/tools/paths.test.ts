import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import * as paths from 'node:path';
import { pathToFileURL } from 'node:url';
import { resolvePath } from '../../src/tools/gate/paths.ts';
import { isGitInternal, protectedReason } from '../../src/tools/gate/protected.ts';
import { changes, type PathOperation, placesOf } from '../../src/tools/gate/spelling.ts';
import { ToolError } from '../../src/tools/tool.ts';
import type { Workspace } from '../../src/tools/workspace.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from './conversation.ts';

/** One case: what is asked of the gate in a prepared folder, and what must come of it. */
interface PathCase {
  id: string;
  platform: string;
  op: PathOperation;
  input: unknown;
  to?: string;
  roots?: string[];
  setup: Setup[];
  expect: 'allow' | 'protected' | 'deny';
  code: string;
  resolves?: string;
  post?: {
    exists?: string[];
    missing?: string[];
    content?: Record<string, string>;
    symlink?: string[];
    mode?: Record<string, number>;
    searchExcludes?: string[];
  };
  why: string;
}
interface Setup {
  dir?: string;
  file?: string;
  content?: string;
  base64?: string;
  mode?: number;
  symlink?: string;
  hardlink?: string;
  target?: string;
  fifo?: string;
  socket?: string;
  sparse?: string;
  size?: number;
  deeplinks?: number;
}

const telling = casesOf(new URL('path-cases.json', import.meta.url));
const sharedFile = pathToFileURL(paths.resolve('../shared/cases/path-cases.json'));
const shared = fs.existsSync(sharedFile) ? casesOf(sharedFile) : [];

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
    assert.equal(found.protected, 'The open folder is a whole disk or home folder.');
  });

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

function casesOf(file: URL): PathCase[] {
  return JSON.parse(fs.readFileSync(file, 'utf8')).cases as PathCase[];
}

function shown({ input }: PathCase): string {
  return JSON.stringify(input).slice(0, 60);
}

/** The races are tests of their own (`races.test.ts`). */
const elsewhere = new Set(['R01', 'R03', 'R05', 'R06']);

async function check(one: PathCase): Promise<void> {
  if (elsewhere.has(one.id) || one.platform !== process.platform) return;
  const outer = fs.realpathSync(fs.mkdtempSync(paths.join(tmpdir(), 'towpath-path-')));
  const home = process.env.HOME;
  const put = (text: string) =>
    text
      .replaceAll('{ROOT}', outer)
      .replaceAll('{WS}', paths.join(outer, 'ws'))
      .replaceAll('{WS2}', paths.join(outer, 'ws2'))
      .replaceAll('{OUT}', paths.join(outer, 'outside'))
      .replaceAll('{EVIL}', paths.join(outer, 'ws-evil'))
      .replaceAll('{HOME}', paths.join(outer, 'home'));
  const closers: (() => void)[] = [];
  try {
    for (const name of ['ws', 'outside', 'ws-evil', 'home']) fs.mkdirSync(paths.join(outer, name));
    fs.writeFileSync(put('{OUT}/secret.txt'), 'CANARY-OUTSIDE');
    fs.writeFileSync(put('{EVIL}/secret.txt'), 'CANARY-OUTSIDE');
    process.env.HOME = put('{HOME}');
    for (const step of one.setup) await prepare(step, put, closers);
    const roots = (one.roots ?? ['{WS}']).map(put).map((path) => ({ name: paths.basename(path), path }));
    const input = typeof one.input === 'string' ? put(one.input.replace('@DEEPLINKS@', 'd45')) : one.input;
    if (one.id !== 'F18') await checkDecision(one, roots, input, put); // into itself: a rule of moving, not of a path
    await checkTool(one, roots, input, put);
    checkAfter(one, put);
  } finally {
    if (home === undefined) delete process.env.HOME;
    else process.env.HOME = home;
    for (const close of closers) close();
    fs.rmSync(outer, { recursive: true, force: true });
  }
}

async function prepare(step: Setup, put: (text: string) => string, closers: (() => void)[]): Promise<void> {
  const path = put(
    step.dir ?? step.file ?? step.symlink ?? step.hardlink ?? step.fifo ?? step.socket ?? step.sparse ?? '{WS}/x',
  );
  fs.mkdirSync(step.dir ? path : paths.dirname(path), { recursive: true });
  if (step.file) fs.writeFileSync(path, step.base64 ? Buffer.from(step.base64, 'base64') : (step.content ?? ''));
  if (step.mode) fs.chmodSync(path, step.mode);
  if (step.symlink) fs.symlinkSync(put(step.target!), path);
  if (step.hardlink) fs.linkSync(put(step.target!), path);
  if (step.fifo) execFileSync('mkfifo', [path]);
  if (step.socket) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    closers.push(() => server.close());
  }
  if (step.sparse) {
    fs.writeFileSync(path, '');
    fs.truncateSync(path, step.size);
  }
  if (step.deeplinks) {
    fs.writeFileSync(put('{WS}/ok.txt'), 'INSIDE');
    for (let index = 0; index <= step.deeplinks; index++) {
      fs.symlinkSync(index === 0 ? 'ok.txt' : `d${index - 1}`, put(`{WS}/d${index}`));
    }
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
  assert.equal(decided.protected ? 'protected' : 'allow', one.expect, decided.protected);
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
  const changing = changes(one.op);
  assert.equal(asked.length, changing || one.expect === 'protected' ? 1 : 0, told);
  assert.equal(
    asked[0]?.plan.grant !== undefined,
    changing && one.expect === 'allow',
    'a protected place has no grant',
  );
  if (one.resolves && asked[0]) assert.equal(asked[0].plan.where, put(one.resolves));
  assert.ok(outcome.ok, told);
  assert.ok(host.isFree({ id: '', name: tool.name, arguments: {} }) === !changing);
  for (const excluded of one.post?.searchExcludes ?? []) assert.ok(!told.includes(`"${excluded}"`), told);
}

function toolFor(
  one: PathCase,
  input: unknown,
  put: (text: string) => string,
): { name: string; args: unknown } | undefined {
  if (one.op === 'rename') return { name: 'fs.move', args: { from: input, to: put(one.to!) } };
  if (one.op === 'mkdir') return { name: 'fs.write', args: { path: `${input}/made.txt`, content: 'NEW' } };
  if (one.op === 'read' || one.op === 'stat') return { name: 'fs.read', args: { path: input } };
  if (one.op === 'list') return { name: 'fs.list', args: { path: input } };
  if (one.op === 'delete') return { name: 'fs.delete', args: { path: input } };
  if (one.op === 'search' && /[*/]/.test(String(input))) return { name: 'fs.find', args: { pattern: input } };
  if (one.op === 'search') return { name: 'fs.search', args: { pattern: input } };
  const creates = one.op === 'create' && one.code !== 'EXISTS'; // fs.write creates or replaces
  if (one.op === 'write' || creates) return { name: 'fs.write', args: { path: input, content: 'NEW' } };
  return undefined;
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
      const [place] = placesOf(roots, one.input as string, one.platform);
      if (!changes(one.op)) return 'OK';
      if (isGitInternal(place!.segments)) return 'GIT_INTERNAL';
      return protectedReason(place!.segments) ? 'PROTECTED' : 'OK';
    } catch (error) {
      return codeOf(error as ToolError);
    }
  };
  assert.equal(decide(), one.code);
}
