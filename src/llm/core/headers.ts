/** A secret that is kept apart stands in a header's value as `${secret:name}`. */
const reference = /\$\{secret:([A-Za-z0-9][\w.-]{0,63})\}/g;

/**
 * Of the connection, or of the body as a wire writes it: whoever sets one breaks the request, or says something else than what
 * is sent (RFC 9110 §7.6.1 and §8; fetch refuses some and sends others twice).
 */
const owned =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|http2-settings|proxy-.*|content-(length|type|encoding))$/;

/** Why a header cannot be sent, as the end of a sentence about it; undefined when it can. Its value is never quoted. */
export function headerProblem(name: string, value: string) {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return 'is no name of a header';
  if (owned.test(name.toLowerCase())) return 'belongs to the connection and cannot be set';
  if (value.trim() === '') return 'is empty';
  if (value.length > 8000) return 'is longer than 8000 characters';
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as people write it
  if (/\$\{/.test(value.replace(reference, ''))) return 'names something else than ${secret:name}';
  return isSendable(value) ? undefined : 'has line breaks, or characters that no header can carry';
}

/** Other characters end the header and begin another one, or make fetch fail with the value in its message. */
export const isSendable = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);

/** The secrets that a header's value names, each once. */
export const secretsIn = (value: string): string[] => [
  ...new Set([...value.matchAll(reference)].map(([, name]) => name!)),
];

export const withSecrets = (value: string, secretOf: (name: string) => string): string =>
  value.replace(reference, (_, name) => secretOf(name));

/** Whether a header gives somebody's access: it names a secret, or is called like one. */
export const isCredential = (name: string, value: string): boolean =>
  /auth|key|token|secret|cookie/i.test(name) || secretsIn(value).length > 0;
