// Loaded only before the first start of a server: the official client and the schema validator. Other modules import types from here and
// the rest by `loadMcpSdk`.
export {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsupportedProtocolVersionError,
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
