import assert from 'node:assert/strict';
import { headerSecretKey } from '../../../src/extension/settings/secrets.ts';
import { keptSecrets } from '../../support/keptSecrets.ts';

const [here, there] = ['https://here.example', 'https://there.example'];

describe('saved keys', () => {
  it('belong to one provider at one address, are replaced and forgotten there alone, the newest last', async () => {
    const { secrets, stored, remembered } = keptSecrets();
    await secrets.save('openai', here, 'first');
    await secrets.save('openai', there, 'second');
    await secrets.save('groq', here, 'third');
    assert.deepEqual(
      [await secrets.key('openai', here), await secrets.key('openai', there), await secrets.key('groq', there)],
      ['first', 'second', undefined],
    );
    assert.deepEqual(secrets.origins('openai'), [here, there]);
    await secrets.save('openai', here, 'replaced');
    assert.deepEqual(secrets.origins('openai'), [there, here]);
    assert.deepEqual(await secrets.all(), ['second', 'replaced', 'third']);
    assert.doesNotMatch(JSON.stringify([...remembered]), /first|second|third|replaced/);
    await secrets.forget('openai', here);
    assert.deepEqual([secrets.origins('openai'), await secrets.all()], [[there], ['second', 'third']]);
    assert.equal(stored.size, 2);
  });

  it('OpenAI’s is one key for both of its interfaces', async () => {
    const { secrets } = keptSecrets();
    await secrets.save('openai', here, 'key');
    assert.deepEqual(
      [await secrets.key('openai-responses', here), secrets.origins('openai-responses')],
      ['key', [here]],
    );
    await secrets.save('openai-responses', here, 'newer');
    assert.deepEqual([await secrets.key('openai', here), await secrets.all()], ['newer', ['newer']]);
    await secrets.forget('openai-responses', here);
    assert.deepEqual([await secrets.key('openai', here), secrets.origins('openai')], [undefined, []]);
  });

  it('secrets of headers are beside them, under names of their own', async () => {
    const { secrets } = keptSecrets();
    await secrets.save('openai', here, 'key');
    await secrets.save(headerSecretKey('openai'), here, 'secret');
    assert.deepEqual(secrets.secretNames(), ['openai']);
    assert.deepEqual(await secrets.all(), ['key', 'secret']);
    await secrets.forget(headerSecretKey('openai'), here);
    assert.deepEqual([secrets.secretNames(), await secrets.key('openai', here)], [[], 'key']);
  });
});
