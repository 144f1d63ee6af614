import { escapeInvisibleInLine, escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { textHead, truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { jsonTooLargeReason, maxJsonBytes } from '../../tools/core/parseLimits.ts';
import { type AgentAccess, readAgentAccess } from './agentAccess.ts';
import { parseAgentHeader } from './agentHeader.ts';
import { type AgentFormat, agentNameOfFile } from './agentLocations.ts';

/**
 * Agent of a Markdown file of the repository, as plain data. `models`: names in the notation of the file, in the order of preference.
 * `notes`: what the file asks for and does not get.
 */
export interface RepositoryAgent extends Pick<AgentAccess, 'tools' | 'isReadOnly' | 'asks' | 'unknownTools' | 'notes'> {
  name: string;
  description: string;
  instructions: string;
  models: string[];
  temperature?: number;
  maxTurns?: number;
}

export type RepositoryAgentResult =
  | { agent: RepositoryAgent; problem?: undefined }
  | { agent?: undefined; problem: LocalizableText };

const [longestName, longestDescription, longestInstructions, maxNames] = [64, 240, 64_000, 40];

/** Keys with an effect in other programs that would act without the gate, or that Towpath has no counterpart for. */
const unusedKeys = ['mcp-servers', 'mcpServers', 'hooks', 'handoffs', 'skills', 'memory', 'isolation', 'background'];

/** Reads an agent of a Markdown file of strangers. Never throws: a file that cannot be used has a `problem`. */
export function parseAgentMarkdown(text: string, path: string, format: AgentFormat): RepositoryAgentResult {
  if (text.length > maxJsonBytes) return { problem: jsonTooLargeReason };
  const { values, isLoose, unclear, body } = parseAgentHeader(text);
  if (unclear !== undefined)
    return { problem: message('The front matter is no valid YAML, and its key {0} cannot be read.', unclear) };
  const header = values ?? {};
  const instructions = escapeInvisibleProse(body.trim());
  if (instructions === '') return { problem: message('It has no instructions below its front matter.') };
  if (header.disable === true || header.disabled === true) return { problem: message('Its file disables it.') };
  const access = readAgentAccess(header, format);
  const notes: LocalizableText[] = [
    ...(values ? [] : [message('It has no front matter: its whole text is its instructions.')]),
    ...(isLoose ? [message('Its front matter is no valid YAML and was read line by line.')] : []),
    ...(instructions.length > longestInstructions ? [message('Its instructions are cut to 64,000 characters.')] : []),
    ...access.notes.slice(0, maxNames),
    ...unusedNotes(header),
  ];
  const { temperature, maxTurns = header.steps ?? header.maxSteps } = header;
  return {
    agent: {
      name: line(header.name, longestName) || line(agentNameOfFile(path), longestName),
      description: line(header.description, longestDescription),
      instructions: textHead(instructions, longestInstructions),
      ...access,
      unknownTools: [...new Set(access.unknownTools)].slice(0, maxNames).map((name) => line(name, longestName)),
      notes,
      models: modelsOf(header.model),
      ...(isNumberIn(temperature, 0, 2) && { temperature }),
      ...(isNumberIn(maxTurns, 1, 500) && { maxTurns: Math.floor(maxTurns) }),
    },
  };
}

function unusedNotes(header: Readonly<Record<string, unknown>>): LocalizableText[] {
  const keys = unusedKeys.filter((key) => Boolean(header[key]));
  return keys.length === 0 ? [] : [message('Not used: {0}.', keys.join(', '))];
}

/** Names of models; `inherit` is the selected one. A variant (`#high`) or a provider of VS Code in parentheses is no part of the name. */
function modelsOf(value: unknown): string[] {
  const names = Array.isArray(value) ? value : [value];
  return names.slice(0, maxNames).flatMap((name) => {
    if (typeof name !== 'string') return [];
    const plain = line(name.replace(/\s*\([\w-]+\)\s*$/, '').replace(/#[\w-]*$/, ''), longestName);
    return plain === '' || plain === 'inherit' ? [] : [plain];
  });
}

const line = (value: unknown, most: number): string =>
  typeof value === 'string' || typeof value === 'number'
    ? truncateWithEllipsis(escapeInvisibleInLine(String(value).trim().replace(/\s+/g, ' ')), most)
    : '';

const isNumberIn = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;
