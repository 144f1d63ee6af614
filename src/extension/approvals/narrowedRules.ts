import { type OwnedRule, ruleSchema } from '../../protocol/content/rule.ts';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';

const narrowedName = 'approvals.narrowed';
type Scope = OwnedRule['scope'];

/**
 * Rules that were made when they covered more commands, each as it is stored. They stay as they are, and the list of rules says of each
 * what it no longer covers. They are looked for once in each memory, so that a rule that is made later is none of them.
 */
export class NarrowedRules {
  /** @param memories of the workspace, and of the user for all of them */
  constructor(private readonly memories: Readonly<Record<Scope, Pick<DecisionFile, 'get' | 'update'>>>) {}

  /** Finds such rules of a scope, once. Returns true when there are some. A memory that cannot be written is read again at the next start. */
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

  /** Says what a stored rule no longer covers; undefined for others. */
  reason(scope: Scope, rule: unknown): LocalizedMessage | undefined {
    const found = this.memories[scope].get(narrowedName);
    return Array.isArray(found) && found.includes(JSON.stringify(rule)) ? whatIsNarrowed(rule) : undefined;
  }
}

/** Undefined for a rule that covers what it always did: exact words, and what is no command. */
function whatIsNarrowed(written: unknown): LocalizedMessage | undefined {
  const { data: rule } = ruleSchema.safeParse(written);
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
