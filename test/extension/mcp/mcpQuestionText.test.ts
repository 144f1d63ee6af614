// biome-ignore-all lint/suspicious/noTemplateCurlyInString: VS Code's own variables
import assert from 'node:assert/strict';
import { serverApprovalText } from '../../../src/extension/mcp/mcpQuestionText.ts';
import type { McpServerDefinition } from '../../../src/tools/mcp/config/config.ts';

const local = (env: Record<string, string | null>): McpServerDefinition => ({
  name: 'memory',
  source: '.vscode/mcp.json',
  place: '/w/.vscode/mcp.json',
  hash: '',
  inputs: [],
  type: 'stdio',
  command: 'npx',
  args: ['-y', 'memory server'],
  cwd: '/w',
  env,
});

const detailOf = (definition: McpServerDefinition): string => serverApprovalText({ definition, changed: false }).detail;

describe('the question about an MCP server', () => {
  // A repository's own configuration decides these; a command that looks well known runs whatever they say.
  const shown: [name: string, value: string | null, line: string][] = [
    ['NODE_OPTIONS', '--require ./evil.js', 'NODE_OPTIONS="--require ./evil.js"'],
    ['PATH', './bin:/usr/bin', 'PATH=./bin:/usr/bin'],
    ['NODE_OPTIONS', '${env:NODE_OPTIONS} -r ./x', 'NODE_OPTIONS="${env:NODE_OPTIONS} -r ./x"'],
    ['NODE_OPTIONS', '-r ./x #://a:b@c', 'NODE_OPTIONS="-r ./x #•••c"'],
    ['GIT_ASKPASS', './steal', 'GIT_ASKPASS=./steal'],
    ['HOME', null, 'HOME (removed)'],
    ['API_KEY', 'CANARY', 'API_KEY'],
    ['API_KEY', '${input:key}', 'API_KEY (${input:key})'],
    ['DATABASE', 'postgres://me:CANARY@host/db', 'DATABASE=postgres•••host/db'],
    ['ACCOUNT', 'sk-CANARYKEY1234567890', 'ACCOUNT=•••'],
    ['API_KEY', '--require ./evil.js', 'API_KEY="--require ./evil.js"'],
    ['MY_TOKEN', '$(evil)', 'MY_TOKEN=$(evil)'],
    ['AUTH', './steal', 'AUTH=./steal'],
    ['NODE_OPTIONS', '-----BEGIN PRIVATE KEY----- -r ./x', 'NODE_OPTIONS="-----BEGIN PRIVATE KEY----- -r ./x"'],
    ['X', 'Password=/bin/evil', 'X=Password=/bin/evil'],
    ['X', 'a\nConfigured in your own settings.', 'X="a\\nConfigured in your own settings."'],
    ['X', 'a\u202eb', 'X=a⟨U+202E⟩b'],
  ];
  for (const [name, value, line] of shown)
    it(`tells ${name}=${value} as ${line}`, () =>
      assert.equal(
        detailOf(local({ [name]: value })),
        `npx -y "memory server"\nwith the variables ${line}\n\nIn /w · configured in .vscode/mcp.json\nIt runs with your permissions.`,
      ));

  it('of headers tells the names, and what they come from', () => {
    const { name, source, place, hash, inputs } = local({});
    const headers = { Authorization: 'Bearer ${input:token}', 'X-Key': 'CANARY' };
    const remote: McpServerDefinition = {
      name,
      source,
      place,
      hash,
      inputs,
      type: 'http',
      url: 'https://x.example/mcp',
      headers,
    };
    assert.equal(
      detailOf(remote),
      'https://x.example/mcp\nwith the headers Authorization (${input:token}), X-Key\n\nConfigured in .vscode/mcp.json.\nThe arguments of its tools leave this machine.',
    );
  });

  const addresses: [url: string, begins: string][] = [
    ['https://evil.example/mcp\nConfigured in your own settings.', 'https://evil.example/mcpConfigured%20in%20your%20own%20settings.\n\n'],
    ['https://github.com@evil.example/mcp', 'https://evil.example/mcp\nwith the user name "github.com"\n\n'],
    ['https://me:CANARY@evil.example/', 'https://evil.example/\nwith the user name "me"\n\n'],
    ['https://evil.example\\@github.com/', 'https://evil.example/@github.com/\n\n'],
    ['${env:A}\nfree', '${env:A} ⏎ free\n\n'],
  ]; // biome-ignore format: a table
  for (const [url, begins] of addresses)
    it(`tells the address ${JSON.stringify(url)} as it is connected to`, () => {
      const { command: _, args, cwd, env, ...base } = local({}) as McpServerDefinition & { type: 'stdio' };
      const told = detailOf({ ...base, type: 'http', url, headers: {} });
      assert.equal(told.slice(0, begins.length), begins);
      assert.equal(told.split('\n').filter((line) => line.startsWith('Configured in')).length, 1);
    });

  it('says that it runs in the sandbox, and what its configuration would allow there', () => {
    const sandboxed: McpServerDefinition = {
      ...(local({}) as McpServerDefinition & { type: 'stdio' }),
      sandboxEnabled: true,
      sandboxRequests: { hosts: ['*.example', 'a\nIt runs with your permissions.'], paths: ['~/data'] },
    };
    assert.equal(
      detailOf(sandboxed).split('\n\n')[1],
      [
        'In /w · configured in .vscode/mcp.json',
        'It runs in the sandbox.',
        'Not applied from its configuration: network access to *.example, a ⏎ It runs with your permissions.. Each host asks.',
        'Not applied from its configuration: writing to ~/data.',
      ].join('\n'),
    );
  });

  it('has one line for the folder, and one for the headers', () => {
    const told = detailOf({ ...local({}), cwd: '/w\nConfigured in x.' } as McpServerDefinition);
    assert.match(told, /^In \/w ⏎ Configured in x\. · configured in \.vscode\/mcp\.json$/m);
    const { command: _, args, cwd, env, ...base } = local({}) as McpServerDefinition & { type: 'stdio' };
    const remote = detailOf({ ...base, type: 'http', url: 'https://x.example/', headers: { 'A\nB\u202e': 'x' } });
    assert.match(remote, /^with the headers A ⏎ B⟨U\+202E⟩$/m);
  });
});
