import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

// Cases that lie beside the project: each list of them is run by the test that is named here, every row, or it says why not.

const folder = path.join(import.meta.dirname, '../../shared/cases');
const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];

interface Row {
  [key: string]: unknown;
}

/**
 * By `file: list` the test that makes a test of each row, and of what tells a row how it is run, what that test knows; or why its
 * rows are not run yet, which counts as pending and never as passed.
 */
const lists: Record<string, { test: string; key?: string; known?: unknown[] } | { pending: string }> = {
  'command-cases.json: cases': {
    test: 'tools/commands/judgeCommand.test.ts',
    key: 'expect',
    known: ['auto', 'ask', 'never'],
  },
  'day-commands.json: projects': { test: 'support/day.ts' },
  'grant-cases.json: grants': { test: 'tools/commands/grants.test.ts', key: 'expect', known: ['ask', 'any'] },
  'grant-cases.json: offers': {
    test: 'tools/commands/grants.test.ts',
    key: 'expect',
    known: ['exact-or-none', 'exact-or-wider'],
  },
  'grant-cases.json: destructive': {
    test: 'tools/commands/destructive.test.ts',
    key: 'expect',
    known: ['refuse', 'ask-always'],
  },
  'grant-cases.json: named': {
    test: 'tools/commands/referencedPaths.test.ts',
    key: 'expect',
    known: ['ask-always', 'any'],
  },
  'markdown-cases.json: cases': { test: 'webview/markdown/markdown.test.ts' },
  'red-cases.json: grants': { test: 'tools/commands/grants.test.ts', key: 'expect', known: ['ask'] },
  'red-cases.json: offers': { test: 'tools/commands/grants.test.ts' },
  'red-cases.json: destructive': {
    test: 'tools/commands/destructive.test.ts',
    key: 'expect',
    known: ['refuse', 'ask-always'],
  },
  'red-cases.json: named': { test: 'tools/commands/referencedPaths.test.ts', key: 'expect', known: ['ask-always'] },
  // Races are tests of their own; those of other platforms are judged by their spelling, but for one about the disk of a Mac.
  'path-cases.json: cases': {
    test: 'tools/pathCases.ts',
    key: 'platform',
    known: ['linux', 'win32', 'darwin', 'linux-race'],
  },
};

describe(`${files.length} files of cases beside the project${files.length === 0 ? ' (absent here)' : ''}`, () => {
  for (const file of files) {
    const { meta: _, proof_legend: __, ...all } = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
    for (const [name, rows] of Object.entries<Row[]>(all))
      it(`${file}: each of the ${rows.length} rows of ${name} is run`, function () {
        const list = lists[`${file}: ${name}`];
        assert.ok(list, 'no test runs it');
        if ('pending' in list) this.skip();
        assert.ok(textOf(list.test).includes(file), `${list.test} does not load it`);
        for (const row of rows)
          if (list.key) assert.ok(list.known?.includes(row[list.key]), `nobody knows ${JSON.stringify(row)}`);
      });
  }

  it('a race of paths is one of the races', () => {
    if (!files.includes('path-cases.json')) return;
    const { cases } = JSON.parse(readFileSync(path.join(folder, 'path-cases.json'), 'utf8')) as { cases: Row[] };
    for (const { id } of cases.filter(({ platform }) => platform === 'linux-race'))
      assert.ok(textOf('tools/sandbox/races.test.ts').includes(`'${id} `), `${id} is no race`);
  });
});

function textOf(test: string): string {
  return readFileSync(path.join(import.meta.dirname, test), 'utf8');
}
