import { extname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { type LocalizedMessage, localizedCount, message } from '../../protocol/text/l10n.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { openFolderRoots, type WorkspaceRoot } from '../core/workspace.ts';
import { maxFrontmatterBytes, parseYaml } from '../core/yaml.ts';
import { isNamedRoot, resolvePath } from '../sandbox/paths.ts';
import {
  type FoundInstructionFile,
  type InstructionLookup,
  instructionFilesBelow,
  readInstructionFile,
} from './files.ts';
import { splitFrontmatter } from './header.ts';
import { parseGlobList } from './instructions.ts';

/**
 * Instruction of another agent and the new file that replaces it. Paths are in the form of the tools; `becomes` is a short description for
 * the user.
 */
interface ForeignInstructions {
  from: string;
  to: string;
  text: string;
  becomes: LocalizedMessage;
}

interface Rule {
  always?: boolean;
  globs?: string;
  description?: string;
}

const always = (): Rule => ({ always: true });
const isTrue = (text: string | undefined) => text === 'true';

const locations: readonly [path: string, rule: (head: Record<string, string>) => Rule][] = [
  [
    '.cursor/rules',
    ({ alwaysApply, globs, description }) => (isTrue(alwaysApply) ? { always: true } : { globs, description }),
  ],
  ['.cursorrules', always],
  ['.clinerules', ({ paths }) => (paths ? { globs: paths } : { always: true })],
  ['.roo/rules', always],
  ['.roorules', always],
  [
    '.continue/rules',
    ({ alwaysApply, globs, description }) =>
      isTrue(alwaysApply) || (!globs && alwaysApply === undefined) ? { always: true } : { globs, description },
  ],
  ['.continuerules', always],
  [
    '.windsurf/rules',
    ({ trigger, globs, description }) =>
      trigger === 'always_on'
        ? { always: true }
        : trigger === 'glob'
          ? { globs }
          : trigger === 'manual'
            ? {}
            : { description },
  ],
  ['.windsurfrules', always],
  ['.kilocode/rules', always],
  ['.junie/guidelines.md', always],
  ['GEMINI.md', always],
];

const isText = (file: string) => ['.md', '.mdc', '.txt', ''].includes(extname(file));

/** Finds instructions of other agents in the open folders that can become a file here. Never writes or throws. */
export async function findOtherAgentInstructions(looking: InstructionLookup): Promise<ForeignInstructions[]> {
  if (!looking.workspace.trusted) return [];
  const all = await Promise.all(openFolderRoots(looking.workspace.roots).map((root) => foreignIn(looking, root)));
  const taken = new Set<string>();
  return all.flat().map((one) => {
    const to = freeName(one.to, taken);
    taken.add(to);
    return { ...one, to };
  });
}

async function foreignIn(looking: InstructionLookup, root: WorkspaceRoot): Promise<ForeignInstructions[]> {
  const prefix = isNamedRoot(looking.workspace.roots, root) ? `${root.name}/` : '';
  const rules: ForeignInstructions[] = [];
  for (const [location, ruleOf] of locations)
    for (const file of await filesAt(looking, join(root.path, location))) {
      const found = isText(file) ? await readInstructionFile(looking, file) : undefined;
      if (!found || found.text.trim() === '') continue;
      const { head, body } = splitFrontmatter(found.text);
      const below = relative(join(root.path, location), file); // '' for the file itself
      rules.push(asFile(found, body, ruleOf(head), slug(`${agentOf(location)}-${below}`), prefix));
    }
  return [...rules, ...(await modesIn(looking, root, prefix))];
}

async function filesAt(looking: InstructionLookup, path: string): Promise<string[]> {
  const resolved = await resolvePath(looking.workspace.roots, path, 'search').catch(() => undefined);
  if (!resolved) return [];
  return resolved.kind === 'folder' ? instructionFilesBelow(looking, path) : [path];
}

const agentOf = (location: string) => /^\.?([a-z]+?)(rules)?(\/|\.|$)/i.exec(location)?.[1]?.toLowerCase() ?? 'other';

const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/\.(md|mdc|txt)$/, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '');

function asFile(
  { path }: FoundInstructionFile,
  body: string,
  rule: Rule,
  name: string,
  prefix: string,
): ForeignInstructions {
  const globs = parseGlobList(rule.globs ?? '').join(',');
  const file = (to: string, head: Record<string, string>, becomes: LocalizedMessage): ForeignInstructions => ({
    from: path,
    to: `${prefix}${to}`,
    text: `---\n${stringify(head, { lineWidth: 0 })}---\n\n${body.trim()}\n`,
    becomes,
  });
  const instructions = `.github/instructions/${name}.instructions.md`;
  if (rule.always) return file(instructions, { applyTo: '**' }, message('sent with every prompt'));
  if (globs !== '')
    return file(
      instructions,
      { applyTo: globs },
      message('sent for {0}', truncateWithEllipsis(escapeInvisibleInLine(globs), 60)),
    );
  const { description = '' } = rule;
  if (description.trim() !== '')
    return file(
      `.agents/skills/${name}/SKILL.md`,
      { name, description: description.trim() },
      message('a skill, read when mentioned'),
    );
  return file(instructions, { description: `From ${path}` }, message('only when mentioned with @'));
}

// Converts Roo's modes to agents: role and working style, but no tool permissions.
async function modesIn(
  looking: InstructionLookup,
  root: WorkspaceRoot,
  prefix: string,
): Promise<ForeignInstructions[]> {
  const found = await readInstructionFile(looking, join(root.path, '.roomodes'));
  if (!found) return [];
  const agents: ForeignInstructions[] = [];
  for (const mode of modesOf(found.text).slice(0, 50)) {
    const name = slug(String(mode.slug ?? mode.name ?? ''));
    const more: string[] = [];
    for (const file of await filesAt(looking, join(root.path, '.roo', `rules-${name}`))) {
      const rule = isText(file) ? await readInstructionFile(looking, file) : undefined;
      if (rule) more.push(rule.text.trim());
    }
    const texts = [mode.roleDefinition, mode.customInstructions].filter(
      (one): one is string => typeof one === 'string',
    );
    const instructions = [...texts, ...more]
      .map((one) => one.trim())
      .filter(Boolean)
      .join('\n\n');
    if (name === '' || instructions === '') continue;
    const head = typeof mode.description === 'string' ? { description: mode.description } : {};

    agents.push({
      from: found.path,
      to: `${prefix}.towpath/agents/${name}.yaml`,
      text: stringify(
        { name: typeof mode.name === 'string' ? mode.name : name, ...head, instructions },
        { lineWidth: 0 },
      ),
      becomes:
        more.length > 0
          ? message(
              'an agent, with {0} of its rules; its auto-approved tools are not imported',
              localizedCount(more.length, 'file'),
            )
          : message('an agent; its auto-approved tools are not imported'),
    });
  }
  return agents;
}

function modesOf(text: string): Record<string, unknown>[] {
  const { document } = parseYaml(text, { uniqueKeys: true }, maxFrontmatterBytes);
  if (!document || document.errors.length > 0) return [];
  try {
    const { customModes } = (document.toJS({ maxAliasCount: 0 }) ?? {}) as { customModes?: unknown };
    return Array.isArray(customModes) ? customModes.filter((one) => typeof one === 'object' && one !== null) : [];
  } catch {
    return [];
  }
}

function freeName(path: string, taken: ReadonlySet<string>): string {
  for (let at = 1; ; at++) {
    const [, before, name, after] = /^(.*\/)?([^/.][^/]*?)((?:\/SKILL)?\.[^/]*)$/.exec(path) ?? [];
    const one = at === 1 ? path : `${before ?? ''}${name}-${at}${after}`;
    if (!taken.has(one)) return one;
  }
}
