import { localizedCount, toEnglishText } from '../../protocol/text/l10n.ts';
import { secretFileReason } from './secretFiles.ts';

/** Lists paths for a model; secret files are only counted. */
export function pathsForModel(paths: readonly string[]): string[] {
  const named = paths.filter((path) => secretFileReason(path.split('/')) === undefined);
  const others = paths.length - named.length;
  if (others === 0) return named;
  return [...named, toEnglishText(localizedCount(others, named.length > 0 ? 'more file' : 'file'))];
}
