import { permissionRuleSchema, type ScopedPermissionRule } from '../../protocol/content/rule.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';

const narrowedName = 'approvals.narrowed';
type Scope = ScopedPermissionRule['scope'];

/**
 * Stored rules that covered more commands at the time of creation. The rules stay as stored, and the list of rules shows the difference.
 * Each memory is searched only once, so later rules are never included.
 */
export class NarrowedApprovalRules {
  /** @param memories of the workspace, and of the user for all workspaces */
  constructor(private readonly memories: Readonly<Record<Scope, Pick<DecisionFile, 'get' | 'update'>>>) {}

  /** Finds such rules in a scope, once. Returns true if there are any. After a failed write, the search repeats at the next start. */
  find(scope: Scope, written: readonly unknown[]): boolean {
    if (this.memories[scope].get(narrowedName) !== undefined) return false;
    const found = written.filter((rule) => whatIsNarrowed(rule) !== undefined).map((rule) => JSON.stringify(rule));
    try {
      this.memories[scope].update(narrowedName, found);
    } catch {
      return false;
    }
    return found.length > 0;
  }

  /** Returns the lost coverage of a stored rule; undefined for other rules. */
  reason(scope: Scope, rule: unknown): LocalizedMessage | undefined {
    const found = this.memories[scope].get(narrowedName);
    return Array.isArray(found) && found.includes(JSON.stringify(rule)) ? whatIsNarrowed(rule) : undefined;
  }
}

/** Returns undefined for rules with unchanged coverage: exact words, and rules without a command. */
function whatIsNarrowed(written: unknown): LocalizedMessage | undefined {
  const { data: rule } = permissionRuleSchema.safeParse(written);
  if (rule?.effect !== 'allow') return undefined;
  switch (rule.kind) {
    case 'looks':
    case 'asks':
      return message('No longer covers commands that run this project’s code (pnpm list, yarn why, npx … --version)');
    case 'checks':
      return message('No longer covers scripts, targets and tasks whose names do not say that they check or build');
    default:
      return rule.varies
        ? message(
            'No longer covers the project’s own copy of the program (npx, uv run, .venv/bin), nor unknown names and arguments',
          )
        : undefined;
  }
}
