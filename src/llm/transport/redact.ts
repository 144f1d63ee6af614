/** Keys as the large providers write them. A provider that quotes a key it was not given by us still leaks a key. */
const knownKeys = [
  /\b(?:sk|pk|rk|gsk|xai|csk|hf|nvapi|pplx|tgp)[-_][A-Za-z0-9_-]{12,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\bBearer\s+(?=\S*\d)[A-Za-z0-9._~+/=-]{8,}/gi,
];

/** A text that was cut may end within the secret. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= 6; length--)
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[key]`;
  return text;
}

/** The text without any of the secrets and without anything that looks like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  // One may be the beginning of another: what is left of the longer one would stay.
  for (const secret of secrets.toSorted((one, other) => other.length - one.length)) {
    if (secret.length < 4) continue; // a stand-in for a server that wants none, and part of many words
    for (const written of spellings(secret)) clean = clean.replaceAll(written, '[key]');
    clean = withoutBase64(clean, secret);
    clean = withoutBeginning(clean, secret);
  }
  for (const pattern of knownKeys) clean = clean.replace(pattern, '[key]');
  return clean;
}

/** As it is, in an address (with hexadecimal digits of either case), and in JSON. */
function spellings(secret: string): Set<string> {
  const inAddress = encodeURIComponent(secret);
  const lowerCase = inAddress.replace(/%../g, (escaped) => escaped.toLowerCase());
  return new Set([secret, inAddress, lowerCase, JSON.stringify(secret).slice(1, -1)]);
}

/**
 * Of base64 that has the secret in it (`Basic …`, a dump of headers) nothing stays. What the secret becomes there depends
 * on how many bytes stand before it, by three; its first and last characters share bits with its neighbours.
 */
function withoutBase64(text: string, secret: string): string {
  let clean = text;
  for (const before of [0, 1, 2]) {
    const bytes = Buffer.from(' '.repeat(before) + secret);
    const [from, to] = [Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3)];
    const core = bytes.toString('base64').slice(from, to);
    if (core.length < 8) continue; // a word could be that
    const written = core.replace(/[+/]/g, (sign) => (sign === '+' ? '[+-]' : '[/_]'));
    if (!new RegExp(written).test(clean)) continue; // with what stands around it, it takes longer to look for
    clean = clean.replace(new RegExp(`[A-Za-z0-9+/_-]{0,200}${written}[A-Za-z0-9+/_-]{0,200}=*`, 'g'), '[key]');
  }
  return clean;
}
