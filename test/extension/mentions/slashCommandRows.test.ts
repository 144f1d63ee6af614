import assert from 'node:assert/strict';
import {
  assignSlashNames,
  builtInSlashCommands,
  type SlashCommandEntry,
  slashCompletions,
} from '../../../src/extension/mentions/slashCommandRows.ts';
import { splitSlashCommand } from '../../../src/protocol/content/slash.ts';

const found = (kind: SlashCommandEntry['kind'], name: string, detail = ''): SlashCommandEntry => ({
  kind,
  name,
  detail,
  of: undefined,
});

describe('What is offered after a /', () => {
  const words = assignSlashNames([
    ...builtInSlashCommands,
    found('prompt', 'explain it', 'In short'),
    found('prompt', 'plan'),
    found('skill', 'plan'),
    found('workflow', 'review'),
    found('agent', 'review'),
    found('agent', 'review'),
    found('server-prompt', 'mcp.notes.add'),
  ]);
  const rows = (query: string) => slashCompletions(words, query).map(({ label }) => label);

  it('is Towpath’s own first, then what files and servers have, each under a word of its own', () =>
    assert.deepEqual(rows(''), [
      ...['/new', '/compact', '/model', '/plan', '/task', '/undo', '/sandbox', '/export'],
      ...[
        '/explain-it',
        '/prompt:plan',
        '/skill:plan',
        '/review',
        '/agent:review',
        '/agent:review-2',
        '/mcp.notes.add',
      ],
    ]));

  it('is what begins so, then what has it somewhere', () => {
    assert.deepEqual(rows('pl'), ['/plan', '/explain-it', '/prompt:plan', '/skill:plan']);
    assert.deepEqual(rows('PROMPT'), ['/prompt:plan']);
    assert.deepEqual(rows('nothing'), []);
  });

  it('says what it is', () =>
    assert.deepEqual(slashCompletions(words, 'explain'), [
      { slash: { word: '/explain-it', kind: 'prompt' }, label: '/explain-it', detail: 'In short' },
    ]));

  it('is 50 at most', () =>
    assert.equal(
      slashCompletions(assignSlashNames(Array.from({ length: 80 }, (_, at) => found('prompt', `p${at}`))), '').length,
      50,
    ));
});

describe('A message that begins with a /', () => {
  for (const [text, said] of [
    ['/plan', { word: '/plan', rest: '' }],
    ['/plan make it\nso', { word: '/plan', rest: 'make it\nso' }],
    ['/mcp.notes.add x', { word: '/mcp.notes.add', rest: 'x' }],
    ['/etc/hosts is wrong', undefined],
    ['/', undefined],
    [' /plan', undefined],
    ['say /plan', undefined],
  ] as const)
    it(`${JSON.stringify(text)} ${said ? `may mean ${said.word}` : 'is words like any other'}`, () =>
      assert.deepEqual(splitSlashCommand(text), said));
});
