// Live output is a text in pieces. A carriage return in a piece takes back the line that is not ended yet: what follows it is that
// line anew, as a progress bar draws it.

/** Appends a piece of live output: each carriage return in it removes the last line so far, back to its line end. */
export const withUpdate = (text: string, piece: string): string => {
  if (!piece.includes('\r')) return text + piece;
  return joinUpdates(text, piece).replace(/^\r/, '');
};

/** Returns two pieces as one piece. It begins with a carriage return if its first line takes back a line before it. */
export function joinUpdates(one: string, other: string): string {
  if (!other.includes('\r')) return one + other;
  const start = one.lastIndexOf('\n') + 1;
  const lines = (one.slice(start) + other).split('\n').map((line, index) => {
    const last = line.lastIndexOf('\r');
    return last < 0 ? line : line.slice(index === 0 && start === 0 ? last : last + 1);
  });
  return one.slice(0, start) + lines.join('\n');
}
