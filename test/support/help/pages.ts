import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type HelpPageName, helpPageList } from '../../../src/help/pages.ts';
import { intents } from '../../../src/protocol/panel/intents.ts';
import { invariantsPage } from '../invariants.ts';
import { withCommands } from './commandContributions.ts';
import { connectionTables } from './connectionTables.ts';
import { manifestTables } from './manifestTables.ts';
import { wireTables } from './wireTables.ts';
import { workflowTables } from './workflowTables.ts';

/** The pages for people. Their tables are made from the code: `npm run page` writes them anew. */
const projectRoot = path.resolve(import.meta.dirname, '../../..');
export const pagesFolder = path.join(projectRoot, 'src/help');

export const manifestFile = path.join(projectRoot, 'package.json');
export const invariantsFile = path.join(projectRoot, 'src/invariants.md');

const placeOf = (name: HelpPageName): string => path.join(pagesFolder, `${name}.md`);

export const readPage = (name: HelpPageName): string => readFileSync(placeOf(name), 'utf8');

const tables: Record<string, () => string> = {
  ...workflowTables,
  ...connectionTables,
  ...manifestTables,
  ...wireTables,
};

/** The page with its tables as the code has them: each stands between `<!-- name -->` and `<!-- /name -->`. */
export function withTables(page: string): string {
  return page.replaceAll(/<!-- (\w+) -->\n[\s\S]*?<!-- \/\1 -->/g, (_, name: string) => {
    const make = tables[name];
    if (!make) throw new Error(`There is no table ${name}.`);
    return `<!-- ${name} -->\n${make()}\n<!-- /${name} -->`;
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(manifestFile, withCommands(readFileSync(manifestFile, 'utf8'), intents));
  for (const { name } of helpPageList) writeFileSync(placeOf(name), withTables(readPage(name)));
  writeFileSync(invariantsFile, invariantsPage(projectRoot));
}
