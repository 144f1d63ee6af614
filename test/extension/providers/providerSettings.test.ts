// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as people write it in settings
import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { doctorProviderFindings } from '../../../src/extension/doctor/providerFindings.ts';
import {
  providerSettings,
  unknownProviderText,
  withProviderFields,
} from '../../../src/extension/providers/providerSettings.ts';
import { headerSecretKey } from '../../../src/extension/settings/secrets.ts';
import { type ProviderId, providers } from '../../../src/llm/models/providers.ts';
import { keptSecrets } from '../../support/keptSecrets.ts';
import { manifestSettings } from '../../support/manifestSettings.ts';
import { noSettings } from '../../support/settings.ts';

const schema = manifestSettings['towpath.providers'] as unknown as { propertyNames: { enum: string[] } };
const validate = new Ajv({ strict: false }).compile(schema);
const read = (written: unknown, id: ProviderId = 'openai') =>
  providerSettings({ ...noSettings, providers: written }, id);

describe('towpath.providers', () => {
  it('says of a provider where it is, what it is sent, what it costs and how much it sees', () => {
    const own = read({
      openai: {
        baseUrl: ' https://gateway.example/v1 ',
        headers: { 'X-Team': ' tools ', 'x-gateway': 'Bearer ${secret:gw}' },
        organization: 'org-1',
        api: 'responses',
        window: { 'big*': 400_000, small: 8192 },
        prices: { '*': { input: 1, output: 2 }, 'big-1': { input: 3, output: 4 } },
      },
      groq: { window: 9000 },
    });
    const { priceOf, windowOf, ...rest } = own;
    assert.deepEqual(rest, {
      baseUrl: 'https://gateway.example/v1',
      headers: { 'x-team': 'tools', 'x-gateway': 'Bearer ${secret:gw}' },
      organization: 'org-1',
      api: 'responses',
    });
    assert.deepEqual([priceOf('big-1')?.input, priceOf('other')?.input], [3, 1]);
    assert.deepEqual([windowOf('big-1'), windowOf('small'), windowOf('other')], [400_000, 8192, undefined]);
    assert.equal(read({ groq: { window: 9000 } }, 'groq').windowOf('any'), 9000);
  });

  it('where it is silent, the settings of before count; where it speaks, they do not', () => {
    const before = {
      ...noSettings,
      baseUrls: { groq: 'https://before.example', 'openai-compatible': 'https://never.example' },
      'azure.apiVersion': '2024-10-21',
      'endpoint.baseUrl': 'https://mine.example/v1',
      prices: { 'groq/*': { input: 9, output: 9 } },
      'ollama.contextSize': 4096,
    };
    const of = (id: ProviderId, entry?: object) => providerSettings({ ...before, providers: { [id]: entry } }, id);
    assert.equal(of('groq', {}).baseUrl, 'https://before.example');
    assert.equal(of('openai-compatible', {}).baseUrl, 'https://mine.example/v1');
    assert.equal(of('groq', { baseUrl: 'https://now.example' }).baseUrl, 'https://now.example');
    assert.equal(of('groq', {}).priceOf('x')?.input, 9);
    assert.equal(of('groq', { prices: { x: { input: 1, output: 1 } } }).priceOf('x')?.input, 1);
    assert.deepEqual([of('ollama', {}).windowOf('x'), of('ollama', { window: 8192 }).windowOf('x')], [4096, 8192]);
    assert.equal(of('groq', {}).windowOf('x'), undefined);
    const versions = [of('azure', {}), of('azure', { apiVersion: 'preview' }), of('groq', {})].map(
      ({ apiVersion }) => apiVersion,
    );
    assert.deepEqual(versions, ['2024-10-21', 'preview', undefined]);
  });

  const right: [says: string, written: unknown][] = [
    ['nothing', {}],
    ['an address alone', { openai: { baseUrl: 'http://127.0.0.1:1/v1' } }],
    ['one window for all', { google: { window: 1_000_000 } }],
    ['an API version', { azure: { apiVersion: '2024-10-21' } }],
    ['headers', { anthropic: { headers: { 'anthropic-beta': 'x', authorization: 'Bearer ${secret:a}' } } }],
  ];
  for (const [says, written] of right)
    it(`${says}: is right, for the editor of settings, too`, () => {
      assert.ok(validate(written), JSON.stringify(validate.errors));
      for (const { id } of providers) assert.equal(read(written, id).problem, undefined);
    });

  const secret = 'CANARY-value';
  const wrong: [says: string, entry: unknown, problem: string | RegExp, onlyHere?: true][] = [
    ['no object', 'https://here.example', /openai is invalid/],
    ['a field that there is not', { header: { a: secret } }, 'openai has "header", which is not supported'],
    ['an address that is no text', { baseUrl: 1 }, /openai\.baseUrl is invalid/],
    ['headers as a list', { headers: [secret] }, /openai\.headers is invalid/],
    ['a value that is no text', { headers: { 'x-a': 5 } }, /openai\.headers\.x-a is invalid/],
    ['a line break', { headers: { 'x-a': `a\r\nx-b: ${secret}` } }, 'openai.headers.x-a has line breaks, or characters that no header can carry'],
    ['a header of the connection', { headers: { Host: secret } }, 'openai.headers.Host belongs to the connection and cannot be set', true],
    ['another reference', { headers: { 'x-a': `\${env:${secret}}` } }, 'openai.headers.x-a names something else than ${secret:name}', true],
    ['one header twice', { headers: { 'X-A': secret, 'x-a': secret } }, 'openai.headers.x-a stands there twice', true],
    ['too many headers', { headers: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`x-${at}`, 'a'])) }, 'openai.headers has more than 50 of them'],
    ['an organization with a line break', { organization: 'a\nb' }, 'openai.organization has characters that no header can carry', true],
    ['another interface', { api: 'chat' }, 'openai.api can only be "responses"'],
    ['an API version that is part of no address', { apiVersion: 'a b' }, /openai\.apiVersion is invalid/],
    ['a window that is none', { window: 10 }, /openai\.window is invalid \(Too small: .*1024/],
    ['a price without its output', { prices: { '*': { input: 1 } } }, /openai\.prices\.\* ?.*is invalid/],
  ]; // biome-ignore format: a table
  for (const [says, entry, problem, onlyHere] of wrong)
    it(`${says}: nothing of the entry counts, and it is said without its value`, () => {
      const written = { openai: entry };
      const own = read(written);
      assert.deepEqual([own.baseUrl, own.headers, own.organization], ['', {}, undefined]);
      const said = own.problem ?? '';
      const [before, after] = ['The setting towpath.providers is invalid: ', '. Correct it, then try again.'];
      if (typeof problem === 'string') assert.equal(said, before + problem + after);
      else assert.match(said, problem);
      assert.ok(!said.includes(secret), said);
      if (!onlyHere) assert.equal(validate(written), false, 'the editor of settings says so, too');
      assert.equal(read(written, 'groq').problem, undefined, 'the others go on');
    });

  it('an organization is refused where nobody is told one', () =>
    assert.match(
      read({ groq: { organization: 'x' } }, 'groq').problem!,
      /groq\.organization is supported by OpenAI's protocol only/,
    ));

  it('and so is an interface of OpenAI’s where there is none', () => {
    const problems = providers.map(({ id }) => [id, read({ [id]: { api: 'responses' } }, id).problem !== undefined]);
    const refused = problems.filter(([, problem]) => problem).map(([id]) => id);
    assert.deepEqual(refused, ['anthropic', 'google', 'ollama']);
  });

  it('and so is an API version where the address has none', () => {
    const problems = providers.map(({ id }) => read({ [id]: { apiVersion: 'v1' } }, id).problem);
    assert.deepEqual(
      providers.filter((_, at) => problems[at] === undefined).map(({ id }) => id),
      ['azure'],
    );
    assert.match(problems[0]!, /openai\.apiVersion is supported by Azure OpenAI only/);
  });

  for (const written of ['text', 5, [], true])
    it(`${JSON.stringify(written)} instead of an object: no provider is used`, () => {
      for (const { id } of providers) assert.match(read(written, id).problem!, /it is not an object/);
      assert.equal(validate(written), false);
    });

  it('knows the providers that there are, and says what else an address of its own would be', () => {
    assert.deepEqual([...schema.propertyNames.enum].sort(), providers.map(({ id }) => id as string).sort());
    for (const { id } of providers) assert.equal(unknownProviderText(id), undefined);
    for (const name of ['gateway', 'local', 'constructor', 'a\u202eb']) {
      assert.equal(validate({ [name]: {} }), false);
      assert.match(
        unknownProviderText(name)!,
        /which is not one of openai, .* with OpenAI's chat completions is openai-compatible\.$/,
      );
    }
    assert.ok(!unknownProviderText('a\u202eb')!.includes('\u202e'));
    assert.equal(read({ constructor: { baseUrl: 'https://x.example' } }).problem, undefined);
  });

  it('gets another address without losing what else it says', () => {
    const written = { openai: { headers: { a: 'b' }, odd: 1 }, gateway: 5 };
    assert.deepEqual(withProviderFields(written, 'openai', { baseUrl: 'https://x.example' }), {
      openai: { headers: { a: 'b' }, odd: 1, baseUrl: 'https://x.example' },
      gateway: 5,
    });
    assert.deepEqual(withProviderFields(undefined, 'vllm', { baseUrl: 'https://x.example' }), {
      vllm: { baseUrl: 'https://x.example' },
    });
  });
});

describe('what Doctor says of towpath.providers', () => {
  const findings = async (written: unknown, given: string[] = []) => {
    const { secrets } = keptSecrets();
    for (const name of given) await secrets.save(headerSecretKey(name), 'https://here.example', 'CANARY');
    return doctorProviderFindings({ ...noSettings, providers: written }, secrets);
  };

  it('names, addresses and headers, and what is not given; never a value', async () => {
    const headers = { 'x-a': 'Bearer ${secret:a}', 'x-b': '${secret:b}', 'x-plain': 'PLAIN' };
    const written = {
      openai: { baseUrl: 'https://here.example/v1', headers, organization: 'ORG' },
      groq: { window: 9000 },
      azure: {},
      vllm: { headers: 1 },
      gateway: {},
    };
    const told = await findings(written, ['a']);
    assert.deepEqual(
      told.map(({ level }) => level),
      ['problem', 'ok', 'ok', 'problem', 'warning'],
    );
    const [openai, groq, azure, vllm, gateway] = told.map(({ text }) => text);
    assert.equal(
      openai,
      'OpenAI at https://here.example, with the headers x-a, x-b, x-plain, for an organization. Not set: "b". Run *Towpath: Set Header Secret*.',
    );
    assert.equal(groq, 'Groq at https://api.groq.com');
    assert.equal(azure, 'Azure OpenAI without an address');
    assert.match(vllm!, /vllm\.headers is invalid/);
    assert.match(gateway!, /names “gateway”/);
    assert.doesNotMatch(JSON.stringify(told), /CANARY|PLAIN|ORG/);
  });

  it('nothing', async () =>
    assert.deepEqual(await findings({}), [{ level: 'fact', text: 'No provider has settings of its own' }]));
});
