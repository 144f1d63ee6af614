// Normalization of JSON-RPC messages and of the initialize result. Pure: nothing is validated, and nothing with a meaning in the protocol
// is dropped.

type Json = Record<string, unknown>;

const internalError = -32603;

/**
 * Normalizes a message with harmless deviations from JSON-RPC 2.0: `null` for absent members, extra members, an error without a code or as
 * text, a result other than an object. Other messages stay unchanged.
 */
export function normalizeJsonRpcMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { jsonrpc, id, method, params, result, error } = message;
  const named = { jsonrpc, ...(id !== undefined && { id }) };
  if (typeof method === 'string') {
    const given = isJsonObject(params) ? withPlainMeta(params) : undefined;
    const plain = given && id === undefined ? withoutNullMembers(given) : given; // of a request, `null` may be a value
    return { ...named, method, ...(plain && { params: plain }) };
  }
  const isFailure = isJsonObject(error) || typeof error === 'string';
  const hasResult = result !== undefined && result !== null;
  if (isFailure && !hasResult) return { jsonrpc, ...(id !== null && named), error: plainError(error) };
  if ('result' in message && (error === undefined || error === null)) {
    if (!hasResult) return { ...named, result: {} };
    if (isJsonObject(result)) return { ...named, result: withPlainMeta(result) };
    return { ...named, error: { code: internalError, message: 'The result is not an object.' } };
  }
  return message;
}

function plainError(error: Json | string): Json {
  if (typeof error === 'string') return { code: internalError, message: error };
  const { code, message, data } = error;
  return {
    code: Number.isInteger(code) ? code : internalError,
    message: typeof message === 'string' ? message : 'It gives no reason.',
    ...(data !== undefined && data !== null && { data }),
  };
}

function withPlainMeta(value: Json): Json {
  const { _meta, ...rest } = value;
  return isJsonObject(_meta) ? value : rest;
}

/** Returns the used parts of the `initialize` result: version, capabilities, name. An invalid part counts as absent. */
export function normalizeInitializeResult(result: Json): Json {
  const { protocolVersion, capabilities, serverInfo } = result;
  const info = isJsonObject(serverInfo) ? serverInfo : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    protocolVersion: text(protocolVersion),
    capabilities: plainCapabilities(capabilities),
    serverInfo: { name: text(info.name), version: text(info.version) },
  };
}

/** Returns the used parts of the `server/discover` result: versions and capabilities. Any other answer stays unchanged. */
export function normalizeDiscoverResult(result: Json): Json {
  const { supportedVersions, capabilities } = result;
  if (!Array.isArray(supportedVersions)) return result;
  return {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    supportedVersions: supportedVersions.filter((version) => typeof version === 'string'),
    capabilities: plainCapabilities(capabilities),
  };
}

function plainCapabilities(capabilities: unknown): Json {
  const offered = isJsonObject(capabilities) ? capabilities : {};
  const names = ['tools', 'resources', 'prompts', 'logging'].filter(
    (name) => isJsonObject(offered[name]) || offered[name] === true,
  );
  return Object.fromEntries(names.map((name) => [name, listChangedOf(offered[name])]));
}

const listChangedOf = (offer: unknown) =>
  isJsonObject(offer) && typeof offer.listChanged === 'boolean' ? { listChanged: offer.listChanged } : {};

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes members with `null`, which servers write for absent members. */
export const withoutNullMembers = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
