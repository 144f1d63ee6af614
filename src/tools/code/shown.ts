import { realpath } from 'node:fs/promises';
import { escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import { ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { realOrVirtualRelativePath } from '../sandbox/resolveReadPath.ts';
import { secretContentReason } from '../sandbox/secretContent.ts';

// Milliseconds to wait for a language server.
const patience = 20_000;

/** Displayed form of a file from a language server: the workspace path, or the mark of an outside or secret file. */
export interface DisplayedCodeFile {
  path: string;
  outside?: true;
  secret?: true;
}

/** Returns a classifier of files with a cache. `isExcluded` marks files excluded from searches by rules; they are treated like secrets. */
export function createFileVisibilityClassifier(
  workspace: Workspace,
  isExcluded: (path: string) => boolean = () => false,
): (path: string | undefined, name: string) => Promise<DisplayedCodeFile> {
  const known = new Map<string, Promise<DisplayedCodeFile>>();
  const decide = async (path: string, name: string): Promise<DisplayedCodeFile> => {
    const real = await realpath(path).catch(() => path);
    const relative = await realOrVirtualRelativePath(workspace, real);
    if (relative === undefined) return { path: name, outside: true };
    const spelled = await realOrVirtualRelativePath(workspace, path);
    const names = [relative, spelled ?? relative];
    const secret =
      names.some((one) => isExcluded(one) || secretFileReason(one.split('/'))) ||
      (await secretContentReason(real)) !== undefined;
    return { path: relative, ...(secret && { secret }) };
  };
  return (path, name) => {
    if (path === undefined) return Promise.resolve({ path: name, outside: true as const });
    const found = known.get(path) ?? decide(path, name);
    known.set(path, found);
    return found;
  };
}

/** Returns the server's answer. Throws `TOOL_TIMEOUT` without an answer, and `TOOL_EXEC_FAILED` without a server. */
export async function withLanguageServerTimeout<Value>(answer: Promise<Value | undefined>, of: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The language server did not give ${of} within ${patience / 1000} s. Use fs.search.`;
    timer = setTimeout(() => reject(new ToolError('TOOL_TIMEOUT', message)), patience);
  });
  try {
    const value = await Promise.race([answer, late]);
    if (value !== undefined) return value;
    throw new ToolError('TOOL_EXEC_FAILED', `No language server of the editor gives ${of} here. Use fs.search.`);
  } finally {
    clearTimeout(timer);
  }
}

interface FileLines {
  path: string;
  outside?: true;
  lines: string[];
}

export class LinesByFile {
  readonly files: FileLines[] = [];
  private count = 0;
  private characters = 0;
  left = 0;

  constructor(
    private readonly mostLines = 200,
    private readonly mostCharacters = 30_000,
  ) {}

  add({ path, outside }: DisplayedCodeFile, line: string): void {
    if (this.count >= this.mostLines || this.characters > this.mostCharacters) {
      this.left += 1;
      return;
    }
    let file = this.files.find((one) => one.path === path && one.outside === outside);
    if (!file) {
      file = { path, ...(outside && { outside }), lines: [] };
      this.files.push(file);
    }
    const short = escapeInvisibleProse(shortenText(line, 400));
    file.lines.push(short);
    this.count += 1;
    this.characters += short.length;
  }
}
