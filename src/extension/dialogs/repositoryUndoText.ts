import type { RepositoryUndoPreview } from '../../engine/run/applyRepositoryUndo.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { t } from '../../protocol/text/l10n.ts';

/** Sentences about the effect of an undo on repositories, for a confirmation. */
export const repositoryUndoSentences = (previews: readonly RepositoryUndoPreview[]): string[] =>
  previews.flatMap((one) => [
    ...(previews.length > 1 ? [`${escapeInvisibleInLine(one.path)}:`] : []),
    ...sentencesOf(one),
  ]);

function sentencesOf({ branches, head, pushed }: RepositoryUndoPreview): string[] {
  const sentences = [
    ...(head === undefined ? [] : [t('Checks out {0} again.', shortName(head))]),
    ...branches.map(branchSentence),
    ...pushed.map((remote) => t('Not undone: the push to {0}.', escapeInvisibleInLine(remote))),
  ];
  return sentences.length > 0 ? sentences : [t('Restores the index and other files of Git.')];
}

function branchSentence({ name, from, to }: RepositoryUndoPreview['branches'][number]): string {
  const branch = escapeInvisibleInLine(name);
  if (to === null) return t('The branch {0} is deleted.', branch);
  return from === null
    ? t('The branch {0} is restored at {1}.', branch, shortName(to))
    : t('The branch {0} moves back to {1}.', branch, shortName(to));
}

/** Abbreviates a commit; another name stays. */
const shortName = (name: string): string =>
  /^[0-9a-f]{40,64}$/.test(name) ? name.slice(0, 7) : escapeInvisibleInLine(name);
