import { createSideEffectTool, ToolError } from '../core/tool.ts';
import { fsWriteDefinition } from '../definitions/fileTools.ts';
import { rejectOmittedCodePlaceholders } from '../edit/placeholder.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { checkHash, findChangeTarget, planTextChange } from './planChange.ts';

const maximumWrite = 5_000_000;

/** `fs.write`: creates a file, or replaces its whole text. Data: `{ path, sha256, created, added, removed }`. */
export const fsWriteTool = createSideEffectTool(
  fsWriteDefinition,
  'change',
  async ({ path, content, ifMatchSha256 }, { workspace }) => {
    await resolvePath(workspace.roots, path, 'write'); // a refused path is the first thing to report
    if (content.length > maximumWrite)
      throw new ToolError('E_WRITE_LIMIT', 'The content is longer than 5,000,000 characters. Write it in parts.');
    const target = await findChangeTarget(workspace, path);
    checkHash(target, ifMatchSha256);
    rejectOmittedCodePlaceholders(content, target.before);
    const after = asTheFileHasIt(content, target.before);
    return planTextChange(workspace, target, after, 'fs.write', { created: target.before === null });
  },
);

// Preserves Windows line endings. The byte order mark belongs to the encoding, not to the text.
function asTheFileHasIt(content: string, before: string | null): string {
  const text = content.replace(/^\ufeff/, '');
  const windows = before?.includes('\r\n') && !/(^|[^\r])\n/.test(before);
  return windows ? text.replaceAll(/\r\n|\n/g, '\r\n') : text;
}
