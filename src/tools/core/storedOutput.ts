import type { ToolContext } from './tool.ts';

/** Bytes, as JSON, that a model is told of a long text: with the rest of an outcome they stay under its limit. */
const toldHead = 15 * 1024;
const toldTail = 45 * 1024;

/**
 * A long text as the part of an outcome: whole when it is short, else its beginning and its end, while the whole text is
 * kept with the run, to be read with `output.read` and opened by the person. `dropped`: bytes that `text` lacks
 * already, which nobody can read.
 */
export async function storedOutput<Field extends string>(
  text: string,
  dropped: number,
  field: Field,
  { keepOutput }: Pick<ToolContext, 'keepOutput'>,
): Promise<Record<Field, string> & { cut?: string; outputId?: string }> {
  const as = (shown: string) => ({ [field]: shown }) as Record<Field, string>;
  if (jsonBytes(text) <= toldHead + toldTail) return as(text);
  const head = beginning(text, toldHead);
  const tail = end(text, toldTail);
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
    return { ...shown, cut: `${missing}, and could not be kept.` }; // what was done is done, and is told
  }
}

/** As many characters from the beginning as fit, to a line's end when one is near. */
function beginning(text: string, limit: number): string {
  let part = text.slice(0, limit);
  for (let size = jsonBytes(part); size > limit; size = jsonBytes(part))
    part = part.slice(0, Math.floor((part.length * limit) / size));
  const line = part.lastIndexOf('\n') + 1;
  return part.slice(0, line > part.length / 2 ? line : part.length).replace(/[\ud800-\udbff]$/, '');
}

function end(text: string, limit: number): string {
  let part = text.slice(-limit);
  for (let size = jsonBytes(part); size > limit; size = jsonBytes(part))
    part = part.slice(part.length - Math.floor((part.length * limit) / size));
  const line = part.indexOf('\n') + 1;
  return part.slice(line < part.length / 2 ? line : 0).replace(/^[\udc00-\udfff]/, '');
}

const jsonBytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;
