export interface PackageRunId {
  key: string;
  workflowId?: string;
  agentId?: string;
}

/** Formats `package:<key>/<workflow>`, `package:<key>/<workflow>@<agent>` or `package:<key>/@<agent>`. */
export const packageRunId = ({ key, workflowId = '', agentId }: PackageRunId): string =>
  `package:${key}/${workflowId}${agentId === undefined ? '' : `@${agentId}`}`;

export function parsePackageRunId(id: string): PackageRunId | undefined {
  const found = /^package:([^/]+)\/([^@]*)(?:@(.+))?$/.exec(id);
  if (!found || (!found[2] && !found[3])) return undefined;
  return { key: found[1]!, ...(found[2] && { workflowId: found[2] }), ...(found[3] && { agentId: found[3] }) };
}
