import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import * as paths from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PathOperation } from '../../src/tools/core/pathSyntax.ts';
import type { WorkspaceRoot } from '../../src/tools/core/workspace.ts';

/** One case: what is asked of the gate in a prepared folder, and what must come of it. */
export interface PathCase {
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

/** Those that a reader should see beside the code, and all there are, where they are. */
export const telling = casesOf(new URL('./path-cases.json', import.meta.url));
const sharedFile = pathToFileURL(paths.resolve('../shared/cases/path-cases.json'));
export const shared = fs.existsSync(sharedFile) ? casesOf(sharedFile) : [];

/** A case's own folders, with everything in them as it says. */
export interface PreparedPath {
  /** Holds the workspace, what is outside of it, and a home folder. */
  outer: string;
  roots: WorkspaceRoot[];
  input: unknown;
  /** A text of the case with its places filled in. */
  put(text: string): string;
  remove(): void;
}

/** Sets a case up; HOME is its home folder until it is removed. */
export async function preparePath(one: PathCase): Promise<PreparedPath> {
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
  for (const name of ['ws', 'outside', 'ws-evil', 'home']) fs.mkdirSync(paths.join(outer, name));
  fs.writeFileSync(put('{OUT}/secret.txt'), 'CANARY-OUTSIDE');
  fs.writeFileSync(put('{EVIL}/secret.txt'), 'CANARY-OUTSIDE');
  process.env.HOME = put('{HOME}');
  for (const step of one.setup) await prepare(step, put, closers);
  return {
    outer,
    roots: (one.roots ?? ['{WS}']).map(put).map((path) => ({ name: paths.basename(path), path })),
    input: typeof one.input === 'string' ? put(one.input.replace('@DEEPLINKS@', 'd45')) : one.input,
    put,
    remove() {
      if (home === undefined) delete process.env.HOME;
      else process.env.HOME = home;
      for (const close of closers) close();
      fs.rmSync(outer, { recursive: true, force: true });
    },
  };
}

/** The tool that a model has for it. */
export function toolFor(
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
  // fs.write replaces what is there, and shows that; what only creates is a patch.
  if (one.code === 'EXISTS')
    return { name: 'fs.apply_patch', args: { patch: `--- /dev/null\n+++ b/${input}\n@@ -0,0 +1 @@\n+NEW\n` } };
  if (one.op === 'write' || one.op === 'create') return { name: 'fs.write', args: { path: input, content: 'NEW' } };
  return undefined;
}

function casesOf(file: URL): PathCase[] {
  return JSON.parse(fs.readFileSync(file, 'utf8')).cases as PathCase[];
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
