// @invariant repositories-widen-nothing: No setting of a repository widens a permission.

/**
 * Settings of the machine: paths, processors, memory. All other settings belong to the user. The scopes in `package.json` are equal but
 * insufficient, because the editor accepts whole tables (`"towpath": { … }`).
 */
export const machineSettingNames: ReadonlySet<string> = new Set([
  'local.folders',
  'local.downloadFolder',
  'local.threads',
  'local.gpu',
  'local.contextSize',
  'local.idleUnload',
  'local.stateQuota',
  'local.chatWrapper',
]);

/**
 * Values of a setting by scope, with fields that the editor's types lack but all versions have. In a remote window, `globalValue` is the
 * value of the machine, which wins. Workspace and folder files set no setting of Towpath.
 */
export interface InspectedSetting {
  defaultValue?: unknown;
  globalValue?: unknown;
  globalLocalValue?: unknown;
  globalRemoteValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

/** Returns the value of the user, or of the machine for machine settings; undefined: not set. */
export function userSettingValue(name: string, inspected: InspectedSetting = {}): unknown {
  const { globalValue, globalLocalValue, globalRemoteValue } = inspected;
  if (machineSettingNames.has(name)) return globalValue;
  return globalLocalValue ?? (globalRemoteValue === undefined ? globalValue : undefined);
}
