import { readdirSync, readFileSync } from 'node:fs';
import * as paths from 'node:path';
import { parseGrantTable } from './parseTable.ts';
import type { GrantTable } from './tableRows.ts';

const folder = paths.join(import.meta.dirname, 'tables');

/** All tables of commands. The build replaces this file with parsed tables, without reasons and parser. */
export const grantTables: readonly GrantTable[] = readdirSync(folder)
  .sort()
  .map((file) => parseGrantTable(readFileSync(paths.join(folder, file), 'utf8'), file));
