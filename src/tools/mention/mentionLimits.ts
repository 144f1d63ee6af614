import type { MentionRecord } from '../../protocol/content/mention.ts';
import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import { type LocalizedMessage, message, toEnglishText } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import type { LanguageService } from '../code/language.ts';
import { type Tool, type ToolContext, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { decidePlannedCallByPolicy } from '../host/policySubject.ts';
import { createSearchExclusionPredicate } from '../policy/policy.ts';

export interface MentionContext {
  workspace: Workspace;
  language: LanguageService;
  policy: ApprovalPolicy;
  /** Returns uncommitted changes within a number of characters, of one file if `path` is present. Throws an `Error` with a sentence. */
  changes(
    characters: number,
    signal: AbortSignal,
    path?: string,
  ): Promise<{ text: string; note: LocalizableText; why?: LocalizableText }>;
  /** Returns the last command of the active terminal with its output. Throws like `changes`. */
  terminal(): Promise<{ name: string; text: string }>;
  signal: AbortSignal;
}

/** Resolved mention. `text` is data inside of a fence that the text cannot close. */
export interface ResolvedMention {
  name: string;
  text: string;
  mention: Omit<MentionRecord, 'kind'>;
}

export interface MentionedFileText {
  path: string;
  text: string;
  endLine: number;
  totalLines: number;
  note?: string;
}

/** Returns the whole lines within a limit; a single line above the limit is cut. */
export function truncateToWholeLines(text: string, most: number, endLine: number): { short: string; lines: number } {
  if (text.length <= most) return { short: text, lines: endLine };
  const end = text.lastIndexOf('\n', most);
  const short = text.slice(0, end > 0 ? end : most);
  return { short, lines: short.split('\n').length };
}

export class ReadNotAllowedError extends ToolError {
  constructor(
    readonly inShort: LocalizedMessage,
    why: string,
  ) {
    super('TOOL_DENIED', why);
  }
}

export async function runAllowedReadTool(tool: Tool, args: unknown, reading: MentionContext): Promise<unknown> {
  await checkReadAllowed(tool, args, reading);
  return tool.run!(args, quiet(reading));
}

/** Throws if a call of the tool would be denied or need an approval. */
export async function checkReadAllowed(tool: Tool, args: unknown, reading: MentionContext): Promise<void> {
  const { policy, workspace } = reading;
  const plan = await tool.plan?.(args, quiet(reading));
  const { effect, byRule, reason } = await decidePlannedCallByPolicy(
    { tool, args, plan },
    policy,
    { grants: new Set() },
    workspace,
  );
  if (effect === 'deny') throw new ReadNotAllowedError(message('denied'), reason);
  if (plan) throw new ReadNotAllowedError(message('needs approval'), toEnglishText(plan.why));
  // A mention counts as approval for general reasons, but not against a rule for this very file.
  if (effect === 'ask' && byRule) throw new ReadNotAllowedError(message('needs approval'), reason);
}

const quiet = ({ workspace, policy, signal }: MentionContext): ToolContext => ({
  runId: '',
  toolCallId: '',
  workspace,
  signal,
  searchExclusionTest: (folder) => createSearchExclusionPredicate(policy, folder),
  allowedFolders: () => [],
  output: () => undefined,
  leaves: async () => undefined,
  commandStarted: () => undefined,
  commandGoesOn: () => undefined,
  keepOutput: async () => '',
  storedOutput: async () => undefined,
  lastSeen: async () => undefined,
  ask: () => Promise.reject(new Error('Nobody is asked.')),
  delegate: () => Promise.reject(new Error('No task is given.')),
  requestAccess: async () => false,
});

export function wrapInCodeFence(text: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}
