import { lazily } from '../../protocol/panel/lazyImport.ts';

/** The SDK and its company, as they are once they are loaded. */
export type Sdk = typeof import('./sdk.ts');

/** Loads the SDK; whoever has no server configured never pays for it. */
export const loadSdk = lazily(() => import('./sdk.ts'));
