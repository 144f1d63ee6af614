import { createHash } from 'node:crypto';
import { replaceLoneSurrogates } from '../messages/normalizeHistory.ts';
import type { OpenAICompatibilityFlags } from '../models/wireFlags.ts';

/**
 * Creates a function that returns unique, valid call ids for a message. Ids are stable across requests, because a changed prefix loses the
 * prompt cache. Valid ids stay unchanged.
 */
export function createWireToolCallIdMapper(
  shape: OpenAICompatibilityFlags['callIds'],
): (calls: readonly { id: string }[]) => string[] {
  const given = new Map<string, string>();
  const used = new Set<string>();
  const toWireId = (id: string) => {
    let wireId = given.get(id) ?? id;
    if (!given.has(id) && !fits(id, shape)) {
      for (let salt = 0; salt === 0 || used.has(wireId); salt++) wireId = hashed(`${id}${salt || ''}`, shape);
    }
    given.set(id, wireId);
    used.add(wireId);
    return wireId;
  };
  return (calls) => {
    const own = new Set<string>();
    for (const { id } of calls) {
      let one = id;
      for (let count = 2; own.has(one); count++) one = `${id}_${count}`; // an imported history may contain duplicates
      own.add(one);
    }
    return [...own].map(toWireId);
  };
}

function fits(id: string, shape: OpenAICompatibilityFlags['callIds']): boolean {
  if (shape === 'nine') return /^[A-Za-z0-9]{9}$/.test(id);
  if (shape === 'forty' && id.length > 40) return false;
  return id !== '' && id === replaceLoneSurrogates(id);
}

function hashed(text: string, shape: OpenAICompatibilityFlags['callIds']): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return shape === 'nine' ? hash.slice(0, 9) : `call_${hash.slice(0, 24)}`;
}
