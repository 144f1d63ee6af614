import assert from 'node:assert/strict';
import type { ToolCall } from '../../../src/protocol/content/messages.ts';
import type { Heard } from '../serve.ts';

/** What a case of a wire expects; a call may be its name and arguments alone, which then are not malformed. */
export type Hears = Partial<Omit<Heard, 'calls' | 'error'>> & {
  calls?: (Partial<ToolCall> | [name: string, given: object])[];
  error?: object;
};

/** Ids that we make up are compared with nothing: a case that does not name an id expects any. */
export function expectHeard(heard: Heard, { calls, error, ...others }: Hears): void {
  for (const [key, value] of Object.entries(others)) assert.deepEqual(heard[key as keyof Heard], value, key);
  if (calls) {
    assert.equal(heard.calls.length, calls.length, JSON.stringify(heard.calls));
    for (const [at, wanted] of calls.entries()) {
      const call = Array.isArray(wanted) ? { name: wanted[0], arguments: wanted[1], malformed: undefined } : wanted;
      const given = { malformed: undefined, ...heard.calls[at]! };
      assert.deepEqual({ ...given, ...call }, given);
      assert.ok(given.id.length > 0 && given.id.length <= 256);
    }
    assert.equal(new Set(heard.calls.map(({ id }) => id)).size, calls.length, 'ids differ');
  }
  if (error) assert.deepEqual({ ...heard.error, ...error }, heard.error);
  else assert.equal(heard.error, undefined, JSON.stringify(heard.error));
}
