// Loaded only before the first start of a server: the official client and the schema validator. Other modules import types from here and
// the rest by `loadMcpSdk`.
export {
  assertSecureTokenEndpoint,
  Client,
  checkResourceAllowed,
  computeScopeUnion,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  OAuthError,
  ProtocolError,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  selectClientAuthMethod,
  startAuthorization,
  UnsupportedProtocolVersionError,
  UrlElicitationRequiredError,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
export {
  CallToolResultSchema,
  ContentBlockSchema,
  GetPromptResultSchema,
  JSONRPCMessageSchema,
  PromptSchema,
  ReadResourceResultSchema,
  ResourceSchema,
} from '@modelcontextprotocol/core';
export { Ajv } from 'ajv';
export { Ajv2020 } from 'ajv/dist/2020.js';
export { default as spawn } from 'cross-spawn';
