/**
 * Settings that belong to the machine: its paths, its processors, its memory. All others are the person's own. The scopes in
 * `package.json` say the same, and are not enough: the editor lets whole tables (`"towpath": { … }`) through them.
 */
export const machineSettings: ReadonlySet<string> = new Set([
  'local.folders',
  'local.downloadFolder',
  'local.threads',
  'local.gpu',
  'local.contextSize',
  'local.idleUnload',
  'local.stateQuota',
  'local.chatWrapper',
]);

/** A setting in each place that can hold it, as the editor gives it; what its types leave out is there in every version. */
export interface Inspected {
  defaultValue?: unknown;
  /** Of the person, and in a remote window of the machine, which wins. */
  globalValue?: unknown;
  globalLocalValue?: unknown;
  globalRemoteValue?: unknown;
  /** A folder's file sets none of ours. */
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/** What the person has set, or (a setting of the machine) the machine; undefined when neither has. */
export function ownValue(name: string, inspected: Inspected = {}): unknown {
  const { globalValue, globalLocalValue, globalRemoteValue } = inspected;
  if (machineSettings.has(name)) return globalValue;
  return globalLocalValue ?? (globalRemoteValue === undefined ? globalValue : undefined);
}
