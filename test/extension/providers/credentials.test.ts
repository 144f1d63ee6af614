// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as people write it in settings
import assert from 'node:assert/strict';
import type { DialogQuestion } from '../../../src/extension/dialogs/dialogs.ts';
import { Credentials } from '../../../src/extension/providers/credentials.ts';
import { providerSettings } from '../../../src/extension/providers/providerSettings.ts';
import { headerSecretKey } from '../../../src/extension/settings/secrets.ts';
import { type Provider, type ProviderId, providers } from '../../../src/llm/models/providers.ts';
import { keptSecrets } from '../../support/keptSecrets.ts';
import { noSettings } from '../../support/settings.ts';

const [here, there] = ['https://here.example', 'https://there.example'];
const provider = (id: ProviderId): Provider => providers.find((one) => one.id === id)!;
const at = (id: ProviderId, baseUrl: string, headers: Record<string, string> = {}) =>
  providerSettings({ ...noSettings, providers: { [id]: { baseUrl, headers } } }, id);

// Holds keys-stay-at-their-address.
describe('what a request carries', () => {
  /** A person who gives these answers; what they were asked is kept. */
  const create = (...answers: (string | undefined)[]) => {
    const { secrets } = keptSecrets();
    const asked: string[] = [];
    const askWhenQuiet = async ({ text, detail, buttons }: DialogQuestion) => {
      assert.equal(buttons[0], "Don't Send", 'what Enter presses');
      asked.push(`${text} ${detail}`);
      return answers.shift();
    };
    return { secrets, asked, credentials: new Credentials(secrets, { askWhenQuiet }) };
  };
  const use = 'Use There, Too';
  const gateway = { 'x-gateway': 'Bearer ${secret:gw}', 'x-team': 'tools' };

  it('a secret in its header, the key beside it', async () => {
    const { secrets, asked, credentials } = create();
    await secrets.save('openai', here, 'sk-key');
    await secrets.save(headerSecretKey('gw'), here, 'hidden');
    assert.deepEqual(await credentials.forRun(provider('openai'), at('openai', `${here}/v1`, gateway)), {
      apiKey: 'sk-key',
      headers: { 'x-gateway': 'Bearer hidden', 'x-team': 'tools' },
      secrets: ['hidden'],
    });
    assert.deepEqual(asked, []);
  });

  it('a secret that nobody has given: said before anything is sent, with header, address and the way out', async () => {
    const { credentials, asked } = create();
    const error = {
      code: 'LLM_AUTH_FAILED',
      message: `The header x-gateway names the secret "gw", which is not set for ${here}. Run *Towpath: Set Header Secret*.`,
    };
    const wanted = at('openai', here, gateway);
    await assert.rejects(credentials.forRun(provider('openai'), wanted), error);
    await assert.rejects(credentials.forList(provider('openai'), wanted), error);
    assert.deepEqual(asked, []);
  });

  it('what is wanted quietly asks nobody, sends nothing, and leaves the question for whoever asks next', async () => {
    const { secrets, asked, credentials } = create(use);
    await secrets.save('groq', here, 'sk-key');
    const wanted = at('groq', there);
    await assert.rejects(
      credentials.forRun(provider('groq'), wanted, { quiet: true }),
      /You have not yet decided whether/,
    );
    assert.deepEqual(asked, []);
    assert.equal((await credentials.forRun(provider('groq'), wanted)).apiKey, 'sk-key');
    assert.equal((await credentials.forRun(provider('groq'), wanted, { quiet: true })).apiKey, 'sk-key');
    assert.equal(asked.length, 1);
  });

  it('a secret of another address goes to this one only after a yes, which is kept; a list asks nobody', async () => {
    const { secrets, asked, credentials } = create(undefined, use);
    await secrets.save(headerSecretKey('gw'), here, 'hidden');
    const wanted = at('groq', there, gateway);
    await assert.rejects(credentials.forList(provider('groq'), wanted), /not set for https:\/\/there/);
    assert.deepEqual(asked, []);
    await assert.rejects(credentials.forRun(provider('groq'), wanted), /not set for https:\/\/there/);
    assert.deepEqual(asked, [
      `Send the secret "gw" to ${there}? It was saved for ${here}. Anyone who runs ${there} can see it.`,
    ]);
    const { headers } = await credentials.forRun(provider('groq'), wanted);
    assert.equal(headers['x-gateway'], 'Bearer hidden');
    await credentials.forRun(provider('groq'), wanted);
    await credentials.forList(provider('groq'), wanted);
    assert.equal(asked.length, 2);
  });

  it('over plain http to another machine nobody is asked, and nothing is sent', async () => {
    const { secrets, asked, credentials } = create(use);
    await secrets.save(headerSecretKey('gw'), here, 'hidden');
    const wanted = at('vllm', 'http://there.example/v1', gateway);
    await assert.rejects(
      credentials.forRun(provider('vllm'), wanted),
      /reached without encryption, so the secret is not sent/,
    );
    assert.deepEqual(asked, []);
  });

  it('another port or another scheme is another address', async () => {
    const { secrets, asked, credentials } = create();
    await secrets.save(headerSecretKey('gw'), here, 'hidden');
    await assert.rejects(credentials.forRun(provider('vllm'), at('vllm', `${here}:8443`, gateway)), /not set for/);
    assert.match(asked.join(), /Send the secret "gw" to https:\/\/here\.example:8443\?/);
  });

  it('where headers say who asks, a key of the provider itself is not demanded', async () => {
    const { secrets, credentials } = create();
    await secrets.save(headerSecretKey('gw'), here, 'hidden');
    const { apiKey } = await credentials.forRun(provider('openai'), at('openai', here, gateway));
    assert.equal(apiKey, undefined);
    const without = at('openai', here, { 'x-team': 'tools' });
    await assert.rejects(credentials.forRun(provider('openai'), without), /No API key for OpenAI \(https:\/\/here/);
  });

  it('a key of another address: a no is heard once where none is needed', async () => {
    const { secrets, asked, credentials } = create(undefined);
    await secrets.save('vllm', here, 'sk-key');
    for (let count = 0; count < 2; count++)
      assert.deepEqual(await credentials.forRun(provider('vllm'), at('vllm', there)), { headers: {}, secrets: [] });
    assert.deepEqual(asked, [
      `Send your vLLM key to ${there}? It was saved for ${here}. Anyone who runs ${there} can see it.`,
    ]);
  });
});
