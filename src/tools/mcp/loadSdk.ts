import { lazyImport } from '../../protocol/panel/lazyImport.ts';

export type Sdk = typeof import('./sdk.ts');

/** Loads the SDK, only if a server is configured. */
export const loadSdk = lazyImport(() => import('./sdk.ts'));
