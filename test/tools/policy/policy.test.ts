import assert from 'node:assert/strict';
import {
  type ApprovalPolicy,
  type ApprovalPreset,
  approvalPresets,
  defaultApprovalPolicy,
} from '../../../src/protocol/content/policy.ts';
import type { ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import type { CommandPart } from '../../../src/tools/core/commandPart.ts';
import { decideCallByPolicy, type PolicySubject } from '../../../src/tools/policy/policy.ts';

const subject = (more: Partial<PolicySubject> = {}): PolicySubject => ({
  tool: 'fs.edit',
  risk: 'change',
  paths: ['src/a.ts'],
  readsOnly: false,
  always: false,
  trusted: true,
  ...more,
});
const read = subject({ tool: 'fs.read', risk: 'read' });
const edit = subject();
const command = (text: string, more: Partial<PolicySubject> = {}) =>
  subject({ tool: 'shell.run', risk: 'execute', paths: [], command: text, ...more });
const policy = (
  rules: Omit<ScopedPermissionRule, 'scope'>[] = [],
  more: Partial<ApprovalPolicy> = {},
): ApprovalPolicy => ({
  ...defaultApprovalPolicy,
  rules: rules.map((rule) => ({ scope: 'user', ...rule })),
  ...more,
});

describe('a preset', () => {
  const table: Record<ApprovalPreset, [read: string, edit: string, command: string]> = {
    'ask-everything': ['ask', 'ask', 'ask'],
    'reads-free': ['allow', 'ask', 'ask'],
    'edits-free': ['allow', 'allow', 'ask'],
    sandbox: ['allow', 'allow', 'ask'],
    autopilot: ['allow', 'allow', 'allow'],
  };
  for (const preset of approvalPresets)
    it(`${preset}: reads, edits, commands are ${table[preset].join(', ')}`, () => {
      const effects = [read, edit, command('npm test')].map(
        (one) => decideCallByPolicy(policy([], { preset }), one).effect,
      );
      assert.deepEqual(effects, table[preset]);
    });

  it('frees nothing that changes anything in an untrusted workspace', () => {
    for (const one of [edit, command('ls')])
      assert.equal(decideCallByPolicy(policy([], { preset: 'autopilot' }), { ...one, trusted: false }).effect, 'ask');
  });

  it('never frees what is asked about every time', () => {
    const rules = [{ effect: 'allow', tool: '*' } as const];
    assert.deepEqual(decideCallByPolicy(policy(rules, { preset: 'autopilot' }), subject({ always: true })), {
      effect: 'ask',
      reason: 'This is asked about every time.',
    });
  });

  const sandboxed = command('npm test', { sandboxed: true });
  for (const [preset, effect] of [
    ['ask-everything', 'ask'],
    ['edits-free', 'ask'],
    ['sandbox', 'allow'],
    ['autopilot', 'allow'],
  ] as const)
    it(`${preset}: a command that would run in the sandbox is ${effect}`, () =>
      assert.equal(decideCallByPolicy(policy([], { preset }), sandboxed).effect, effect));

  it('sandbox: says why, and gives an edit its own reason', () => {
    const say = (one: PolicySubject) => {
      const { reason, basis } = decideCallByPolicy(policy([], { preset: 'sandbox' }), one);
      return [reason, basis];
    };
    assert.deepEqual(say(sandboxed), ['Auto-approved: runs in the sandbox.', { by: 'preset', preset: 'sandbox' }]);
    assert.deepEqual(say(edit), ['Auto-approved: edits.', { by: 'preset', preset: 'edits-free' }]);
    assert.deepEqual(say(read), ['Auto-approved: reads.', { by: 'preset', preset: 'reads-free' }]);
  });

  it('sandbox: web pages, MCP tools, untrusted workspaces and what a rule names still ask', () => {
    const asks = { effect: 'ask', tool: 'shell.run', command: 'npm' } as const;
    const cases: [rules: Omit<ScopedPermissionRule, 'scope'>[], one: PolicySubject][] = [
      [[], subject({ tool: 'web.fetch', risk: 'execute', paths: [], site: 'https://example.com' })],
      [[], subject({ tool: 'mcp.notes.add', risk: 'execute', paths: [] })],
      [[], { ...sandboxed, trusted: false }],
      [[asks], sandboxed],
    ];
    for (const [rules, one] of cases)
      assert.equal(decideCallByPolicy(policy(rules, { preset: 'sandbox' }), one).effect, 'ask', one.tool);
    const denies = [{ ...asks, effect: 'deny' as const }];
    assert.equal(decideCallByPolicy(policy(denies, { preset: 'sandbox' }), sandboxed).effect, 'deny');
  });

  it('sandbox: what is asked about every time is allowed only in the sandbox, and only if undo restores it', () => {
    const always = { ...sandboxed, always: true };
    const undoable = { ...always, undoable: true as const };
    const asks = { effect: 'ask', tool: 'shell.run' } as const;
    const effect = (one: PolicySubject, preset: ApprovalPreset = 'sandbox', ...rules: (typeof asks)[]) =>
      decideCallByPolicy(policy(rules, { preset }), one).effect;
    assert.equal(effect(always), 'ask');
    assert.equal(effect(undoable), 'allow');
    assert.equal(effect({ ...undoable, sandboxed: undefined }), 'ask');
    assert.equal(effect({ ...undoable, sandboxed: undefined }, 'autopilot'), 'allow');
    assert.equal(effect(undoable, 'edits-free'), 'ask');
    assert.equal(effect(undoable, 'sandbox', asks), 'ask');
  });

  it('for commands that only read is off until it is asked for', () => {
    const reading = command('ls', { readsOnly: true });
    assert.equal(decideCallByPolicy(policy(), reading).effect, 'ask');
    assert.deepEqual(decideCallByPolicy(policy([], { readOnlyCommands: true }), reading), {
      effect: 'allow',
      reason: 'Auto-approved: read-only command.',
      basis: { by: 'read-only-command' },
      onlyReads: true,
    });
    assert.equal(decideCallByPolicy(policy([], { readOnlyCommands: true }), command('npm test')).effect, 'ask');
  });
});

describe('a rule', () => {
  it('deny beats ask beats allow, whatever their order', () => {
    const [allow, ask, deny] = (['allow', 'ask', 'deny'] as const).map((effect) => ({ effect, tool: 'fs.edit' }));
    assert.equal(decideCallByPolicy(policy([allow!, ask!, deny!]), edit).effect, 'deny');
    assert.equal(decideCallByPolicy(policy([allow!, ask!]), edit).effect, 'ask');
    assert.deepEqual(decideCallByPolicy(policy([allow!]), edit), {
      effect: 'allow',
      reason: 'Allowed by your rule “fs.edit”.',
      basis: { by: 'rules', rules: [{ scope: 'user', what: 'fs.edit' }] },
      byRule: true,
    });
  });

  it('deny beats even what is asked about every time', () => {
    assert.equal(
      decideCallByPolicy(policy([{ effect: 'deny', tool: 'fs.*' }]), subject({ always: true })).effect,
      'deny',
    );
  });

  it('that cannot be understood allows nothing and stops everything it could mean', () => {
    assert.equal(decideCallByPolicy(policy([{ effect: 'allow', tool: 'fs.edit', path: '../**' }]), edit).effect, 'ask');
    assert.equal(decideCallByPolicy(policy([{ effect: 'deny', tool: 'fs.edit', path: '../**' }]), edit).effect, 'deny');
  });

  const cases: [rule: Omit<ScopedPermissionRule, 'scope'>, subject: PolicySubject, effect: string][] = [
    [{ effect: 'allow', tool: 'fs.*' }, edit, 'allow'],
    [{ effect: 'allow', tool: 'fs' }, edit, 'ask'],
    [{ effect: 'allow', tool: 'fs.edit', path: 'src/**' }, edit, 'allow'],
    [{ effect: 'allow', tool: 'fs.edit', path: 'src/**' }, subject({ paths: ['src/a.ts', 'b.ts'] }), 'ask'],
    [{ effect: 'allow', tool: 'fs.edit', path: 'src/**' }, subject({ paths: [] }), 'ask'],
    [{ effect: 'deny', tool: 'fs.edit', path: '*.lock' }, subject({ paths: ['src/a.ts', 'yarn.lock'] }), 'deny'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test'), 'allow'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test -- --grep "a b"'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test', { folder: 'examples/x' }), 'ask'],
    [
      { effect: 'allow', tool: 'shell.run', command: 'npm test', folder: 'examples/x' },
      command('npm test', { folder: 'examples/x' }),
      'allow',
    ],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test', folder: 'examples/x' }, command('npm test'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test', varies: true }, command('npm test'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm testing'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test; rm x'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test && rm x'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test $(rm x)'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('npm test > out'), 'ask'],
    [{ effect: 'allow', tool: 'shell.run', command: 'npm test' }, command('X=1 npm test'), 'ask'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('cd x && git push --force'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('bash -c "git push"'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('env X=1 git push'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('git \\\n  push'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('g"i"t \'pu\'sh'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command("git $'push'"), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('/usr/bin/git push'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('& {git push}'), 'deny'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git push' }, command('git status'), 'ask'],
    [{ effect: 'deny', tool: 'shell.run', command: 'git' }, command('cat docs/git'), 'ask'],
    [{ effect: 'deny', tool: 'fs.*', path: 'caf\u00e9/**' }, subject({ paths: ['Cafe\u0301/a.ts'] }), 'deny'],
    [{ effect: 'allow', tool: 'fs.*', path: 'caf\u00e9/**' }, subject({ paths: ['cafe\u0301/a.ts'] }), 'ask'],
  ];
  const page = (site: string) => subject({ tool: 'web.fetch', risk: 'execute', paths: [], site });
  const sites: typeof cases = [
    [{ effect: 'allow', tool: 'web.fetch', site: 'https://a.example' }, page('https://a.example'), 'allow'],
    [{ effect: 'allow', tool: 'web.fetch', site: 'https://a.example' }, page('http://a.example'), 'ask'],
    [{ effect: 'allow', tool: 'web.fetch', site: 'https://a.example' }, page('https://a.example:8443'), 'ask'],
    [{ effect: 'allow', tool: 'web.fetch', site: 'https://a.example' }, page('https://x.a.example'), 'ask'],
    [{ effect: 'allow', tool: '*', site: 'https://a.example' }, edit, 'ask'],
    [
      { effect: 'allow', tool: 'web.fetch', registries: ['https://b.example', 'https://a.example'] },
      page('https://a.example'),
      'allow',
    ],
    [{ effect: 'allow', tool: 'web.fetch', registries: ['https://a.example'] }, page('https://a.example:8443'), 'ask'],
    [{ effect: 'allow', tool: 'web.fetch', registries: ['https://a.example'] }, page('https://x.a.example'), 'ask'],
    [{ effect: 'allow', tool: '*', registries: ['https://a.example'] }, edit, 'ask'],
    [{ effect: 'deny', tool: 'web.fetch', site: 'https://a.example' }, page('http://x.a.example:8080'), 'deny'],
    [{ effect: 'deny', tool: 'web.fetch', site: 'https://a.example' }, page('https://a.example.'), 'deny'],
    [{ effect: 'deny', tool: 'web.fetch', site: 'https://a.example' }, page('https://ba.example'), 'ask'],
  ];
  for (const [rule, one, effect] of [...cases, ...sites]) {
    const about = one.command ?? one.site ?? one.paths.join(', ');
    it(`${rule.effect} ${[rule.tool, rule.path, rule.command, rule.site].filter(Boolean).join(' ')}: ${effect} for ${about}`, () =>
      assert.equal(decideCallByPolicy(policy([rule]), one).effect, effect));
  }

  const part = (words: string, more: Partial<CommandPart> = {}): CommandPart => ({
    words,
    folders: ['.'],
    reads: false,
    ...more,
  });
  const test = part('npm test -- -t a', { row: { command: 'npm test', kind: 'checks' } });
  const status = part('git status -s', { row: { command: 'git status', kind: 'looks' } });
  const allow = (more: Partial<ScopedPermissionRule>) => ({ effect: 'allow' as const, tool: 'shell.run', ...more });
  const together: [rules: Omit<ScopedPermissionRule, 'scope'>[], parts: CommandPart[], effect: string][] = [
    [[allow({ command: 'npm test', varies: true })], [test], 'allow'],
    [[allow({ command: 'npm test', varies: true })], [test, part('tail -5', { reads: true })], 'allow'],
    [[allow({ command: 'npm test', varies: true })], [test, status], 'ask'],
    [[allow({ command: 'npm test', varies: true }), allow({ kind: 'looks' })], [test, status], 'allow'],
    [[allow({ command: 'npm test' })], [test], 'ask'],
    [[allow({ command: 'npm test -- -t a' })], [test], 'allow'],
    [[allow({ kind: 'checks' })], [status], 'ask'],
    [[allow({ kind: 'checks', folder: 'a' })], [test], 'ask'],
    [[allow({ kind: 'checks', folder: 'a' })], [{ ...test, folders: ['a'] }], 'allow'],
    [[allow({ kind: 'checks' })], [{ ...test, folders: ['.', 'a'] }], 'ask'],
    [[allow({ kind: 'checks' }), allow({ kind: 'checks', folder: 'a' })], [{ ...test, folders: ['.', 'a'] }], 'allow'],
    [[allow({ kind: 'checks' }), { effect: 'deny', tool: 'shell.run', command: 'npm test' }], [test], 'deny'],
    [[allow({ kind: 'looks' })], [part('tail -5', { reads: true })], 'ask'],
    [[allow({ command: 'npm test', varies: true })], [], 'ask'],
  ];
  for (const [rules, parts, effect] of together)
    it(`${rules.map((rule) => [rule.effect, rule.command ?? rule.kind, rule.varies && '…', rule.folder].filter(Boolean).join(' ')).join(', ')}: ${effect} for ${parts.map(({ words, folders }) => `${words} in ${folders.join(' and ')}`).join(' && ')}`, () =>
      assert.equal(
        decideCallByPolicy(policy(rules), command(`npm test ${parts.length}`, { folder: '.', parts })).effect,
        effect,
      ));
});

describe('a rule about an MCP tool', () => {
  const origin = { starts: 'npx memory', identity: 'i', definition: 'd', earlier: ['c'], own: false };
  const add = subject({ tool: 'mcp.memory.add', risk: 'execute', paths: [], origin });
  const bound = (definition: string, identity = 'i', tool = 'mcp.memory.add') =>
    ({ effect: 'allow', tool, server: { starts: 'npx memory', identity, definition } }) as const;
  const named = (effect: 'allow' | 'ask' | 'deny', tool = 'mcp.memory.add') => ({ effect, tool });
  const own = { ...add, origin: { ...origin, own: true } };
  const cases: [rules: Omit<ScopedPermissionRule, 'scope'>[], one: PolicySubject, effect: string, reason: RegExp][] = [
    [[bound('d')], add, 'allow', /^Allowed by your rule “mcp\.memory\.add of “npx memory””\.$/],
    [[bound('c')], add, 'allow', /^Allowed by/],
    [[bound('d', 'i', 'mcp.memory_2.add')], add, 'allow', /^Allowed by/],
    [[bound('e')], add, 'ask', /: it was made when this tool had another definition\.$/],
    [[bound('d', 'j')], add, 'ask', /: it was made for another server, or another configuration of the server\.$/],
    [[bound('d', 'i', 'mcp.*')], add, 'ask', /./],
    [[bound('e', 'i', 'mcp.memory.other')], add, 'ask', /^Nothing allows this/],
    [[named('allow')], add, 'ask', /: a rule with a name alone applies to servers of your own settings\.$/],
    [[named('allow')], own, 'allow', /^Allowed by/],
    [[named('allow', 'mcp.*')], { ...own, tool: 'mcp.x.y' }, 'allow', /^Allowed by/],
    [[bound('d'), named('ask', 'mcp.*')], add, 'ask', /^Needs approval because of/],
    [[bound('d'), named('deny', 'mcp.memory*')], add, 'deny', /^Denied by/],
    [[bound('d')], { ...add, origin: undefined }, 'ask', /./],
    [[bound('d')], edit, 'ask', /^Nothing allows this/],
    [[bound('d'), named('ask', 'mcp.call_tool')], { ...add, through: 'mcp.call_tool' }, 'ask', /^Needs approval because of/],
  ]; // biome-ignore format: a table
  for (const [rules, one, effect, reason] of cases)
    it(`${JSON.stringify(rules)} ${one.tool}${one.origin?.own ? ' of an own server' : ''}: ${effect}`, () => {
      const verdict = decideCallByPolicy(policy(rules), one);
      assert.equal(verdict.effect, effect, verdict.reason);
      assert.match(verdict.reason, reason);
    });

  it('does not make autopilot ask', () => {
    assert.equal(decideCallByPolicy(policy([named('allow')], { preset: 'autopilot' }), add).effect, 'allow');
  });
});
