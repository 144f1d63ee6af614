import { normalizeServerEntry } from './serverEntry.ts';

/** Short name of a server from its package, image, script or host: `@modelcontextprotocol/server-memory` becomes `memory`. */
export function proposedServerName(entry: Record<string, unknown>): string {
  const server = normalizeServerEntry(entry, false)?.server;
  if (!server) return 'server';
  if (typeof server.url === 'string') return nameOfHost(server.url);
  const words = [server.command, ...(Array.isArray(server.args) ? server.args : [])].map(String);
  const remote = words.find((word) => /^https?:\/\//i.test(word) && words.some((one) => /mcp-remote/.test(one)));
  if (remote !== undefined) return nameOfHost(remote);
  const names = programWords(words)
    .map(shortName)
    .filter((name) => name !== '');
  return names[0] ?? 'server';
}

/** Returns an unused name: `memory`, `memory-2`, … */
export function uniqueServerName(name: string, used: ReadonlySet<string>): string {
  let unique = name;
  for (let count = 2; used.has(unique); count++) unique = `${name}-${count}`;
  return unique;
}

const runners =
  /^(?:npx|npm|pnpm|pnpx|yarn|bunx?|deno|node|tsx|ts-node|uvx?|pipx|python[\d.]*|py|docker|podman|cmd|sh|bash|dotnet|java|go|cargo|php|ruby)$/i;
const verbs = /^(?:exec|run|dlx|x|tool|create|start|-m|-jar|\/c)$/i;
/** Options of runners that take the next word. */
const valued =
  /^(?:-p|--package|--from|--with|--python|--directory|--project|-e|--env|--env-file|-v|--volume|--mount|--name|--network|-w|--workdir|--entrypoint|-u|--user)$/;

/** Words that may name the program, the most telling first. */
function programWords(words: readonly string[]): string[] {
  const isProgramRunner = runners.test(baseName(words[0] ?? ''));
  if (!isProgramRunner) return words.slice(0, 1);
  const found: string[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    if (/^(?:-p|--package|--from)$/.test(word) && words[at + 1] !== undefined) found.push(words[at + 1]!);
    if (valued.test(word)) at += 1;
    else if (word.startsWith('-') || verbs.test(word) || runners.test(baseName(word))) continue;
    else return [word, ...found];
  }
  return [...found, words[0]!];
}

const baseName = (word: string): string => word.replace(/^.*[\\/]/, '').replace(/\.(?:exe|cmd|bat)$/i, '');

const noise =
  /^(?:mcp|server|servers|modelcontextprotocol|stdio|cli|index|main|dist|build|src|bin|out|lib|latest|npm|js|ts|py)$/i;

function shortName(word: string): string {
  const plain = word.replace(/^(?:git\+)?https?:\/\/[^/]+/, '').replace(/\.git(?:@.*)?$/, '');
  const withoutVersion = plain
    .replace(/(?!^)@[^/]*$/, '')
    .replace(/(\/[^/:]+):[\w.-]+$/, '$1')
    .replace(/[=~<>]=.*$/, '');
  const parts = withoutVersion
    .split(/[\\/]/)
    .map((part) => part.replace(/^@/, '').replace(/\.(?:[cm]?[jt]s|py|exe|cmd|bat|jar|sh)$/i, ''))
    .filter((part) => part !== '' && !/^(?:\.{1,2}|[A-Za-z]:|\$\{.*\}|~)$/.test(part));
  const short = parts.map((part) =>
    part
      .split(/[-_.]/)
      .filter((one) => one !== '' && !noise.test(one))
      .join('-'),
  );
  return cleaned(short.findLast((part) => part !== '') ?? '');
}

function nameOfHost(url: string): string {
  if (!URL.canParse(url)) return 'server';
  const labels = new URL(url).hostname.split('.');
  if (/^[\d.]+$|:/.test(labels.join('.'))) return 'local';
  const own = labels.slice(0, -1).filter((label) => !/^(?:mcp|api|www|app|server|sse)$/i.test(label));
  return cleaned(own.at(-1) ?? labels[0]!) || 'server';
}

const cleaned = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
