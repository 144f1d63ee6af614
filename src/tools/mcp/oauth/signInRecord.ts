import { createHash } from 'node:crypto';
import * as z from 'zod';

/** Server that requires a sign-in. `clientId` and `clientSecret`: client that the user registered by hand. */
export interface SignInServer {
  name: string;
  url: string;
  clientId?: string;
  clientSecret?: string;
}

/**
 * Client of an authorization server. `redirectUri` is the registered one; undefined if the server accepts any. `origin`: an entry of the
 * configuration, a client ID metadata document, or dynamic registration.
 */
const clientSchema = z.object({
  client_id: z.string().min(1),
  client_secret: z.string().optional(),
  token_endpoint_auth_method: z.string().optional(),
  redirectUri: z.string().optional(),
  expiresAt: z.number().optional(),
  origin: z.enum(['configured', 'document', 'registered']),
});
export type SignInClient = z.output<typeof clientSchema>;

/** Tokens. `expiresAt`: epoch milliseconds, undefined if unknown. */
const tokensSchema = z.object({
  access: z.string().min(1),
  refresh: z.string().min(1).optional(),
  scope: z.string().optional(),
  expiresAt: z.number().optional(),
});
export type SignInTokens = z.output<typeof tokensSchema>;

/**
 * Sign-in to a server, a secret as a whole. Tokens belong to one issuer and one resource. `authorizationServer` is the address from which the
 * issuer's metadata are read; `requested` are all scopes that were requested; without `tokens` the sign-in has expired. `version` counts up
 * with each change, so that windows recognize an old value.
 */
const recordSchema = z.object({
  version: z.number().int(),
  resource: z.string().optional(),
  issuer: z.string(),
  authorizationServer: z.string(),
  client: clientSchema,
  requested: z.string().optional(),
  tokens: tokensSchema.optional(),
});
export type SignInRecord = z.output<typeof recordSchema>;

export function parseSignInRecord(text: string | undefined): SignInRecord | undefined {
  if (text === undefined) return undefined;
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Key of a sign-in: one per address and configured client. It contains no secret and is usable as a file name. */
export function signInKey({ url, clientId = '' }: SignInServer): string {
  const address = new URL(url);
  address.hash = '';
  return createHash('sha256')
    .update(JSON.stringify([address.href, clientId]))
    .digest('hex')
    .slice(0, 32);
}
