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
  for (const secret of secrets) {
    if (secret.length < 4) continue; // a stand-in for a server that wants none, and part of many words
    clean = clean.replaceAll(secret, '[key]').replaceAll(encodeURIComponent(secret), '[key]');
    clean = withoutBeginning(clean, secret);
  }
  for (const pattern of knownKeys) clean = clean.replace(pattern, '[key]');
  return clean;
}
