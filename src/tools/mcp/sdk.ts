// Loaded only before the first start of a server: the official SDK and the schema validator. Other modules import types from here and the
// rest by `loadMcpSdk`.
export { Client } from '@modelcontextprotocol/sdk/client/index.js';
export { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
export {
  CallToolResultSchema,
  ContentBlockSchema,
  ErrorCode,
  GetPromptResultSchema,
  JSONRPCMessageSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  PromptSchema,
  ReadResourceResultSchema,
  ResourceSchema,
  ResultSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
  ToolListChangedNotificationSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
export { Ajv } from 'ajv';
export { Ajv2020 } from 'ajv/dist/2020.js';
export { default as spawn } from 'cross-spawn';
