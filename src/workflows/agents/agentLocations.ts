/** Format of an agent file: the folder decides, because the same key has another meaning in each. */
export type AgentFormat = 'github' | 'claude' | 'opencode';

const folders: readonly [folder: string, format: AgentFormat][] = [
  ['.github/agents', 'github'],
  ['.claude/agents', 'claude'],
  ['.opencode/agent', 'opencode'],
  ['.opencode/agents', 'opencode'],
];

/** Folders of agents as Markdown files, relative to an open folder. */
export const agentFolders: readonly string[] = folders.map(([folder]) => folder);

/** Returns the format of an agent file by its path in an open folder; undefined for other files, a `README.md` included. */
export function agentFormatOf(relativePath: string): AgentFormat | undefined {
  const at = relativePath.lastIndexOf('/');
  const name = relativePath.slice(at + 1);
  if (!/.\.md$/i.test(name) || /^readme\.md$/i.test(name)) return undefined;
  return folders.find(([folder]) => folder === relativePath.slice(0, at))?.[1];
}

/** Returns the name of an agent whose file has none: `reviewer` for `reviewer.agent.md`. */
export const agentNameOfFile = (path: string): string =>
  path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.md$/i, '')
    .replace(/\.(agent|chatmode)$/i, '');
