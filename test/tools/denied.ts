import { accessSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import * as paths from 'node:path';
import { resolvePath } from '../../src/tools/sandbox/paths.ts';
import { temporaryWorkspace } from '../support/workspace.ts';
import { conversation } from './conversation.ts';
import { type PathCase, preparePath, shared, telling, toolFor } from './pathCases.ts';

/**
 * A program of its own, to be watched from outside: puts every path that is refused to the gate and to its tool. Around each it
 * asks for a file that tells where in the record it begins and ends. Prints what was prepared, which stays.
 */
export interface Denied {
  id: string;
  outer: string;
  roots: string[];
  /** Places beyond the prepared ones that the case is about. */
  elsewhere: string[];
}

export const marker = '/towpath-case';

const say = (text: string) => {
  try {
    accessSync(`${marker}/${text}`);
  } catch {
    // it is never there
  }
};

async function deny(one: PathCase, use?: (outer: string) => Promise<unknown>): Promise<Denied> {
  const { outer, roots, input, put } = await preparePath(one);
  const workspace = await temporaryWorkspace();
  workspace.roots = [...roots];
  const { call } = conversation(workspace);
  const tool = toolFor(one, input, put)!;
  say(`${one.id}/begin`);
  if (use) await use(outer);
  else {
    await resolvePath(roots, one.op === 'search' ? '.' : (input as string), one.op).catch(() => undefined);
    await call(tool.name, tool.args);
  }
  say(`${one.id}/end`);
  workspace.cleanup();
  const named = [input, ...one.setup.map(({ target }) => target && put(target))].filter(
    (text) => typeof text === 'string',
  );
  const elsewhere = named.filter((text) => paths.isAbsolute(text) && !paths.resolve(text).startsWith(outer));
  return { id: one.id, outer, roots: roots.map(({ path }) => path), elsewhere };
}

if (process.argv[1] === import.meta.filename) {
  const cases = new Map([...shared, ...telling].map((one) => [one.id, one]));
  const denied = [...cases.values()].filter(({ expect, platform }) => expect === 'deny' && platform === 'linux');
  const done: Denied[] = [];
  for (const one of denied) done.push(await deny(one));
  // What is done wrong here must be seen: else nothing of the above is.
  const linked = { symlink: '{WS}/l', target: '{OUT}' };
  const wrong = (id: string, file: string): [PathCase, (outer: string) => Promise<unknown>] => [
    { ...denied[0]!, id, setup: [linked] },
    (outer) => stat(paths.join(outer, file)),
  ];
  done.push(
    await deny(...wrong('outright', 'outside/secret.txt')),
    await deny(...wrong('by-a-link', 'ws/l/secret.txt')),
  );
  console.log(JSON.stringify(done));
  process.exit(0); // sockets of cases are still open
}
