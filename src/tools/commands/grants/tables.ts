import { readdirSync, readFileSync } from 'node:fs';
import * as paths from 'node:path';
import { parseTable } from './parseTable.ts';
import type { Table } from './tableRows.ts';

const folder = paths.join(import.meta.dirname, 'tables');

/** All tables of commands. The build works them out: it ships them parsed, without the reasons, and without their parser. */
export const tables: readonly Table[] = readdirSync(folder)
  .sort()
  .map((file) => parseTable(readFileSync(paths.join(folder, file), 'utf8'), file));
