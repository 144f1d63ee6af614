// Live output arrives in pieces. A carriage return in a piece discards the unfinished line; the following text replaces the line, as in a
// progress bar.

export const appendTerminalOutput = (text: string, piece: string): string => {
  if (!piece.includes('\r')) return text + piece;
  return joinTerminalOutput(text, piece).replace(/^\r/, '');
};

export function joinTerminalOutput(one: string, other: string): string {
  if (!other.includes('\r')) return one + other;
  const start = one.lastIndexOf('\n') + 1;
  const lines = (one.slice(start) + other).split('\n').map((line, index) => {
    const last = line.lastIndexOf('\r');
    return last < 0 ? line : line.slice(index === 0 && start === 0 ? last : last + 1);
  });
  return one.slice(0, start) + lines.join('\n');
}
