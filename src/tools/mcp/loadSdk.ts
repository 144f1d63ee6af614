import { lazyImport } from '../../protocol/panel/lazyImport.ts';

export type McpSdk = typeof import('./sdk.ts');

/** Loads the MCP client, only if a server is configured. */
export const loadMcpSdk = lazyImport(() => import('./sdk.ts'));
