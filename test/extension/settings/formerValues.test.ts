import assert from 'node:assert/strict';
import { formerText, formerValues } from '../../../src/extension/settings/formerValues.ts';

const names = ['towpath.model', 'towpath.approvals.preset', 'towpath.approvals.rules', 'towpath.mcp.servers'];
const deny = { effect: 'deny', tool: 'fs.delete' };
const allow = { effect: 'allow', tool: 'shell.run' };

describe('settings of before', () => {
  const cases: [name: string, text: string, own: Record<string, unknown>, expected: unknown[]][] = [
    ['nothing there', '', {}, []],
    ['no settings at all', '["towpath.model"]', {}, []],
    [
      'cut off: what can be read',
      '{"towpath.model": "ollama/x", "tow',
      {},
      [{ name: 'towpath.model', value: 'ollama/x' }],
    ],
    [
      'comments and a trailing comma, as the editor has them',
      '{ // mine\n"towpath.model": "ollama/x", }',
      {},
      [{ name: 'towpath.model', value: 'ollama/x' }],
    ],
    ['what counts there still, and what is of others', '{"towpath.local.threads": 3, "editor.fontSize": 9}', {}, []],
    ['what the person has already', '{"towpath.model": "ollama/x"}', { 'towpath.model': 'ollama/x' }, []],
    [
      'what the person has otherwise is shown beside it',
      '{"towpath.approvals.preset": "ask-everything"}',
      { 'towpath.approvals.preset': 'edits-free' },
      [{ name: 'towpath.approvals.preset', value: 'ask-everything', own: 'edits-free' }],
    ],
    [
      'rules are added to the person’s own, and none is lost',
      JSON.stringify({ 'towpath.approvals.rules': [allow, deny] }),
      { 'towpath.approvals.rules': [deny] },
      [{ name: 'towpath.approvals.rules', value: [deny, allow], own: [deny] }],
    ],
    [
      'servers are added, too',
      JSON.stringify({ 'towpath.mcp.servers': { servers: { b: { command: 'b' } }, inputs: [{ id: 'i' }] } }),
      { 'towpath.mcp.servers': { servers: { a: { command: 'a' } } } },
      [
        {
          name: 'towpath.mcp.servers',
          value: { servers: { a: { command: 'a' }, b: { command: 'b' } }, inputs: [{ id: 'i' }] },
          own: { servers: { a: { command: 'a' } } },
        },
      ],
    ],
    ['a name of every object is no setting', '{}', {}, []],
    ['endless nesting', `{"towpath.model": ${'['.repeat(500_000)}`, {}, []],
    [
      'a list in the place of a text is shown as it is: it counts as not set',
      '{"towpath.model": [["x"]]}',
      {},
      [{ name: 'towpath.model', value: [['x']] }],
    ],
  ];
  for (const [name, text, own, expected] of cases)
    it(name, () =>
      assert.deepEqual(
        formerValues(text, [...names, 'constructor'], (one) => own[one]),
        expected,
      ),
    );

  it('the question shows each value, what it stands in for, and nothing hidden', () => {
    const { message, detail, isWhole } = formerText('/data/Machine/settings.json', [
      { name: 'towpath.approvals.preset', value: 'edits-free', own: 'reads-free' },
      { name: 'towpath.model', value: 'ollama/x\u202Ey\n\ntowpath.retries: 3' },
    ]);
    assert.equal(message, 'Adopt the former settings of Towpath (2)?');
    assert.ok(isWhole);
    assert.match(detail, /^towpath\.approvals\.preset: "edits-free" \(now "reads-free"\)$/m);
    assert.match(detail, /^towpath\.model: "ollama\/x⟨U\+202E⟩y\\n\\ntowpath\.retries: 3"$/m);
    assert.ok(detail.endsWith('/data/Machine/settings.json'));
  });

  it('what does not fit has to be read first', () => {
    const { detail, isWhole } = formerText('/f', [{ name: 'towpath.model', value: 'x'.repeat(3000) }]);
    assert.ok(!isWhole);
    assert.ok(detail.length < 2600, `${detail.length}`);
    assert.match(detail, /That is not the whole file\. Read the file first\./);
  });
});
