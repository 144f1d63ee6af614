// Forms of JSON-RPC messages and of the greeting that servers send, as the protocol has them. Pure: nothing here is checked, and nothing is
// left out that the protocol gives a meaning to.

type Json = Record<string, unknown>;

/** JSON-RPC's code for an error without one. */
const internalError = -32603;

/**
 * Returns a message in the form of JSON-RPC 2.0, where it differs from that only in what it may leave out: `null` for a member that is absent,
 * members of its own, an error without a code or as a text, a result that is no object. Anything else stays as it came.
 */
export function plainMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { jsonrpc, id, method, params, result, error } = message;
  const named = { jsonrpc, ...(id !== undefined && { id }) };
  if (typeof method === 'string') {
    const given = isJsonObject(params) ? withPlainMeta(params) : undefined;
    const plain = given && id === undefined ? present(given) : given; // of a request, `null` may be a value
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

/**
 * Returns the answer to `initialize` with the parts that Towpath uses: the version, what the server offers, its name. A part that does not fit
 * counts as absent.
 */
export function plainGreeting(result: Json): Json {
  const { protocolVersion, capabilities, serverInfo } = result;
  const offered = isJsonObject(capabilities) ? capabilities : {};
  const names = ['tools', 'resources', 'prompts', 'logging'].filter(
    (name) => isJsonObject(offered[name]) || offered[name] === true,
  );
  const info = isJsonObject(serverInfo) ? serverInfo : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    protocolVersion: text(protocolVersion),
    capabilities: Object.fromEntries(names.map((name) => [name, listChangedOf(offered[name])])),
    serverInfo: { name: text(info.name), version: text(info.version) },
  };
}

const listChangedOf = (offer: unknown) =>
  isJsonObject(offer) && typeof offer.listChanged === 'boolean' ? { listChanged: offer.listChanged } : {};

export const isJsonObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the members that are there: servers write `null` for those that are not. */
export const present = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
