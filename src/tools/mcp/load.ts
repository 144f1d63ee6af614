/** The SDK and its company, as they are once they are loaded. */
export type Sdk = typeof import('./sdk.ts');

let loading: Promise<Sdk> | undefined;

/** Loads the SDK, once; whoever has no server configured never pays for it. */
export function loadSdk(): Promise<Sdk> {
  loading ??= import('./sdk.ts');
  return loading;
}
