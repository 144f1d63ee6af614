import { readdirSync, readFileSync } from 'node:fs';
import * as paths from 'node:path';
import { parseTable } from './parseTable.ts';
import type { Table } from './tableRows.ts';

const folder = paths.join(import.meta.dirname, 'tables');

/** All tables of commands. The build replaces this file with parsed tables, without reasons and parser. */
export const tables: readonly Table[] = readdirSync(folder)
  .sort()
  .map((file) => parseTable(readFileSync(paths.join(folder, file), 'utf8'), file));
