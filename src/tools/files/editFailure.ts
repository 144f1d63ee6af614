import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { quoteForMessage } from '../core/pathSyntax.ts';
import { AlreadyAppliedError, ToolError } from '../core/tool.ts';
import { areEditsApplied, type EditFailure, type SearchReplaceEdit } from '../edit/applyEdits.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import { sha256 } from '../sandbox/fileText.ts';
import { headContainsSecrets } from '../sandbox/secretContent.ts';
import type { ChangeTarget } from './planChange.ts';

export function createEditError(
  target: ChangeTarget,
  failure: EditFailure,
  which: string,
  edits: readonly SearchReplaceEdit[],
  old = 'oldText',
): ToolError {
  const quotedPath = quoteForMessage(target.file.relative);
  const { lines, reason } = failure;
  // Nobody has allowed reading of these lines.
  const hidden =
    secretFileReason(target.file.relative.split('/')) !== undefined || headContainsSecrets(target.before ?? '');
  const candidate = hidden ? undefined : shortLines(failure.candidate);
  const candidateOfOther = shortLines(failure.other?.candidate);
  const kind = edits[failure.index]?.lines ? 'hunk' : 'edit';
  const at = linesText(lines);
  const other = failure.other && linesText(failure.other.lines);
  const message = {
    EMPTY: `${old} is empty. Give the text to replace, or use fs.write for the whole file.`,
    NO_CHANGE: `${old} and what replaces it are the same.`,
    OVERLAP: `It changes what ${kind} ${failure.overlaps} changes, too, at ${at} of ${quotedPath}. Give both changes in one ${kind}.`,
    NOT_UNIQUE: `${old} is in ${quotedPath} ${lines.length} times (lines ${lines.slice(0, 10).join(', ')}). Give more lines around it.`,
    ABSENT: candidate
      ? `${old} is not in ${quotedPath}. The nearest is at ${at}:\n${candidate}\n`
      : `${old} is not in ${quotedPath}. Read the file again.`,
    DONE_ALREADY: `${old} is not in ${quotedPath}, but what replaces it is there already, at ${at}.`,
    CUTS_WORD: `${old} ends or begins within a word of ${quotedPath}. Give whole words or lines; ${at}:\n${candidate ?? ''}\n`,
    CHANGES_SIMILAR: `A line to be changed differs from ${quotedPath}. It has, at ${at}:\n${candidate ?? ''}\n`,
    CHANGES_BLANKS: `The blank lines around the change differ from ${quotedPath}. It has, at ${at}:\n${candidate ?? ''}\n`,
    OTHER_INDENTATION: candidate
      ? `${old} is in ${quotedPath} only with another indentation, at ${at}:\n${candidate}\nWith its own, ${other} are nearly the same:\n${candidateOfOther}\nGive the lines that are meant as they stand there.`
      : `${old} is in ${quotedPath} only with another indentation, at ${at}; with its own, ${other} are nearly the same.`,
    NEAR_TWIN: candidate
      ? `${old} is in ${quotedPath} only with other blanks or punctuation, at ${at}:\n${candidate}\nAs near are ${other}:\n${candidateOfOther}\nGive the lines that are meant as they stand there.`
      : `${old} is in ${quotedPath} only with other blanks or punctuation, at ${at}; ${other} are as near.`,
    MOVED: candidate
      ? `${quotedPath} has changed since it was read, and ${old} no longer stands where it was read. It is at ${at}:\n${candidate}\nAs near are ${other}, where it was read:\n${candidateOfOther}\nGive the lines that are meant as they stand there.`
      : `${quotedPath} has changed since it was read, and ${old} no longer stands where it was read. It is at ${at}; ${other} are as near.`,
    INEXACT: `${old} is in ${quotedPath} only with other blanks or punctuation. Give the lines as they stand there, at ${at}:\n${candidate ?? ''}\n`,
    INDENTATION: `How deep the new lines go cannot be told. Indent ${old} as ${quotedPath} does, at ${at}:\n${candidate ?? ''}\n`,
  }[reason];
  const details = { reason, edit: failure.index, lines: hidden ? [] : [...lines, ...(failure.other?.lines ?? [])] };
  const error = new ToolError('E_PRECONDITION_FAILED', `${which}${message} Nothing was changed.`, details);
  const before = target.before ?? '';
  if (!areEditsApplied(before, edits)) return error;
  return new AlreadyAppliedError(error, {
    path: target.file.relative,
    sha256: sha256(before),
    matched: 'exact',
    added: 0,
    removed: 0,
  });
}

/** Returns a note with the edits or hunks without effect; indexes count from 0. */
export function ineffectiveEditsNote(kind: 'Edit' | 'Hunk', idle: readonly number[]): { note?: string } {
  if (idle.length === 0) return {};
  const numbers = idle.map((index) => index + 1).join(', ');
  const note = idle.length === 1 ? `${kind} ${numbers} changes nothing` : `${kind}s ${numbers} change nothing`;
  return { note: `${note}; left out.` };
}

const shortLines = (text: string | undefined) =>
  text
    ?.split('\n')
    .map((line) => truncateWithEllipsis(line, maxLine))
    .join('\n');
const maxLine = 500;

const linesText = (lines: readonly number[]) =>
  lines.length > 1 ? `lines ${lines[0]}-${lines.at(-1)}` : `line ${lines[0]}`;
