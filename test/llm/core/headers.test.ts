// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as people write it in settings
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { insertHeaderSecrets, invalidHeaderReason, referencedSecretNames } from '../../../src/llm/core/headers.ts';
import { createLLMClient, type ProviderChoice } from '../../../src/llm/createClient.ts';
import { providers } from '../../../src/llm/models/providers.ts';
import { greeting, hear } from '../serve.ts';

describe('a header of the settings', () => {
  const cases: [name: string, value: string, problem: string | undefined][] = [
    ['X-Team', 'tools', undefined],
    ['authorization', 'Bearer ${secret:gateway}', undefined],
    ['cookie', 'a=${secret:a}; b=${secret:b-2}', undefined],
    ['x_odd.name!', '{"json": "$5"}', undefined],
    ['', 'x', 'is no name of a header'],
    ['X Team', 'x', 'is no name of a header'],
    ['X-Team\r\nHost', 'x', 'is no name of a header'],
    ['X-Team:', 'x', 'is no name of a header'],
    ['Host', 'other.example', 'belongs to the connection and cannot be set'],
    ['CONTENT-LENGTH', '0', 'belongs to the connection and cannot be set'],
    ['Transfer-Encoding', 'chunked', 'belongs to the connection and cannot be set'],
    ['connection', 'close', 'belongs to the connection and cannot be set'],
    ['Proxy-Authorization', 'x', 'belongs to the connection and cannot be set'],
    ['content-type', 'text/plain', 'belongs to the connection and cannot be set'],
    ['x-a', ' ', 'is empty'],
    ['x-a', 'x'.repeat(8001), 'is longer than 8000 characters'],
    ['x-a', 'a\r\nHost: other.example', 'has line breaks, or characters that no header can carry'],
    ['x-a', 'a\n', 'has line breaks, or characters that no header can carry'],
    ['x-a', 'caf\u00e9', 'has line breaks, or characters that no header can carry'],
    ['x-a', 'a\u0000b', 'has line breaks, or characters that no header can carry'],
    ['x-a', '${env:HOME}', 'names something else than ${secret:name}'],
    ['x-a', '${secret:}', 'names something else than ${secret:name}'],
    ['x-a', '${secret:../key}', 'names something else than ${secret:name}'],
    ['x-a', '${secret:${secret:a}}', 'names something else than ${secret:name}'],
  ];
  for (const [name, value, problem] of cases)
    it(`${JSON.stringify(name)}: ${JSON.stringify(value.slice(0, 40))} ${problem ?? 'is sent'}`, () =>
      assert.equal(invalidHeaderReason(name, value), problem));

  it('names each secret once, and is filled with what it is, whatever signs that has', () => {
    const value = 'Basic ${secret:user}:${secret:word}, ${secret:user}';
    assert.deepEqual(referencedSecretNames(value), ['user', 'word']);
    const secrets: Record<string, string> = { user: '$&', word: '${secret:user}' };
    assert.equal(
      insertHeaderSecrets(value, (name) => secrets[name]!),
      'Basic $&:${secret:user}, $&',
    );
  });
});

describe('headers and an organization', () => {
  const secret = 'CANARY-secret-of-a-header';
  const headers = { 'x-team': 'tools', 'x-gateway': `Bearer ${secret}` };
  const asked = async (choice: Omit<ProviderChoice, 'model'>, answer: () => Response) => {
    const sent: Headers[] = [];
    const fetchBefore = globalThis.fetch;
    globalThis.fetch = async (_, init) => {
      sent.push(new Headers(init?.headers));
      return answer();
    };
    try {
      const client = createLLMClient({ model: 'm', baseUrl: 'https://models.example', ...choice });
      const { error } = await hear(client.chatStream(greeting));
      const listing = await client.listModels?.().catch((thrown: Error) => thrown);
      return { sent, told: [error?.message, (listing as Error).message].join('\n') };
    } finally {
      globalThis.fetch = fetchBefore;
    }
  };

  for (const { id } of providers)
    it(`go with every request to ${id}, and what is secret in them is told to nobody`, async () => {
      const { sent, told } = await asked({ provider: id, headers, secrets: [secret] }, () =>
        Response.json({ error: { message: `No such header: ${secret}` } }, { status: 401 }),
      );
      assert.ok(sent.length >= 2, 'a chat and a list');
      for (const one of sent) {
        assert.equal(one.get('x-team'), 'tools');
        assert.equal(one.get('x-gateway'), `Bearer ${secret}`);
      }
      assert.match(
        told,
        /rejected its headers: No such header: \[key\]\. Run \*Towpath: Set API Key\* or \*Towpath: Set Header Secret\*\./,
      );
      assert.ok(!told.includes(secret), told);
    });

  it('an organization is told to OpenAI and to what speaks like it, and to nobody else', async () => {
    const organizations: (string | null)[] = [];
    for (const provider of ['openai', 'openai-compatible', 'anthropic', 'groq'] as const) {
      const { sent } = await asked({ provider, organization: 'org-1' }, () => new Response('', { status: 418 }));
      organizations.push(sent[0]!.get('openai-organization'));
    }
    assert.deepEqual(organizations, ['org-1', 'org-1', null, null]);
  });

  const keyHeaders: [provider: ProviderChoice['provider'], header: string][] = [
    ['openai', 'authorization'],
    ['ollama', 'authorization'],
    ['anthropic', 'x-api-key'],
    ['google', 'x-goog-api-key'],
    ['azure', 'api-key'],
  ];
  for (const [provider, header] of keyHeaders)
    it(`${provider}: ${header} is not set beside a key, and may be in its place`, async () => {
      const choice = { provider, headers: { [header]: 'mine' } };
      await assert.rejects(
        asked({ ...choice, apiKey: 'sk-CANARYKEY1234567890' }, () => new Response('')),
        {
          code: 'LLM_AUTH_FAILED',
          message: new RegExp(`in the header ${header}, which towpath\\.providers also sets`),
        },
      );
      const { sent } = await asked(choice, () => new Response('', { status: 418 }));
      assert.equal(sent[0]!.get(header), 'mine');
    });

  it('are not taken along by a redirect, to whatever place', async () => {
    const heard: string[] = [];
    const other = createServer((request, response) => {
      heard.push(JSON.stringify(request.headers));
      response.end('{}');
    });
    const first = createServer((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${portOf(other)}/v1/chat/completions` }).end();
    });
    const portOf = (server: typeof first) => (server.address() as AddressInfo).port;
    for (const server of [other, first]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const baseUrl = `http://127.0.0.1:${portOf(first)}/v1`;
      const client = createLLMClient({
        provider: 'openai-compatible',
        model: 'm',
        baseUrl,
        headers,
        secrets: [secret],
      });
      const { error } = await hear(client.chatStream(greeting));
      await assert.rejects(client.listModels!(), /redirects to http/);
      assert.match(error!.message, /Redirects are not followed/);
      assert.deepEqual(heard, []);
    } finally {
      for (const server of [other, first]) server.close();
    }
  });

  it('a secret is not sent over plain http to another machine', async () => {
    const choice = { provider: 'openai-compatible', baseUrl: 'http://models.example/v1' } as const;
    const { sent, told } = await asked(
      { ...choice, headers: { 'x-a': secret }, secrets: [secret] },
      () => new Response(''),
    );
    assert.deepEqual(sent, []);
    assert.match(told, /reached without encryption, so no key or secret is sent there/);
  });

  it('of two secrets of which one begins the other, nothing stays', async () => {
    const short = secret.slice(0, -5);
    const both = { 'x-a': short, 'x-b': secret };
    const { told } = await asked({ provider: 'openai', headers: both, secrets: [short, secret] }, () =>
      Response.json({ error: { message: `Not ${secret} and not ${short}` } }, { status: 400 }),
    );
    assert.match(told, /Not \[key\] and not \[key\]/);
  });
});
