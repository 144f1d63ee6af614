import { posix } from 'node:path';
import { estimateTokenCount } from 'tokenx';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';

export interface Skill {
  name: string;
  path: string;
  description: string;
}

// Lengths of descriptions in characters, tried in order.
const descriptionLengths = [120, 60, 30];

export const formatSkillList = (skills: readonly Skill[]): string =>
  skills.map(({ name, path, description }) => `- ${name} (${path})${description && `: ${description}`}`).join('\n');

const readSkillList = (list: string): Skill[] =>
  list.split('\n').flatMap((line) => {
    const [, name, path, description = ''] = /^- (.*?) \((.*?\/SKILL\.md)\)(?:: (.*))?$/.exec(line) ?? [];
    return name === undefined || path === undefined ? [] : [{ name, path, description }];
  });

/**
 * Shortens a list of skills to `maxTokens` by shortening descriptions; if impossible, lists names by folder within `maxNameTokens` and
 * counts the omitted names.
 */
export function shortenSkillList(list: string, maxTokens: number, maxNameTokens: number): string {
  const skills = readSkillList(list);
  for (const length of descriptionLengths) {
    const short = skills.map((one) => ({ ...one, description: truncateWithEllipsis(one.description, length) }));
    const text = formatSkillList(short);
    if (estimateTokenCount(text) <= maxTokens) return text;
  }
  let fits = skills.length;
  while (fits > 0 && estimateTokenCount(namesByFolder(skills, fits)) > maxNameTokens) fits -= 1;
  return namesByFolder(skills, fits);
}

function namesByFolder(skills: readonly Skill[], fits: number): string {
  const located = skills.map(({ path }) => ({
    folder: posix.dirname(posix.dirname(path)),
    name: posix.basename(posix.dirname(path)),
  }));
  let left = fits;
  const lines = [...new Set(located.map(({ folder }) => folder))].map((folder) => {
    const names = located.filter((one) => one.folder === folder).map(({ name }) => name);
    const fitting = names.slice(0, left);
    left -= fitting.length;
    const more = names.length - fitting.length;
    return `- ${folder}/<name>/SKILL.md: ${[...fitting, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
  });
  return lines.join('\n');
}
