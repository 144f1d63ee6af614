import { posix } from 'node:path';
import { escapeInvisibleInLine, escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { splitFrontmatter } from '../instructions/header.ts';

const ending = '.prompt.md';
const longestDescription = 200;

interface PromptFile {
  description: string;
  body: string;
  inputs: { name: string; asks: string }[];
}

export const isPromptFile = (path: string): boolean => path.endsWith(ending);

export const promptName = (path: string): string => posix.basename(path, ending);

export function parsePromptFile(text: string): PromptFile {
  const { head, body } = splitFrontmatter(escapeInvisibleProse(text));
  const inputs = new Map<string, string>();
  for (const [, name, asks] of body.matchAll(input)) if (!inputs.has(name!)) inputs.set(name!, asks || name!);
  return {
    description: truncateWithEllipsis(escapeInvisibleInLine(head.description ?? ''), longestDescription),
    body: body.trim(),
    inputs: [...inputs].map(([name, asks]) => ({ name, asks: escapeInvisibleInLine(asks) })),
  };
}

const input = /\$\{input:([\w-]+)(?::([^}\n]*))?\}/g;

/**
 * Returns the prompt with values inserted, or (without variables) with the user's text appended. `file` is the active file. `names` are
 * files mentioned by a link or `#file:`, relative to the prompt's folder or to the workspace.
 */
export function fillPromptFile(
  { body, inputs }: PromptFile,
  {
    values,
    typedText,
    file,
  }: { values: Readonly<Record<string, string>>; typedText: string; file?: string | undefined },
): { text: string; namesSelection: boolean; names: string[] } {
  const variables: Record<string, string> = {
    selection: '@selection',
    selectedText: '@selection',
    workspaceFolder: '.',
    ...(file !== undefined && { file: `@${file}`, relativeFile: `@${file}` }),
  };
  const put = (whole: string, name: string) => (Object.hasOwn(variables, name) ? variables[name]! : whole);
  const names = [...body.matchAll(/\]\(<?([^)\s>#:]+)>?\)|#file:([^\s)]*[^\s).,;:])/g)].map(
    ([, link, named]) => link ?? named!,
  );
  const filled = body.replace(/\$\{(\w+)\}/g, put).replace(input, (_, name: string) => values[name] ?? '');
  const text = inputs.length === 0 && typedText !== '' ? `${filled}\n\n${typedText}` : filled;
  return { text, namesSelection: text.includes('@selection'), names: [...new Set(names)] };
}

export function resolvePromptFileReference(
  name: string,
  from: string,
  exists: (path: string) => boolean,
): string | undefined {
  const candidates = [posix.join(posix.dirname(from), name), posix.normalize(name)];
  return candidates.find((candidate) => !candidate.startsWith('..') && exists(candidate));
}
