import { maxJsonBytes, parseLimitedJson } from '../../core/parseLimits.ts';
import type { WorkspaceRoot } from '../../core/workspace.ts';
import { resolvePath } from '../../sandbox/paths.ts';
import { readRegularFile } from '../../sandbox/regularFile.ts';
import { expandWord } from '../../shellSyntax/expandWord.ts';

const maxPackages = 40;
const maxPatterns = 200;
const maxSolutions = 5;

/**
 * Returns the packages declared by the project in the open folder (npm, pnpm, Cargo, Go, uv, Maven, Gradle, .NET solutions) as
 * workspace-relative folders, the root (`.`) first. Undeclared folders do not count.
 */
export async function findProjectPackages(roots: readonly WorkspaceRoot[]): Promise<string[]> {
  const [root] = roots;
  const patterns = (
    await Promise.all((await manifestsOf(root!)).map(({ file, read }) => textOf(roots, file).then(read)))
  ).flat();
  const found = new Set(['.']);
  for (const pattern of patterns.slice(0, maxPatterns)) {
    if (!/^[\w.@*/-]+$/.test(pattern) || pattern.includes('..')) continue;
    const folders = (await expandWord(pattern.replace(/^\.\//, '').replace(/\/+$/, ''), root!.path)) ?? [];
    for (const folder of folders) {
      const resolved = await resolvePath(roots, folder, 'list').catch(() => undefined);
      if (resolved?.kind === 'folder' && found.size < maxPackages) found.add(resolved.relative);
    }
  }
  return [...found];
}

const manifests: { file: string; read(text: string): string[] }[] = [
  { file: 'package.json', read: (text) => inJson(text) },
  { file: 'pnpm-workspace.yaml', read: (text) => listedIn(text, 'packages') },
  { file: 'Cargo.toml', read: (text) => quotedIn(between(text, /^[ \t]*members[ \t]*=[ \t\r\n]*\[/m, ']')) },
  {
    file: 'pyproject.toml',
    read: (text) =>
      quotedIn(between(between(text, /^\[tool\.uv\.workspace\]/m, '\n['), /^[ \t]*members[ \t]*=[ \t\r\n]*\[/m, ']')),
  },
  {
    file: 'pom.xml',
    read: (text) => [...text.matchAll(/<module>\s*([^<>\s]+)\s*<\/module>/g)].map(([, name]) => name!),
  },
  ...['settings.gradle', 'settings.gradle.kts'].map((file) => ({ file, read: included })),
  {
    file: 'go.work',
    read: (text) =>
      between(text, /^use[ \t]*\(/m, ')')
        .split(/\s+/)
        .filter(Boolean),
  },
];

async function manifestsOf({ path }: WorkspaceRoot): Promise<typeof manifests> {
  const solutions = ((await expandWord('*.{sln,slnx}', path)) ?? []).filter((name) => !name.includes('*'));
  return [...manifests, ...solutions.slice(0, maxSolutions).map((file) => ({ file, read: projectsOf }))];
}

const projectsOf = (text: string): string[] =>
  quotedIn(text)
    .filter((name) => /\.(cs|fs|vb)proj$/.test(name) && /[\\/]/.test(name))
    .map((name) => name.replaceAll('\\', '/').replace(/\/[^/]*$/, ''));

function included(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => /^\s*(include\b|["'])/.test(line))
    .flatMap(quotedIn)
    .map((name) => name.replace(/^:/, '').replaceAll(':', '/'));
}

function between(text: string, begins: RegExp, ends: string): string {
  const found = begins.exec(text);
  const start = (found?.index ?? 0) + (found?.[0].length ?? 0);
  const end = found ? text.indexOf(ends, start) : -1;
  return end < 0 ? '' : text.slice(start, end);
}

function inJson(text: string): string[] {
  return tried(() => {
    const { workspaces } = parseLimitedJson(text) as { workspaces?: unknown };
    return strings(
      Array.isArray(workspaces) ? workspaces : (workspaces as { packages?: unknown } | undefined)?.packages,
    );
  });
}

/**
 * Returns the list below a YAML key in the usual forms: one item per line, or one line with brackets. Parsed line by line because a YAML
 * parser would block the thread too long; other forms yield no packages.
 */
function listedIn(text: string, key: string): string[] {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (start < 0) return [];
  const inline = lines[start]!.slice(key.length + 1)
    .replace(/(^|\s)#.*$/, '')
    .trim();
  if (inline !== '')
    return inline.startsWith('[') && inline.endsWith(']') ? inline.slice(1, -1).split(',').map(bare) : [];
  const items: string[] = [];
  for (const line of lines.slice(start + 1)) {
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1];
    if (item === undefined && !/^\s*(#|$)/.test(line)) break;
    if (item !== undefined) items.push(bare(item));
  }
  return items;
}

const bare = (written: string): string => /^\s*(["']?)([^"'#]*)\1\s*(#.*)?$/.exec(written)?.[2]?.trim() ?? '';

const quotedIn = (text: string): string[] => [...text.matchAll(/["']([^"']+)["']/g)].map(([, inside]) => inside!);
const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

function tried(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return []; // an unreadable manifest declares no packages
  }
}

async function textOf(roots: readonly WorkspaceRoot[], file: string): Promise<string> {
  const resolved = await resolvePath(roots, file, 'read').catch(() => undefined);
  if (!resolved) return '';
  return readRegularFile(resolved.path, maxJsonBytes).then(String, () => '');
}
