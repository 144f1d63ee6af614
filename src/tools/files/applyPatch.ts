import { quoteForMessage } from '../core/pathSyntax.ts';
import { createSideEffectTool, type TextSeenByModel, type Tool, type ToolCallPlan, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { fsApplyPatchDefinition } from '../definitions/fileTools.ts';
import { applyPatch, type FilePatch, hunksWithChanges, hunkToEdit, parseSingleFilePatch } from '../edit/patch.ts';
import { rejectOmittedCodePlaceholders } from '../edit/placeholder.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { createEditError, ineffectiveEditsNote } from './editFailure.ts';
import { updateFrontmatter } from './frontmatter.ts';
import { type ChangeTarget, checkHash, findChangeTarget, findStaleSeenText, planTextChange } from './planChange.ts';

/**
 * `fs.apply_patch`: a unified diff of one file, or new values in its YAML frontmatter. Data: `{ path, sha256, matched, created, added,
 * removed }`; frontmatter omits `matched` and `created`. Throws `E_INVALID_FRONTMATTER` for invalid YAML.
 */
const tool = createSideEffectTool(
  fsApplyPatchDefinition,
  'change',
  async ({ path, patch, frontmatter, ifMatchSha256 }, { workspace, lastSeen }) => {
    if ((patch === undefined) === (frontmatter === undefined))
      throw new ToolError('TOOL_ARGS_INVALID', 'Give either patch or frontmatter.');
    const file = patch === undefined ? undefined : parseSingleFilePatch(patch);
    const target = await targetOf(workspace, path ?? file?.path, file);
    checkHash(target, ifMatchSha256);
    if (file) return planPatch(workspace, target, file, await findStaleSeenText(target, lastSeen));
    return planFrontmatter(workspace, target, frontmatter!);
  },
);

/**
 * Omitted for models with `fs.edit`, except in packages. Also accepts `{operation: "updateFrontmatter", update}`, the undocumented form in
 * packages of crewagent.
 */
export const applyPatchTool: Tool = {
  ...tool,
  definition: { ...tool.definition, within: 'fs.edit' },
  understands: ({ operation, update, ...rest }) =>
    operation === 'updateFrontmatter' && update !== undefined ? { ...rest, frontmatter: update } : undefined,
};

function planFrontmatter(workspace: Workspace, target: ChangeTarget, update: Record<string, unknown>): ToolCallPlan {
  if (Object.keys(update).length === 0) throw new ToolError('TOOL_ARGS_INVALID', 'frontmatter: give at least one key.');
  let drops: readonly string[] | undefined;
  const after = updateFrontmatter(target.before ?? '', (before) => {
    const merged = workspace.mergeFrontmatter?.(target.file.path, before, update);
    drops = merged?.drops;
    return merged?.values ?? update;
  });
  return planTextChange(workspace, target, after, 'fs.apply_patch', {}, drops);
}

async function targetOf(
  workspace: Workspace,
  path: string | undefined,
  file: FilePatch | undefined,
): Promise<ChangeTarget> {
  if (path === undefined) throw new ToolError('TOOL_ARGS_INVALID', 'path: give it, the patch names no file.');
  const named = file?.path ?? path;
  if (!`/${tidy(path)}`.endsWith(`/${tidy(named)}`) && !`/${tidy(named)}`.endsWith(`/${tidy(path)}`))
    throw new ToolError(
      'TOOL_ARGS_INVALID',
      `path is ${quoteForMessage(path)}, but the patch is for ${quoteForMessage(named)}.`,
    );
  const target = await findChangeTarget(workspace, path);
  const creates = file?.hunks.every((hunk) => hunk.old.length === 0);
  if (target.before === null && !creates) await resolvePath(workspace.roots, path, 'read'); // throws ENOENT with the nearest names
  if (target.before !== null && file?.kind === 'create')
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      `${quoteForMessage(target.file.relative)} exists already. Nothing was changed.`,
      { reason: 'EXISTS' },
    );
  return target;
}

const tidy = (path: string) => path.replaceAll('\\', '/').replace(/^(\.\/)+/, '');

function planPatch(
  workspace: Workspace,
  target: ChangeTarget,
  file: FilePatch,
  seen: TextSeenByModel | undefined,
): ToolCallPlan {
  const changing = hunksWithChanges(file);
  for (const hunk of changing) rejectOmittedCodePlaceholders(hunk.now.join('\n'), target.before);
  const result = applyPatch(target.before ?? '', file, seen);
  if (!result.ok) {
    const which = file.hunks.length > 1 ? `Hunk ${result.index + 1} of ${file.hunks.length}: ` : '';
    throw createEditError(target, result, which, file.hunks.map(hunkToEdit), 'What the hunk has as old');
  }
  const idle = file.hunks.flatMap((hunk, index) => (changing.includes(hunk) ? [] : [index]));
  const extra = { matched: result.matched, created: target.before === null, ...ineffectiveEditsNote('Hunk', idle) };
  return planTextChange(workspace, target, result.text, 'fs.apply_patch', extra);
}
