import { mapLimit } from '../../protocol/values/concurrency.ts';
import type { Workspace } from '../../tools/core/workspace.ts';
import { resolvePathForReading } from '../../tools/sandbox/resolveReadPath.ts';
import type { ReviewFinding } from '../../workflows/agents/reviewFindings.ts';

/**
 * Finding at an existing file of the workspace. `file` is its absolute path, or its URI in a virtual workspace; `path` begins with the name of
 * the folder if several are open. Lines are lines of the file as it is now.
 */
export interface LocatedFinding extends ReviewFinding {
  file: string;
}

/** Places findings at files of the open folders. Those of other paths, folders and missing files are omitted. */
export async function locateFindings(
  findings: readonly ReviewFinding[],
  workspace: Pick<Workspace, 'roots' | 'virtual'>,
  lineCount: (file: string) => Promise<number>,
): Promise<LocatedFinding[]> {
  const paths = [...new Set(findings.map(({ path }) => path))];
  const located = await mapLimit(paths, 4, async (path) => {
    try {
      const found = await resolvePathForReading(workspace, path, 'read');
      if (found.kind !== 'file' || found.mount !== undefined) return undefined;
      return { file: found.path, path: found.relative, lines: await lineCount(found.path) };
    } catch {
      return undefined; // outside of the workspace, missing, or no text
    }
  });
  const byPath = new Map(paths.map((path, index) => [path, located[index]]));
  return findings.flatMap(({ line, endLine, ...finding }) => {
    const found = byPath.get(finding.path);
    if (!found) return [];
    const { file, path, lines } = found;
    const within = (one: number) => Math.min(one, Math.max(1, lines));
    const at = line === undefined ? {} : { line: within(line) };
    return [{ ...finding, file, path, ...at, ...(endLine !== undefined && { endLine: within(endLine) }) }];
  });
}
