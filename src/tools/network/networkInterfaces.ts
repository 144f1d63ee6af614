import { networkInterfaces } from 'node:os';

/** Returns true if this machine has an interface that leads to other machines. */
export const hasExternalInterface = (): boolean =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ internal }) => !internal));
