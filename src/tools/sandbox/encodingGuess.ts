/** Guesses the encoding of bytes other than UTF-8, only for messages. Undefined for binary data or unknown encodings. */
export function guessEncoding(bytes: Buffer): string | undefined {
  const sample = bytes.subarray(0, sampleSize);
  if (sample.length === 0 || !isTextLike(sample)) return undefined;
  for (const { name, label, isLikely } of encodings) {
    const text = decoded(sample, label);
    if (text !== undefined && isLikely(text, sample)) return name;
  }
  return undefined;
}

/** Tests that bytes have no control characters except text controls. Escape belongs to encodings with shift sequences. */
export const isTextLike = (bytes: Buffer): boolean =>
  !bytes.some((byte) => (byte < 0x20 && (byte < 0x08 || byte > 0x0d) && byte !== 0x1b) || byte === 0x7f);

const sampleSize = 64 * 1024;

interface LikelyEncoding {
  name: string;
  label: string;
  isLikely(text: string, bytes: Buffer): boolean;
}

const encodings: readonly LikelyEncoding[] = [
  { name: 'Shift-JIS', label: 'shift_jis', isLikely: (text) => shareOf(text, /[\u3040-\u30fa]/gu) > 0.2 },
  { name: 'EUC-JP', label: 'euc-jp', isLikely: (text) => shareOf(text, /[\u3040-\u30fa]/gu) > 0.2 },
  { name: 'EUC-KR', label: 'euc-kr', isLikely: (text) => shareOf(text, /[\uac00-\ud7a3]/gu) > 0.9 },
  // Nine of ten Chinese characters are of the first level, in the rows B0 to D7.
  { name: 'GBK', label: 'gbk', isLikely: (text, bytes) => shareOfPairs(text, bytes, [0xb0, 0xd7], 0xa1) > 0.6 },
  { name: 'Big5', label: 'big5', isLikely: (text, bytes) => shareOfPairs(text, bytes, [0xa4, 0xc6], 0x40) > 0.6 },
  // In Cyrillic text, letters are adjacent; in Western text, most letters are ASCII.
  {
    name: 'Windows-1251',
    label: 'windows-1251',
    isLikely: (_, bytes) => /[\xc0-\xff]{3}/.test(bytes.toString('latin1')),
  },
  { name: 'Windows-1252', label: 'windows-1252', isLikely: () => true },
];

function decoded(bytes: Buffer, label: string): string | undefined {
  try {
    const decoder = new TextDecoder(label, { fatal: true });
    return decoder.decode(bytes, { stream: true }); // the sample may end inside of a character
  } catch {
    return undefined; // other bytes, or an encoding missing on this system
  }
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const others = (text: string): number => Math.max(1, count(text, /[^\0-\x7f]/gu));

const shareOf = (text: string, pattern: RegExp): number => count(text, pattern) / others(text);

// Returns the share of double-byte characters with the first byte in a range, and the second at least `least`.
function shareOfPairs(text: string, bytes: Buffer, [from, to]: [number, number], least: number): number {
  let pairs = 0;
  for (let at = 0; at + 1 < bytes.length; at++) {
    if (bytes[at]! < 0x80) continue;
    if (bytes[at]! >= from && bytes[at]! <= to && bytes[at + 1]! >= least) pairs += 1;
    at += 1;
  }
  return pairs / others(text);
}
