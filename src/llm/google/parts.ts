import type { Native } from '../../protocol/content/messages.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { googleProvider, type NativeParts, type Part } from './wire.ts';

/** Merges fragments of unsigned text into one part. A signature stays with its original part, even if the part is empty. */
export function addText(parts: Part[], part: Part, fragment: string): void {
  const last = parts.at(-1);
  const plain = (one: Part) => Object.keys(one).every((key) => key === 'text' || key === 'thought');
  if (last && typeof last.text === 'string' && plain(last) && plain(part) && last.thought === part.thought) {
    last.text += fragment;
  } else if (fragment !== '' || !plain(part)) {
    parts.push({ ...part });
  }
}

export function toNativeCall(part: Part, functionCall: JsonObject, name: string, args: JsonObject): Part {
  const { partialArgs, willContinue, ...rest } = functionCall;
  return { ...part, functionCall: { ...rest, name, args } };
}

export function setArguments(part: Part, args: JsonObject): void {
  part.functionCall = { ...(part.functionCall as JsonObject), args };
}

export function nativeOf(parts: Part[]): Native | undefined {
  const worthKeeping = parts.some((part) => {
    const { functionCall, thoughtSignature } = part;
    if (thoughtSignature !== undefined) return true;
    return isObject(functionCall) ? functionCall.id !== undefined : part.text === undefined;
  });
  return worthKeeping ? { provider: googleProvider, content: { parts } satisfies NativeParts } : undefined;
}
