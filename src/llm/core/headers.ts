const reference = /\$\{secret:([A-Za-z0-9][\w.-]{0,63})\}/g;

/**
 * Headers of the connection or of the body. A custom value would break the request or contradict the body (RFC 9110 §7.6.1 and §8; fetch
 * rejects some and sends others twice).
 */
const owned =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|http2-settings|proxy-.*|content-(length|type|encoding))$/;

/**
 * Returns the reason for which a header cannot be sent, as the end of a sentence; undefined if the header is valid. The value is never
 * quoted.
 */
export function invalidHeaderReason(name: string, value: string) {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is no name of a header';
  if (owned.test(name.toLowerCase())) return 'belongs to the connection and cannot be set';
  if (value.trim() === '') return 'is empty';
  if (value.length > 8000) return 'is longer than 8000 characters';
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it
  if (/\$\{/.test(value.replace(reference, ''))) return 'names something else than ${secret:name}';
  return isPrintableHeader(value) ? undefined : 'has line breaks, or characters that no header can carry';
}

/** Returns true for printable ASCII. Other characters would start another header, or make fetch fail with the value in its message. */
export const isPrintableHeader = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);

export const referencedSecretNames = (value: string): string[] => [
  ...new Set([...value.matchAll(reference)].map(([, name]) => name!)),
];

export const insertHeaderSecrets = (value: string, secretOf: (name: string) => string): string =>
  value.replace(reference, (_, name) => secretOf(name));

export const isCredentialHeader = (name: string, value: string): boolean =>
  /auth|key|token|secret|cookie/i.test(name) || referencedSecretNames(value).length > 0;
