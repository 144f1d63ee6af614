import { message } from '../../../protocol/text/l10n.ts';
import { UserFacingError } from '../../../protocol/text/localized.ts';
import type { Workspace } from '../../core/workspace.ts';
import { readCurrentText } from '../../sandbox/fileText.ts';
import { resolvePath } from '../../sandbox/paths.ts';

/**
 * Changes a configuration of servers in an open folder through the editor, so that it can be undone. Missing files are created.
 * @param change returns the new text; undefined if the present one is unreadable
 * @throws a user-facing error without any change
 */
export async function changeServerConfig(
  workspace: Workspace,
  file: string,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  const resolved = await resolvePath(workspace.roots, file, 'write');
  const before = resolved.kind === 'missing' ? null : (await readCurrentText(workspace, resolved)).text;
  const after = change(before ?? undefined);
  if (after === undefined) throw new UserFacingError(message('It cannot be read. Fix it first.'));
  if (after !== before) await workspace.writeText(resolved.path, after, before);
}
