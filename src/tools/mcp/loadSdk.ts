import { lazily } from '../../protocol/panel/lazyImport.ts';

export type Sdk = typeof import('./sdk.ts');

/** Loads the SDK; without a configured server it is never loaded. */
export const loadSdk = lazily(() => import('./sdk.ts'));
