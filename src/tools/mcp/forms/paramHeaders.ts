import { isJsonObject } from './messageForms.ts';
import type { ListedTool } from './toolSchema.ts';

// Arguments that a server wants as HTTP headers (MCP 2026-07-28, streamable HTTP, "Custom Headers from Tool Parameters").

interface HeaderParameter {
  path: readonly string[];
  header: string;
}

const key = 'x-mcp-header';
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const types: unknown[] = ['string', 'integer', 'boolean'];
// Members with examples of values; all other members of a schema contain schemas.
const values = ['const', 'default', 'enum', 'examples'];

const invalid = (path: readonly string[]): never => {
  throw new RangeError(`${path.join('.') || 'the schema'}: ${key} is not valid here`);
};

/** Returns the reason why the tool must not be used over HTTP; undefined if its header declarations are valid. */
export function headerFault({ inputSchema }: Pick<ListedTool, 'inputSchema'>): string | undefined {
  try {
    headerParameters(inputSchema, [], true);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** Returns the headers of a call. Absent and `null` arguments have none. */
export function parameterHeaders(
  { inputSchema }: Pick<ListedTool, 'inputSchema'>,
  args: Record<string, unknown>,
): Record<string, string> {
  const headers = headerParameters(inputSchema, [], true).flatMap(({ path, header }) => {
    const value = path.reduce((inner: unknown, name) => (isJsonObject(inner) ? inner[name] : undefined), args);
    const isSent = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
    return isSent ? [[`Mcp-Param-${header}`, headerValue(String(value))] as const] : [];
  });
  return Object.fromEntries(headers);
}

/** Throws `RangeError` for a declaration that is not valid. `isReachable`: only `properties` lead here. */
function headerParameters(schema: unknown, path: readonly string[], isReachable: boolean): HeaderParameter[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => headerParameters(one, path, false));
  if (!isJsonObject(schema)) return [];
  const { properties, [key]: header, ...others } = schema;
  const isDeclared = key in schema;
  if (isDeclared && !(isReachable && path.length > 0 && types.includes(schema.type))) invalid(path);
  if (isDeclared && !(typeof header === 'string' && token.test(header))) invalid(path);
  const inner = isJsonObject(properties) ? Object.entries(properties) : [];
  const rest = Object.entries(others).filter(([name]) => !values.includes(name));
  const all = [
    ...(isDeclared ? [{ path, header: header as string }] : []),
    ...inner.flatMap(([name, one]) => headerParameters(one, [...path, name], isReachable)),
    ...rest.flatMap(([name, one]) => headerParameters(one, [...path, name], false)),
  ];
  if (new Set(all.map((one) => one.header.toLowerCase())).size < all.length) invalid(path);
  return all;
}

// A value that a header cannot carry as it is becomes base64 (same section, "Value Encoding").
function headerValue(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim() && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
