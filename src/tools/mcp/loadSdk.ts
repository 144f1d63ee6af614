import { lazyImport } from '../../protocol/panel/lazyImport.ts';

export type McpSdk = typeof import('./sdk.ts');

export const loadMcpSdk = lazyImport(() => import('./sdk.ts'));
