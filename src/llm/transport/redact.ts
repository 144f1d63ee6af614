/** Key formats of large providers. A quoted key must be redacted even if the key is not ours. */
const knownKeys = [
  /\b(?:sk|pk|rk|gsk|xai|csk|hf|nvapi|pplx|tgp)[-_][A-Za-z0-9_-]{12,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\bBearer\s+(?=\S*\d)[A-Za-z0-9._~+/=-]{8,}/gi,
];

/** Removes the start of a secret at the end of a truncated text. */
function withoutBeginning(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= 6; length--)
    if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[key]`;
  return text;
}

export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  // longest first: a secret may be the prefix of another secret
  for (const secret of secrets.toSorted((one, other) => other.length - one.length)) {
    if (secret.length < 4) continue; // a placeholder for a server without keys, and part of many words
    for (const written of spellings(secret)) clean = clean.replaceAll(written, '[key]');
    clean = withoutBase64(clean, secret);
    clean = withoutBeginning(clean, secret);
  }
  for (const pattern of knownKeys) clean = clean.replace(pattern, '[key]');
  return clean;
}

/** Returns the forms of a secret: plain, URL-encoded (hexadecimal digits of either case), and in JSON. */
function spellings(secret: string): Set<string> {
  const inAddress = encodeURIComponent(secret);
  const lowerCase = inAddress.replace(/%../g, (escaped) => escaped.toLowerCase());
  return new Set([secret, inAddress, lowerCase, JSON.stringify(secret).slice(1, -1)]);
}

/**
 * Removes base64 that contains the secret (`Basic …`, dumped headers). The encoding depends on the number of preceding bytes modulo three,
 * and the first and last characters share bits with neighbors.
 */
function withoutBase64(text: string, secret: string): string {
  let clean = text;
  for (const before of [0, 1, 2]) {
    const bytes = Buffer.from(' '.repeat(before) + secret);
    const [from, to] = [Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3)];
    const core = bytes.toString('base64').slice(from, to);
    if (core.length < 8) continue; // could be an ordinary word
    const written = core.replace(/[+/]/g, (sign) => (sign === '+' ? '[+-]' : '[/_]'));
    if (!new RegExp(written).test(clean)) continue; // cheap test before the slower full pattern
    clean = clean.replace(new RegExp(`[A-Za-z0-9+/_-]{0,200}${written}[A-Za-z0-9+/_-]{0,200}=*`, 'g'), '[key]');
  }
  return clean;
}
