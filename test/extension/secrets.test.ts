import assert from 'node:assert/strict';
import type { Memento, SecretStorage } from 'vscode';
import { Secrets } from '../../src/extension/secrets.ts';

const [here, there] = ['https://here.example', 'https://there.example'];

describe('saved keys', () => {
  it('belong to one provider at one address, are replaced and forgotten there alone, the newest last', async () => {
    const { secrets, stored, remembered } = create();
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
});

/** The editor's two stores, as maps. */
function create() {
  const stored = new Map<string, string>();
  const remembered = new Map<string, unknown>();
  const storage = {
    get: async (name: string) => stored.get(name),
    store: async (name: string, value: string) => void stored.set(name, value),
    delete: async (name: string) => void stored.delete(name),
  };
  const memory = {
    get: (name: string, fallback: unknown) => remembered.get(name) ?? fallback,
    update: async (name: string, value: unknown) => void remembered.set(name, value),
  };
  const secrets = new Secrets(storage as unknown as SecretStorage, memory as unknown as Memento);
  return { secrets, stored, remembered };
}
