import { textHead } from '../../protocol/text/shorten.ts';
import type { ToolContext } from './tool.ts';

// Bytes, as JSON, of the head and the tail of a long text for the model. Together they stay below the limit of an outcome.
const maxSentHead = 15 * 1024;
const maxSentTail = 45 * 1024;

/**
 * Returns a long text as a part of an outcome. A short text stays whole. Otherwise the model receives the head and the tail, and the whole
 * text is stored with the run for `output.read` and the user. `dropped` is the number of bytes already missing from `text`.
 */
export async function storeLongOutput<Field extends string>(
  text: string,
  dropped: number,
  field: Field,
  { keepOutput }: Pick<ToolContext, 'keepOutput'>,
): Promise<Record<Field, string> & { cut?: string; outputId?: string }> {
  const as = (shown: string) => ({ [field]: shown }) as Record<Field, string>;
  if (jsonBytes(text) <= maxSentHead + maxSentTail) return as(text);
  const head = beginning(text, maxSentHead);
  const tail = end(text, maxSentTail);
  const left = Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail);
  const lost = dropped > 0 ? `, and ${dropped} more were not stored` : '';
  const missing = `${left} bytes in the middle are left out here${lost}`;
  const shown = as(`${head}\n… ${missing} …\n${tail}`);
  try {
    const outputId = (await keepOutput(text)).slice(0, 12);
    return {
      ...shown,
      cut: `${missing}: read ${dropped > 0 ? `the ${left}` : 'them'} with output.read and the id ${outputId}.`,
      outputId,
    };
  } catch {
    return { ...shown, cut: `${missing}, and could not be kept.` }; // the work is done and must be reported, even without storage
  }
}

function beginning(text: string, limit: number): string {
  let part = text.slice(0, limit);
  for (let size = jsonBytes(part); size > limit; size = jsonBytes(part))
    part = part.slice(0, Math.floor((part.length * limit) / size));
  const line = part.lastIndexOf('\n') + 1;
  return textHead(part, line > part.length / 2 ? line : part.length);
}

function end(text: string, limit: number): string {
  let part = text.slice(-limit);
  for (let size = jsonBytes(part); size > limit; size = jsonBytes(part))
    part = part.slice(part.length - Math.floor((part.length * limit) / size));
  const line = part.indexOf('\n') + 1;
  return part.slice(line < part.length / 2 ? line : 0).replace(/^[\udc00-\udfff]/, '');
}

const jsonBytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;
