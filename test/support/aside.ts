import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { testOut } from './editor/project.ts';
import { built } from './programs.ts';

const folder = path.join(testOut, 'aside');
let writing: Promise<string> | undefined;

/** Builds the thread aside as it is shipped, and says where it is. */
export function buildAside(): Promise<string> {
  writing ??= write();
  return writing;
}

async function write(): Promise<string> {
  mkdirSync(path.join(folder, 'aside'), { recursive: true });
  const { files } = await built('aside.cjs');
  for (const [name, text] of files) writeFileSync(path.join(folder, name === 'aside.cjs' ? '' : 'aside', name), text);
  return path.join(folder, 'aside.cjs');
}
