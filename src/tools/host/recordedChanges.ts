import type { ToolOutcome } from '../../protocol/content/tools.ts';
import type { StoredFileChange } from '../../protocol/run/events.ts';
import { message, toEnglishText } from '../../protocol/text/l10n.ts';
import { raceWithAbort } from '../../protocol/values/abort.ts';
import { throwInterrupted } from '../core/interruption.ts';
import type { ApprovalRequestPlan, CallContext, Tool } from '../core/tool.ts';
import { secretFileReason } from '../policy/secretFiles.ts';
import type { FileRecorder } from '../snapshot/fileRecorder.ts';
import type { FileRecording, RecordedChanges } from '../snapshot/fileRecording.ts';
import type { BackgroundRecordings, EndedRecording } from './backgroundRecordings.ts';

/** Records the files before a call that may change any of them; file tools name their own changes. Undefined for other calls. */
export async function beginRecording(
  recorder: FileRecorder | undefined,
  { tool, toolCallId }: { tool: Tool; toolCallId: string },
  plan: Pick<ApprovalRequestPlan, 'change' | 'reading' | 'distrustsGit' | 'loss'> | undefined,
  { runId, signal, emit }: CallContext,
): Promise<FileRecording | undefined> {
  const onlyReads = tool.risk !== 'execute' || tool.leavesFiles || tool.ofRun || typeof plan?.reading === 'function';
  if (!recorder || onlyReads || plan?.change) return undefined;
  const report = () => {
    const said = message('Recording files…');
    emit({ type: 'progress', text: toEnglishText(said), said, callId: toolCallId }).catch(() => undefined);
  };
  const promised = plan?.loss?.promised ?? [];
  return recorder.begin({ runId, withoutGit: plan?.distrustsGit === true, promised, signal, report });
}

/** Ends the record of background commands before a call. Throws on abort. */
export async function endBackgroundRecord(
  recording: FileRecording,
  background: BackgroundRecordings | undefined,
  { runId, signal }: CallContext,
  toolCallId: string,
): Promise<void> {
  if (background)
    await raceWithAbort(background.callStarts({ runId, toolCallId }, recording), signal, throwInterrupted);
}

/** Ends the recording of a call. */
export function endRecording(
  recording: FileRecording,
  background: BackgroundRecordings | undefined,
  { runId, newPack }: CallContext,
  toolCallId: string,
): Promise<EndedRecording> {
  return background?.callEnds({ runId, toolCallId }, recording, newPack) ?? recording.end(newPack);
}

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
