import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { StoredFileChange } from '../../protocol/run/events.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import type { RecordedChanges } from '../snapshot/fileRecorder.ts';

const maxFiles = 20;
const maxCharacters = 1500;

/** Adds the files that a call has changed to its result, for the model. Names of secret files are only counted. */
export function addChangesToOutcome(outcome: ToolOutcome, { changes = [] }: RecordedChanges): ToolOutcome {
  if (!outcome.ok || changes.length === 0 || typeof outcome.data !== 'object' || outcome.data === null) return outcome;
  const named: string[] = [];
  let characters = 0;
  for (const change of changes) {
    if (secretFileReason(change.path.split('/')) !== undefined) continue;
    const line = `${verbOf(change)} ${change.path}`;
    characters += line.length;
    if (named.length === maxFiles || characters > maxCharacters) break;
    named.push(line);
  }
  const more = changes.length - named.length;
  return { ...outcome, data: { ...outcome.data, files: more > 0 ? [...named, `${more} more`] : named } };
}

const verbOf = ({ before, after }: StoredFileChange): string =>
  before === null ? 'created' : after === null ? 'deleted' : 'changed';
