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
