import * as vscode from 'vscode';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message, t } from '../../protocol/text/l10n.ts';
import { localize } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import type { AgentAbility } from '../../workflows/agents/agentAbilities.ts';
import { describeModelUse } from '../providers/modelConsent.ts';
import type { AgentDefinition, LoadedAgent } from './loadedAgent.ts';

const abilityTexts = {
  read: 'read and search',
  change: 'change files',
  run: 'run commands',
  web: 'open web pages',
  mcp: 'use MCP servers',
} as const satisfies Record<AgentAbility, string>;
const [maxNotes, longestNote] = [6, 200];

/** Returns the short form of an agent's access for a list. */
function agentAccessLabel({ abilities }: Pick<AgentDefinition, 'abilities'>): string {
  if (abilities.length === 0) return t('no tools');
  const [changes, runs] = [abilities.includes('change'), abilities.includes('run')];
  if (changes && runs) return t('edits and runs commands, with approval');
  if (changes) return t('edits, with approval');
  if (runs) return t('runs commands, with approval');
  return abilities.some((ability) => ability !== 'read') ? t('changes no files') : t('read-only');
}

/** Returns the detail of the consent dialog: access, model, what the file does not get, and its path. */
export function agentConsentDetail({ id, definition }: LoadedAgent & { definition: AgentDefinition }): string {
  const { abilities, asks, unknownTools, notes, model, unavailableModel } = definition;
  const list = abilities.map((ability) => t(abilityTexts[ability])).join(', ');
  const isReadOnly = abilities.every((ability) => ability === 'read');
  const can =
    list === ''
      ? t('It can use no tools. Its instructions are sent to the model.')
      : t('It can {0}. Its instructions are sent to the model.', list);
  const limits = asks ? t('It asks before each call.') : isReadOnly ? '' : t('Your rules and approvals apply to it.');
  const unavailable =
    unavailableModel !== undefined &&
    t('It names the model {0}, which is not set up here. It uses the model that you selected.', unavailableModel);
  const names = truncateWithEllipsis(unknownTools.join(', '), longestNote);
  return [
    [can, limits].filter(Boolean).join(' '),
    model !== undefined ? describeModelUse(model) : unavailable,
    names && t('It does not get these unknown tools: {0}', names),
    ...notes.slice(0, maxNotes).map((note) => truncateWithEllipsis(localize(note), longestNote)),
    escapeInvisibleInLine(id),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Returns the row of an agent in a list: name, access, path and description. */
export function agentItem({ id, name, description, definition, problem }: LoadedAgent): vscode.QuickPickItem {
  const access = definition ? agentAccessLabel(definition) : `$(error) ${t('cannot be used')}`;
  const detail = problem ? localize(problem) : description;
  return { label: name, description: `${access} · ${id}`, ...(detail && { detail }) };
}

/** Returns the displayed form of a file that the user agreed to. */
export const describeAgentFile = (uri: string): string =>
  escapeInvisibleInLine(vscode.workspace.asRelativePath(vscode.Uri.parse(uri)));

export const untrustedAgentsMessage = message(
  'This workspace is not trusted, so its agents are not read. Trust it first (Manage Workspace Trust).',
);
