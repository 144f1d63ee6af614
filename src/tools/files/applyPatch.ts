import { quoted } from '../core/pathSyntax.ts';
import { askingTool, type CallPlan, type SeenText, type Tool, ToolError } from '../core/tool.ts';
import type { Workspace } from '../core/workspace.ts';
import { applyPatchDefinition } from '../definitions/fileTools.ts';
import { applyPatch, asEdit, changingHunks, type FilePatch, onlyFile } from '../edit/patch.ts';
import { refusePlaceholders } from '../edit/placeholder.ts';
import { resolvePath } from '../sandbox/paths.ts';
import { editFailed, noteOfIdle } from './editFailure.ts';
import { updateFrontmatter } from './frontmatter.ts';
import { type ChangeTarget, checkHash, findTarget, planText, staleText } from './planChange.ts';

/**
 * `fs.apply_patch`: a unified diff of one file, or new values in its YAML frontmatter. Data: `{ path, sha256, matched, created, added,
 * removed }`; frontmatter omits `matched` and `created`. Throws `E_INVALID_FRONTMATTER` for invalid YAML.
 */
const tool = askingTool(
  applyPatchDefinition,
  'change',
  async ({ path, patch, frontmatter, ifMatchSha256 }, { workspace, lastSeen }) => {
    if ((patch === undefined) === (frontmatter === undefined))
      throw new ToolError('TOOL_ARGS_INVALID', 'Give either patch or frontmatter.');
    const file = patch === undefined ? undefined : onlyFile(patch);
    const target = await targetOf(workspace, path ?? file?.path, file);
    checkHash(target, ifMatchSha256);
    if (file) return planPatch(workspace, target, file, await staleText(target, lastSeen));
    return planFrontmatter(workspace, target, frontmatter!);
  },
);

/** Also accepts `{operation: "updateFrontmatter", update}`, the undocumented form in packages of crewagent. */
export const applyPatchTool: Tool = {
  ...tool,
  understands: ({ operation, update, ...rest }) =>
    operation === 'updateFrontmatter' && update !== undefined ? { ...rest, frontmatter: update } : undefined,
};

function planFrontmatter(workspace: Workspace, target: ChangeTarget, update: Record<string, unknown>): CallPlan {
  if (Object.keys(update).length === 0) throw new ToolError('TOOL_ARGS_INVALID', 'frontmatter: give at least one key.');
  let drops: readonly string[] | undefined;
  const after = updateFrontmatter(target.before ?? '', (before) => {
    const merged = workspace.mergeFrontmatter?.(target.file.path, before, update);
    drops = merged?.drops;
    return merged?.values ?? update;
  });
  return planText(workspace, target, after, 'fs.apply_patch', {}, drops);
}

async function targetOf(
  workspace: Workspace,
  path: string | undefined,
  file: FilePatch | undefined,
): Promise<ChangeTarget> {
  if (path === undefined) throw new ToolError('TOOL_ARGS_INVALID', 'path: give it, the patch names no file.');
  const named = file?.path ?? path;
  if (!`/${tidy(path)}`.endsWith(`/${tidy(named)}`) && !`/${tidy(named)}`.endsWith(`/${tidy(path)}`))
    throw new ToolError('TOOL_ARGS_INVALID', `path is ${quoted(path)}, but the patch is for ${quoted(named)}.`);
  const target = await findTarget(workspace, path);
  const creates = file?.hunks.every((hunk) => hunk.old.length === 0);
  if (target.before === null && !creates) await resolvePath(workspace.roots, path, 'read'); // throws ENOENT with the nearest names
  if (target.before !== null && file?.kind === 'create')
    throw new ToolError(
      'E_PRECONDITION_FAILED',
      `${quoted(target.file.relative)} exists already. Nothing was changed.`,
      { reason: 'EXISTS' },
    );
  return target;
}

const tidy = (path: string) => path.replaceAll('\\', '/').replace(/^(\.\/)+/, '');

function planPatch(workspace: Workspace, target: ChangeTarget, file: FilePatch, seen: SeenText | undefined): CallPlan {
  const changing = changingHunks(file);
  for (const hunk of changing) refusePlaceholders(hunk.now.join('\n'), target.before);
  const result = applyPatch(target.before ?? '', file, seen);
  if (!result.ok) {
    const which = file.hunks.length > 1 ? `Hunk ${result.index + 1} of ${file.hunks.length}: ` : '';
    throw editFailed(target, result, which, file.hunks.map(asEdit), 'What the hunk has as old');
  }
  const idle = file.hunks.flatMap((hunk, index) => (changing.includes(hunk) ? [] : [index]));
  const extra = { matched: result.matched, created: target.before === null, ...noteOfIdle('Hunk', idle) };
  return planText(workspace, target, result.text, 'fs.apply_patch', extra);
}
