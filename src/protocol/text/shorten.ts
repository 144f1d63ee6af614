import { englishCount } from './plurals.ts';

// Shortening of text. Lengths are UTF-16 units unless stated; no function leaves half of a surrogate pair.

export const textHead = (text: string, most: number): string => text.slice(0, most).replace(/[\ud800-\udbff]$/, '');

export const textTail = (text: string, most: number): string =>
  text.slice(Math.max(0, text.length - most)).replace(/^[\udc00-\udfff]/, '');

/** Returns the first `most` units with a mark behind them, or the whole text. */
export const shortenText = (text: string, most: number, mark = '…'): string =>
  text.length > most ? textHead(text, most) + mark : text;

/** Shortens to `most` units including the ellipsis. */
export const fitText = (text: string, most: number): string =>
  text.length > most ? shortenText(text, most - 1) : text;

/** Shortens to `most` code points including the ellipsis. */
export function truncateWithEllipsis(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = [...text];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

/** Returns the head and tail of a text longer than `most` units, with a note about the omitted part; else the text. */
export function truncateMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = textHead(text, Math.ceil(most * 0.6));
  const tail = textTail(text, Math.floor(most * 0.4));
  const left = englishCount(text.length - head.length - tail.length, 'character');
  return `${head}\n… ${left} left out …\n${tail}`;
}
