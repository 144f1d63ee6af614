import { createHash } from 'node:crypto';
import { extendMap, extendSet, type GrowingMap, type GrowingSet } from '../core/growingLists.ts';
import { replaceLoneSurrogates } from '../messages/normalizeHistory.ts';
import type { OpenAICompatibilityFlags } from '../models/wireFlags.ts';

/** Ids that the calls of a conversation have so far. */
export interface WireToolCallIds {
  /** Returns unique, valid ids for the calls of the next message. */
  next(calls: readonly { id: string }[]): string[];
  /** Returns the same ids for further calls, which this mapping does not contain. */
  extend(): WireToolCallIds;
}

/**
 * Creates a mapping of call ids. Ids are stable across requests, because a changed prefix loses the prompt cache. Valid ids stay unchanged.
 */
export function createWireToolCallIds(
  shape: OpenAICompatibilityFlags['callIds'],
  given: GrowingMap = new Map<string, string>(),
  used: GrowingSet = new Set<string>(),
): WireToolCallIds {
  const toWireId = (id: string) => {
    const known = given.get(id);
    if (known !== undefined) return known;
    let wireId = id;
    if (!fits(id, shape)) {
      for (let salt = 0; salt === 0 || used.has(wireId); salt++) wireId = hashed(`${id}${salt || ''}`, shape);
    }
    given.set(id, wireId);
    used.add(wireId);
    return wireId;
  };
  return {
    next(calls) {
      const own = new Set<string>();
      for (const { id } of calls) {
        let one = id;
        for (let count = 2; own.has(one); count++) one = `${id}_${count}`; // an imported history may contain duplicates
        own.add(one);
      }
      return [...own].map(toWireId);
    },
    extend: () => createWireToolCallIds(shape, extendMap(given), extendSet(used)),
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
