import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { testOut } from './editor/project.ts';
import { built } from './programs.ts';

const folder = path.join(testOut, 'parser');
let writing: Promise<string> | undefined;

/** Builds the parser program as it is shipped, and returns its path. */
export function buildParserProgram(): Promise<string> {
  writing ??= write();
  return writing;
}

async function write(): Promise<string> {
  mkdirSync(path.join(folder, 'parser'), { recursive: true });
  const { files } = await built('parser.cjs');
  for (const [name, text] of files) writeFileSync(path.join(folder, name === 'parser.cjs' ? '' : 'parser', name), text);
  return path.join(folder, 'parser.cjs');
}
