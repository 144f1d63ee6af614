import { localizedCount, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import { truncateMiddle } from '../../protocol/text/shorten.ts';
import type { ToolCallPlan } from '../core/tool.ts';
import { abbreviateHome } from '../policy/homePaths.ts';
import type { SandboxDenial } from './sandboxDenials.ts';

/**
 * Returns the request of a call to run outside of the sandbox, with the reason that the model gives, if any; undefined if there is none. An
 * empty text is none, because models fill in what they do not need.
 */
export function requestToLeave(outside: string | boolean | undefined): { reason?: string } | undefined {
  if (typeof outside !== 'string') return outside ? {} : undefined;
  const reason = outside.trim();
  if (/^(false|null|none|no)?$/i.test(reason)) return undefined;
  return /^(true|yes)$/i.test(reason) ? {} : { reason };
}

/** Tests if rules now allow all folders that a command could not write. A command that failed with a folder allowed is not helped by it. */
export const isNowAllowed = ({ paths, allowed: before }: SandboxDenial, allowed: readonly string[]): boolean =>
  paths.every((path) => allowed.some((folder) => !before.includes(folder) && isBelow(path, folder)));

/** Returns the one folder that a rule can allow for all paths of a denial; undefined if there are several, or none. */
export async function commonAllowableFolder(
  { paths }: SandboxDenial,
  allowed: readonly string[],
  find: (path: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const found = await Promise.all(paths.map((path) => find(path).catch(() => undefined)));
  const [folder] = found;
  if (folder === undefined || folder.length > maxFolder || allowed.includes(folder)) return undefined;
  return found.every((one) => one === folder) ? folder : undefined;
}

/** Characters of a folder that an approval can show whole, and of another path. */
const maxFolder = 160;
const maxShownPath = 120;

/** Returns what an approval says about a command that the sandbox has denied something. */
export function explainDenial(
  { paths, changed }: SandboxDenial,
  folder: string | undefined,
): Pick<ToolCallPlan, 'outsideReason' | 'allowableFolder'> {
  const shown = paths.map((path) => truncateMiddle(abbreviateHome(path), maxShownPath)).join(', ');
  const reasons = [
    message('The sandbox blocked writing to {0}.', shown),
    changed > 0
      ? message('It changed {0} before and starts again from the beginning.', localizedCount(changed, 'file'))
      : message('It starts again from the beginning.'),
    ...(folder === undefined
      ? []
      : [
          message(
            'In {0}, Undo does not restore what commands change, and other programs may use it.',
            abbreviateHome(folder),
          ),
        ]),
  ];
  return { outsideReason: joinLocalizableTexts(reasons), ...(folder !== undefined && { allowableFolder: folder }) };
}

const isBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
