// biome-ignore-all lint/suspicious/noTemplateCurlyInString: VS Code's own variables
import assert from 'node:assert/strict';
import { describeServer } from '../../../src/extension/mcp/mcpQuestionText.ts';
import type { Definition } from '../../../src/tools/mcp/config.ts';

const local = (env: Record<string, string | null>): Definition => ({
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

describe('the question about an MCP server', () => {
  // A repository's own configuration decides these; a command that looks well known runs whatever they say.
  const shown: [name: string, value: string | null, line: string][] = [
    ['NODE_OPTIONS', '--require ./evil.js', 'NODE_OPTIONS="--require ./evil.js"'],
    ['PATH', './bin:/usr/bin', 'PATH=./bin:/usr/bin'],
    ['NODE_OPTIONS', '${env:NODE_OPTIONS} -r ./x', 'NODE_OPTIONS="${env:NODE_OPTIONS} -r ./x"'],
    ['NODE_OPTIONS', '-r ./x #://a:b@c', 'NODE_OPTIONS="-r ./x #•••c"'],
    ['GIT_ASKPASS', './steal', 'GIT_ASKPASS=./steal'],
    ['HOME', null, 'HOME (taken away)'],
    ['API_KEY', 'CANARY', 'API_KEY'],
    ['API_KEY', '${input:key}', 'API_KEY (${input:key})'],
    ['DATABASE', 'postgres://me:CANARY@host/db', 'DATABASE=postgres•••host/db'],
    ['ACCOUNT', 'sk-CANARYKEY1234567890', 'ACCOUNT=•••'],
  ];
  for (const [name, value, line] of shown)
    it(`tells ${name}=${value} as ${line}`, () =>
      assert.equal(
        describeServer(local({ [name]: value })),
        `npx -y "memory server"\nin /w\nwith the variables ${line}\n\nConfigured in .vscode/mcp.json. It runs as you, with your rights, and can do what you can do.`,
      ));

  it('of headers tells the names, and what they come from', () => {
    const { name, source, place, hash, inputs } = local({});
    const headers = { Authorization: 'Bearer ${input:token}', 'X-Key': 'CANARY' };
    const remote: Definition = {
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
      describeServer(remote),
      'https://x.example/mcp\nwith the headers Authorization (${input:token}), X-Key\n\nConfigured in .vscode/mcp.json. What its tools are given leaves this machine.',
    );
  });
});
