import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import type { CallContext, ToolContext } from '../core/tool.ts';
import { allowedFolderLocations, createSearchExclusionPredicate } from '../policy/policy.ts';

/** Returns the parts of a tool's context that policies decide: those of the user, and of the agent. */
export function contextOfPolicies(
  user: () => ApprovalPolicy,
  { policy: agent }: CallContext,
): Pick<ToolContext, 'searchExclusionTest' | 'allowedFolders'> {
  const policies = (): ApprovalPolicy[] => [user(), ...(agent ? [agent] : [])];
  return {
    searchExclusionTest: (undoWorkspace) => {
      const guards = policies().map((one) => createSearchExclusionPredicate(one, undoWorkspace));
      return (path) => guards.some((isExcluded) => isExcluded(path));
    },
    allowedFolders: () => allowedFolderLocations(user(), agent),
  };
}
