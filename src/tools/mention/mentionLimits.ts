import type { Mentioned } from '../../protocol/content/mention.ts';
import type { Policy } from '../../protocol/content/policy.ts';
import { inEnglish } from '../../protocol/text/l10n.ts';
import type { LanguageService } from '../code/language.ts';
import { type Tool, type ToolContext, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { judgePlan } from '../host/policySubject.ts';
import { excludedFromSearch } from '../policy/policy.ts';

/** What it takes to read what a person names. */
export interface MentionReading {
  workspace: Workspace;
  language: LanguageService;
  /** The person's, for the run that it is said to. */
  policy: Policy;
  /** What is not committed, in so many characters. Throws an `Error` with a sentence. */
  changes(
    characters: number,
    signal: AbortSignal,
    /** Of this file alone. */
    path?: string,
  ): Promise<{ text: string; note?: string; why?: string }>;
  /** The last command of the terminal in front, and what it wrote. Throws like `changes`. */
  terminal(): Promise<{ name: string; text: string }>;
  signal: AbortSignal;
}

/** What one mention comes to. `text` is data: it stands in a fence that nothing in it ends. */
export interface MentionRead {
  name: string;
  text: string;
  told: Omit<Mentioned, 'kind'>;
}

export interface FileGiven {
  path: string;
  text: string;
  endLine: number;
  totalLines: number;
  note?: string;
}

/** Whole lines, as many as fit; one that is too long in part. */
export function cutAt(text: string, most: number, endLine: number): { short: string; lines: number } {
  if (text.length <= most) return { short: text, lines: endLine };
  const end = text.lastIndexOf('\n', most);
  const short = text.slice(0, end > 0 ? end : most);
  return { short, lines: short.split('\n').length };
}

export class NotFree extends ToolError {
  constructor(
    readonly inShort: 'needs approval' | 'denied',
    why: string,
  ) {
    super('TOOL_DENIED', why);
  }
}

/** What a tool that only reads gives, where that takes nobody's yes. */
export async function run(tool: Tool, args: unknown, reading: MentionReading): Promise<unknown> {
  await checkFree(tool, args, reading);
  return tool.run!(args, quiet(reading));
}

/** Throws where a call of the tool would be denied or asked about. */
export async function checkFree(tool: Tool, args: unknown, reading: MentionReading): Promise<void> {
  const { policy, workspace } = reading;
  const plan = await tool.plan?.(args, quiet(reading));
  const { effect, byRule, reason } = await judgePlan({ tool, args, plan }, policy, { grants: new Set() }, workspace);
  if (effect === 'deny') throw new NotFree('denied', reason);
  if (plan) throw new NotFree('needs approval', inEnglish(plan.why));
  // Who names a thing has said yes to what is asked about because everything is. A rule is about this very thing.
  if (effect === 'ask' && byRule) throw new NotFree('needs approval', reason);
}

/** Nothing is told or kept of it but what goes with the message. */
const quiet = ({ workspace, policy, signal }: MentionReading): ToolContext => ({
  runId: '',
  toolCallId: '',
  workspace,
  signal,
  keptFromSearch: (place) => excludedFromSearch(policy, place),
  output: () => undefined,
  leaves: async () => undefined,
  commandStarted: () => undefined,
  commandGoesOn: () => undefined,
  keepOutput: async () => '',
  keptOutput: async () => undefined,
  lastSeen: async () => undefined,
  ask: () => Promise.reject(new Error('Nobody is asked.')),
});

export function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}
