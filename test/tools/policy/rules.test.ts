import assert from 'node:assert/strict';
import type { ApprovalRequestPlan } from '../../../src/tools/core/tool.ts';
import { alwaysAllowRuleChoices, formatRuleCoverage, parsePolicyRules } from '../../../src/tools/policy/rules.ts';

const server = { starts: 'npx memory', identity: 'i', definition: 'd' };

describe('rules written by hand', () => {
  const cases: [name: string, written: unknown, rules: object[], problems: RegExp[]][] = [
    ['a good one', [{ effect: 'deny', tool: 'fs.*', path: 'private/**' }], [{ scope: 'user', effect: 'deny', tool: 'fs.*', path: 'private/**' }], []],
    ['none', [], [], []],
    ['an allow that cannot be understood is left out', [{ effect: 'allow', tool: 'fs.edit', paht: 'src/**' }], [], [/"paht".*It is left out/]],
    ['a deny with a slip denies all of its tool', [{ effect: 'deny', tool: 'fs.edit', paht: 'src/**' }], [{ scope: 'user', effect: 'deny', tool: 'fs.edit' }], [/deny applies to all of fs\.edit/]],
    ['a deny whose glob leads outside, too', [{ effect: 'deny', tool: 'fs.edit', path: '../x' }], [{ scope: 'user', effect: 'deny', tool: 'fs.edit' }], [/"\.\.\/x" is outside/]],
    ['an ask without a tool asks about everything', [{ effect: 'ask' }], [{ scope: 'user', effect: 'ask', tool: '*' }], [/tool: .*ask applies to all of \*/]],
    ...['src\\lib\\**', 'src//lib/**', 'src/./lib/**', ' src/**'].map((path): (typeof cases)[number] => [`a path that no file has: ${path}`, [{ effect: 'deny', tool: 'fs.edit', path }], [{ scope: 'user', effect: 'deny', tool: 'fs.edit' }], [/write it like src\/lib\/\*\*\)\. Until then, deny applies to all of fs\.edit/]]),
    ['a site is written as one', [{ effect: 'allow', tool: 'web.fetch', site: 'example.com/x' }, { effect: 'deny', tool: 'web.fetch', site: 'https://example.com/' }], [{ scope: 'user', effect: 'deny', tool: 'web.fetch' }], [/write it like https:\/\/example\.com\)\. It is left out/, /deny applies to all of web\.fetch/]],
    ['a server is for a rule that allows one tool', [{ effect: 'allow', tool: 'mcp.memory.*', server }, { effect: 'allow', tool: 'fs.edit', server }, { effect: 'allow', tool: 'mcp.memory.add', server, path: 'src/**' }, { effect: 'allow', tool: 'mcp.memory.add', server: { ...server, definition: '' } }], [], [/only for one tool of an MCP server/, /only for one tool of an MCP server/, /several of path, command, kind, site and server/, /server\.definition/]],
    ['a deny or ask of a server is one by its name', [{ effect: 'deny', tool: 'mcp.memory.add', server }, { effect: 'ask', tool: 'mcp.*', server }], [{ scope: 'user', effect: 'deny', tool: 'mcp.memory.add' }, { scope: 'user', effect: 'ask', tool: 'mcp.*' }], [/deny by its name/, /ask by its name/]],
    ['what has no effect asks', [{ tool: 'fs.edit' }, 'never'], [{ scope: 'user', effect: 'ask', tool: 'fs.edit' }, { scope: 'user', effect: 'ask', tool: '*' }], [/effect/, /"never"/]],
    ['a folder is for what is allowed', [{ effect: 'deny', tool: 'shell.run', command: 'npm test', folder: 'src' }], [{ scope: 'user', effect: 'deny', tool: 'shell.run' }], [/by its first words\)\. Until then, deny applies to all of shell\.run/]],
    ['a folder is for a command', [{ effect: 'allow', tool: 'fs.edit', folder: 'src' }, { effect: 'allow', tool: 'shell.run', varies: true }], [], [/for a command/, /for a command/]],
    ['a kind or a command', [{ effect: 'allow', tool: 'shell.run', command: 'npm test', kind: 'checks' }], [], [/several of/]],
    ['registries are sites, and only allow network access', [{ effect: 'allow', tool: 'shell.network', registries: ['pypi.org'] }, { effect: 'allow', tool: 'web.fetch', registries: ['https://pypi.org'] }, { effect: 'allow', tool: 'shell.network', registries: ['https://pypi.org'], site: 'https://a.example' }, { effect: 'deny', tool: 'shell.network', registries: ['https://pypi.org'] }], [{ scope: 'user', effect: 'deny', tool: 'shell.network' }], [/write them like/, /only to allow shell\.network/, /only to allow shell\.network/, /deny applies to all/]],
    ['a program is for a command that is allowed', [{ effect: 'deny', tool: 'shell.run', program: 'docker' }, { effect: 'allow', tool: 'fs.*', program: 'docker' }, { effect: 'allow', tool: 'shell.run', program: 'docker', kind: 'looks' }], [{ scope: 'user', effect: 'deny', tool: 'shell.run' }], [/deny applies to all/, /program: only to allow/, /program: only to allow/]],
    ['a location is a folder in which sandboxed commands may write', [...['data', '/data/../etc', '/data/', '/'].map((location) => ({ effect: 'allow', tool: 'shell.folder', location })), { effect: 'allow', tool: 'shell.folder' }, { effect: 'allow', tool: 'shell.run', location: '/data' }, { effect: 'deny', tool: 'shell.folder', location: '/data' }, { effect: 'allow', tool: 'shell.folder', location: '/data' }], [{ scope: 'user', effect: 'deny', tool: 'shell.folder' }, { scope: 'user', effect: 'allow', tool: 'shell.folder', location: '/data' }], [/path of a folder/, /path of a folder/, /path of a folder/, /path of a folder/, /path of a folder/, /location: only to allow/, /deny applies to all/]],
    ['no list at all asks about everything', { deny: '*' }, [{ scope: 'user', effect: 'ask', tool: '*' }], [/deny/]],
  ]; // biome-ignore format: a table
  for (const [name, written, rules, problems] of cases)
    it(name, () => {
      const read = parsePolicyRules(written, 'user');
      assert.deepEqual(read.rules, rules);
      assert.equal(read.problems.length, problems.length, read.problems.join('\n'));
      for (const [index, problem] of problems.entries()) assert.match(read.problems[index]!, problem);
    });
});

describe('Always Allow… offers', () => {
  const offers = (name: string, plan: Partial<ApprovalRequestPlan>) =>
    alwaysAllowRuleChoices({
      call: { id: '1', name, arguments: {} },
      plan: { what: '', where: '', why: '', grant: name, run: async () => {}, ...plan },
    }).map((rules) => rules.map((rule) => formatRuleCoverage(rule)).join(' and '));
  const change = (path: string) => ({ change: { path, realPath: path, before: null, after: '' } });

  const docker = { words: 'docker ps', folders: ['.'], reads: false, program: 'docker' };
  const files: [name: string, plan: Partial<ApprovalRequestPlan>, offered: string[]][] = [
    ['fs.edit', change('src/deep/a.ts'), ['fs.edit in src/deep/**', 'fs.edit']],
    ['fs.edit', change('a.ts'), ['fs.edit']],
    ['fs.edit', change('pages/[id]/a.ts'), ['fs.edit']],
    ['fs.edit', { ...change('.vscode/settings.json'), grant: undefined }, []],
    ['fs.move', { paths: ['src/a/x.ts', 'src/b/y.ts'] }, ['fs.move in src/**', 'fs.move']],
    ['fs.move', { paths: ['src/a.ts', 'lib/a.ts'] }, ['fs.move']],
    ['mcp.memory.add', { origin: { ...server, earlier: ['c'], own: true } }, ['mcp.memory.add of “npx memory” as it is now']],
    ['mcp.memory.add', { origin: { ...server, starts: `npx ${'x'.repeat(100)} memory`, earlier: [], own: false } }, [`mcp.memory.add of “npx ${'x'.repeat(12)}…${'x'.repeat(9)} memory” as it is now`]],
    ['mcp.call_tool', { tool: 'mcp.memory.add', origin: { ...server, earlier: [], own: false } }, ['mcp.memory.add of “npx memory” as it is now']],
    ['web.fetch', { site: 'https://example.com' }, ['web.fetch of https://example.com']],
    ['shell.run', { command: 'docker ps', sandbox: 'outside', parts: [docker] }, ['docker ps in the workspace’s root', 'docker outside the sandbox']],
    ['shell.run', { command: 'docker ps', parts: [docker] }, ['docker ps in the workspace’s root']],
    ['shell.run', { command: 'git push', sandbox: 'outside', parts: [{ ...docker, words: 'git push', program: 'git push' }] }, ['git push outside the sandbox']],
    ['shell.run', { command: 'docker ps; x', sandbox: 'outside', parts: [docker, { ...docker, words: 'x', program: undefined }] }, ['docker ps; x in the workspace’s root']],
    ['shell.network', { site: 'https://example.com' }, ['network access to example.com']],
    ['shell.network', { site: 'https://pypi.org', registries: ['https://pypi.org', 'https://a.example'] }, ['network access to pypi.org', 'network access to package registries']],
  ]; // biome-ignore format: a table
  for (const [name, plan, offered] of files)
    it(`${name} of ${plan.change?.path ?? plan.paths ?? 'anything'}: ${offered.join(', ') || 'nothing'}`, () =>
      assert.deepEqual(offers(name, plan), offered));
});
