import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ToolOutcome } from '../../src/protocol/content/tools.ts';
import { parseMcpConfig } from '../../src/tools/mcp/config/config.ts';
import { closeAll, node, type Talk, talk } from '../tools/mcp/talk.ts';
import { casesOf } from './cases.ts';

const server = path.join(import.meta.dirname, '../support/mcp/answers.mjs');

/** A server `s` that answers methods with these messages, started. */
async function answering(answers: object): Promise<Talk> {
  const t = await talk({});
  const file = path.join(t.workspace.root, 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  t.configure({ servers: { s: node(server, file) } });
  await t.prepare();
  return t;
}

const told = (outcome: ToolOutcome) => (outcome.ok ? outcome.data : {}) as Record<string, unknown>;

describe('outside: MCP', function () {
  this.timeout(30_000);
  afterEach(closeAll);

  for (const { title, input } of casesOf<{ list: object; want: { names: string[]; leftOut?: string[] } }>('mcp'))
    it(`${title}: what fits is there, and what does not is named`, async () => {
      const { names, leftOut } = input.want;
      const t = await answering({ 'tools/list': { result: input.list } });
      assert.deepEqual(t.server('s').state, { phase: 'running' });
      const listed = t.names().filter((name) => name.startsWith('mcp.s.'));
      for (const name of names) assert.ok(listed.includes(name), `${name} in ${listed.join()}`);
      if (!leftOut) return;
      assert.deepEqual(listed, names);
      assert.deepEqual(
        t.server('s').leftOut.flatMap(({ names }) => names),
        leftOut,
      );
      for (const name of leftOut)
        assert.match(t.logged.join('\n'), new RegExp(`Left out of its tools: "${name}" \\(.+\\)`));
      assert.doesNotMatch(t.logged.join('\n'), /"code":|"path":/);
    });

  interface ResultCase {
    answers: object;
    call: [name: string, args: unknown];
    want: {
      says?: string;
      fails?: string;
      pictures?: number;
      structured?: unknown;
      leftOut?: string[];
      listed?: string[];
    };
  }
  for (const { title, input } of casesOf<ResultCase>('mcp-result'))
    it(`${title}: the rest of a result is there, and the server stays`, async () => {
      const { says, fails, pictures = 0, structured, leftOut, listed } = input.want;
      const t = await answering(input.answers);
      const outcome = await t.call(...input.call);
      const text = JSON.stringify(outcome);
      assert.equal(outcome.ok, fails === undefined, text);
      if (!outcome.ok) assert.match(outcome.error.message, new RegExp(fails!));
      if (says !== undefined) assert.match(String(told(outcome).text ?? ''), new RegExp(says));
      if (outcome.ok) assert.equal(outcome.attachments?.length ?? 0, pictures, text);
      assert.deepEqual(told(outcome).structured, structured);
      if (listed)
        assert.deepEqual(
          (told(outcome).resources as { uri: string }[]).map(({ uri }) => uri),
          listed,
        );
      if (leftOut)
        assert.deepEqual(
          t.server('s').leftOut.flatMap(({ names }) => names),
          leftOut,
        );
      assert.deepEqual(t.server('s').state, { phase: 'running' });
    });

  for (const { title, input } of casesOf<{ greeting: object; want: { names?: string[]; problem?: string } }>(
    'mcp-greeting',
  ))
    it(`${title}: a greeting with what may be left out is one, any other is refused in a sentence`, async () => {
      const t = await answering({ initialize: input.greeting });
      const { names, problem } = input.want;
      assert.deepEqual(
        t.server('s').state,
        problem === undefined ? { phase: 'running' } : { phase: 'failed', problem },
      );
      if (names)
        assert.deepEqual(
          t.names().filter((name) => name.startsWith('mcp.')),
          names,
        );
    });

  interface ConfigCase {
    text: string;
    want: { names: string[] | null; switchedOff?: string[]; problems?: string[] };
  }
  for (const { title, input } of casesOf<ConfigCase>('config'))
    it(`${title}: ${input.text.slice(0, 70)}`, async () => {
      const folder = { path: '/w', all: [{ name: 'w', path: '/w' }] };
      const source = { name: 'mcp.json', place: '/w/.vscode/mcp.json', content: input.text, folder };
      const { definitions, switchedOff = [], problems } = await parseMcpConfig(source);
      const { names, switchedOff: off, problems: wrong } = input.want;
      assert.deepEqual(definitions?.map(({ name }) => name) ?? null, names);
      if (off)
        assert.deepEqual(
          switchedOff.map(({ name }) => name),
          off,
        );
      if (wrong)
        assert.deepEqual(
          problems,
          wrong.map((problem) => `mcp.json: ${problem}`),
        );
      if (names?.length === 0 && wrong === undefined) assert.equal(switchedOff.length, 1);
    });
});
