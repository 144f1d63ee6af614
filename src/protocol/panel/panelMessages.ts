import * as z from 'zod';
import type { ToolCallKey } from '../content/callKey.ts';
import { imageTypes, maxImageBase64Length, maxImages } from '../content/images.ts';
import {
  type ComposerCompletion,
  type Mention,
  type MentionNotes,
  mentionSchema,
  mentionsSchema,
} from '../content/mention.ts';
import { maxMentions } from '../content/mentionText.ts';
import type { ApprovalPreset } from '../content/policy.ts';
import { userQuestionChoicesSchema } from '../content/questions.ts';
import { messageDeliveryTimingSchema, type RunEvent } from '../run/events.ts';
import type { Run, RunState } from '../run/run.ts';
import type { RunSummary } from '../run/summary.ts';
import type { ThinkingEffort } from '../values/thinkingEffort.ts';
import { type PanelAction, panelActions, slashIntents } from './intents.ts';
import type { RunSnapshotPart } from './runParts.ts';

/**
 * Model option of the picker. `id` is `provider/model`, e.g. `local/demo`, `openai-compatible/qwen3-coder`. `problem`: a sentence with the
 * solution if the model is not usable yet. `images: false`: the model accepts no images. `effort`: the effort that
 * a new conversation has, absent for the default.
 */
export interface ModelOption {
  id: string;
  label: string;
  detail: string;
  problem?: string;
  images?: boolean;
  effort?: ThinkingEffort;
}

/**
 * Row of the run list. `depth`: number of ancestor runs. `newest`: time of the last activity in the family (epoch ms). `elsewhere`: another
 * window owns the run. `excerpt`: the text around a search hit. `worktree`: the run's window has the worktree folder open; `begun` is false
 * until the window has started the run.
 */
export interface RunListRow extends RunSummary {
  depth: number;
  newest: number;
  state?: RunState;
  elsewhere?: boolean;
  excerpt?: string;
  worktree?: { folder: string; branch: string; begun: boolean };
}

export interface BackgroundCommandState {
  id: string;
  runId: string;
  line: string;
  startedAt: number;
  /** Its ports are those of a sandbox. */
  isSandboxed?: true;
}

/** Command that waits for the user. `label`: the last line that it has written; `isSecret`: what is typed must not be visible. */
interface CommandPromptState extends ToolCallKey {
  label: string;
  isSecret: boolean;
}

export const transcriptDetailLevels = ['few', 'usual', 'all'] as const;
export type TranscriptDetailLevel = (typeof transcriptDetailLevels)[number];

export interface AddedRule extends ToolCallKey {
  text: string;
}

/**
 * State of the panel around the conversation. `agent` and `preset` are those of the displayed run or of the next new run.
 * - `modelChosen: false`: the panel offers the setup options; `window`: context window of the selected model in tokens, absent if unknown.
 * - `presetOfRun`: the preset was chosen for the displayed run only.
 * - `limits`: spending limits in US dollars, absent without a limit; `diskFull`: a run could not be recorded, and the disk still has no
 * space.
 */
export interface PanelState {
  models: ModelOption[];
  modelId: string;
  modelChosen: boolean;
  agent: string;
  preset: ApprovalPreset;
  presetOfRun: boolean;
  commands: BackgroundCommandState[];
  prompts?: CommandPromptState[];
  rulesAdded?: AddedRule[];
  details?: TranscriptDetailLevel;
  window?: number;
  limits?: { run?: number; day?: number };
  diskFull?: true;
  workspace: { open: boolean; several?: true; virtual?: true; trusted: boolean; name: string };
}

/** Message above the composer. `action.call` is the subject of *Answer…*. The buttons of `offer` are reported by `notice-pressed`. */
export interface Notice {
  level: 'info' | 'warning' | 'error';
  text: string;
  action?: { label: string; action: PanelAction; call?: ToolCallKey };
  offer?: { id: number; buttons: string[] };
}

export interface PromptSuggestion {
  label: string;
  text: string;
  mentions: Mention[];
}

/** Fork point of the displayed run: at message `at` the run is the `nth` of several branches. */
export interface TranscriptForkPoint {
  at: number;
  nth: number;
  of: number;
  previous?: string;
  next?: string;
}

/**
 * File changed by the run, compared with its content before the run. `id` identifies the content, empty if unreadable. `added` and
 * `removed` count lines, absent if not counted. `mixed`: the file was also changed by someone else, perhaps during a command (`same-time`).
 * `group`: index of the command that changed the file.
 */
export interface ChangedFileRow {
  path: string;
  id: string;
  added?: number;
  removed?: number;
  made?: 'new' | 'deleted' | 'moved';
  from?: string;
  mixed?: true | 'same-time';
  group?: number;
  reviewed?: boolean;
}

/**
 * Files changed by a run, grouped files last. `count`, `added` and `removed` are sums over all files; `more`: number of files outside of
 * groups without a row. `ran`: commands may have changed other files, `old` if only commands from before the recording.
 */
export interface ChangedFilesMessage {
  type: 'files';
  runId: string;
  rows: ChangedFileRow[];
  count: number;
  added: number;
  removed: number;
  more: number;
  groups?: { by: string; files: number }[];
  ran?: true | 'old';
}

/**
 * Host → panel. `run` is a snapshot (null: a new conversation); `events` continue the snapshot. `part: 'end'`: only the last messages,
 * until the complete run arrives. A long run arrives in `run-part` messages; `before` is their number of messages.
 */
export type HostMessage =
  | { type: 'state'; state: PanelState }
  | { type: 'run'; run: Run | null; part?: 'end'; before?: number }
  | ({ type: 'run-part' } & RunSnapshotPart)
  /** Answer to `list-runs`; `more`: number of further runs. */
  | { type: 'runs'; query: string; rows: RunListRow[]; more: number }
  | { type: 'room'; runId: string; frees: number }
  | { type: 'branches'; runId: string; points: TranscriptForkPoint[] }
  | ChangedFilesMessage
  | { type: 'events'; events: RunEvent[] }
  | { type: 'notice'; notice: Notice | null }
  | { type: 'notice-over'; id: number }
  /** Notification of the system; null: closes it. */
  | { type: 'system-notification'; text: string | null }
  /** Moves the focus to the message box. `gently`: only if the panel has the focus. */
  | { type: 'focus'; gently?: true }
  | { type: 'draft'; text: string }
  /** Sent text that no run received. The panel restores the text and its attachments in the message box. */
  | { type: 'unheard'; text: string }
  /** The run can receive input again: the panel resends the restored text if unchanged. */
  | { type: 'say-unheard' }
  | { type: 'mention'; mentions: Mention[] }
  | { type: 'change'; runId: string; toolCallId: string; diff: string }
  /** Completions after an `@` or a `/`. Later messages with the same number extend the list. */
  | { type: 'completions'; asked: number; rows: ComposerCompletion[]; problem?: string }
  | ({ type: 'mention-size'; mention: Mention; tokens: number } & MentionNotes)
  /**
   * Mention for a word typed after an `@`. `unknown`: the word without trailing punctuation, if it looks like a mention but names nothing.
   */
  | { type: 'mention-resolved'; word: string; mention?: Mention; unknown?: string }
  | { type: 'offers'; offers: PromptSuggestion[] }
  /** Selection in an editor since the last message; `goes`: attached to the next message automatically. */
  | { type: 'selection'; mention: Mention | null; goes: boolean }
  | { type: 'pasted'; text: string }
  | { type: 'edit-waiting'; queued: number }
  | { type: 'look'; look: number };

const id = z.string().min(1).max(200);

const imageSchema = z.strictObject({
  mediaType: z.enum(imageTypes),
  data: z.base64().min(1).max(maxImageBase64Length),
  name: z.string().max(200).optional(),
});

export type ImageAttachment = z.infer<typeof imageSchema>;

/** The id of a call of a task consists of two ids, each with as many characters as a provider may give to it. */
const callId = z.string().min(1).max(600);

const callShape = { runId: id, toolCallId: callId };

const typedWord = z.string().min(2).max(300);
const typedSchema = z.array(typedWord).min(1).max(maxMentions).optional();

const messagePosition = { runId: id, at: z.number().int().min(0) };

const chosenSchema = z.strictObject({ ...callShape, choices: userQuestionChoicesSchema.min(1) });
export type PanelQuestionChoices = z.infer<typeof chosenSchema>;

/**
 * Panel → host: intentions, validated on arrival. No message can approve a call: `show-question` only brings the editor's dialog to the
 * front, and `answer` is text for a model that requested input.
 */
export const viewMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  // Answer to `look`: milliseconds since the user last typed, scrolled or selected, and the focus. No dialog opens while the user is
  // typing.
  z.strictObject({ type: z.literal('here'), look: z.number(), idleMs: z.number().min(0), focused: z.boolean() }),
  z
    .strictObject({
      type: z.literal('send'),
      text: z.string().max(1_000_000),
      attachments: z.array(imageSchema).min(1).max(maxImages).optional(),
      mentions: mentionsSchema.optional(),
      typed: typedSchema,
      chosen: chosenSchema.optional(),
      when: messageDeliveryTimingSchema.optional(),
    })
    .refine(({ text, attachments, mentions }) => text !== '' || attachments || mentions),
  z.strictObject({ type: z.literal('answer'), chosen: chosenSchema }),
  z.strictObject({
    type: z.literal('change-waiting'),
    runId: id,
    queued: z.number().int(),
    text: z.string().max(1_000_000).optional(),
    mentions: mentionsSchema.optional(),
    typed: typedSchema,
    when: messageDeliveryTimingSchema,
  }),
  z.strictObject({ type: z.literal('take-back'), runId: id, queued: z.number().int() }),
  z.strictObject({
    type: z.literal('complete'),
    after: z.enum(['@', '/']),
    query: z.string().max(200),
    asked: z.number().int(),
  }),
  z.strictObject({
    type: z.literal('slash'),
    act: z.enum(slashIntents.map(({ slash }) => slash.name)),
  }),
  z.strictObject({ type: z.literal('resolve-mention'), word: typedWord }),
  z.strictObject({ type: z.literal('measure-mention'), mention: mentionSchema }),
  z.strictObject({ type: z.literal('selection-goes'), goes: z.boolean() }),
  // Files and folders to mention, as URIs or absolute paths: answered by `mention`. `pasted`: the original text, returned if no path
  // resolves.
  z.strictObject({
    type: z.literal('dropped'),
    places: z.array(z.string().min(1).max(4096)).min(1).max(maxMentions),
    pasted: z.string().max(100_000).optional(),
  }),
  z.strictObject({ type: z.literal('stop') }),
  z.strictObject({ type: z.literal('pause') }),
  // Continues without a new message: after a limit, a broken stream or a reload.
  z.strictObject({ type: z.literal('continue') }),
  z.strictObject({ type: z.literal('measure-room') }),
  z.strictObject({ type: z.literal('new-run'), summary: z.literal(true).optional() }),
  z.strictObject({ type: z.literal('retry-now') }),
  // Implements the plan of the displayed run, in the same run or (`apart`) in a new run with only the plan.
  z.strictObject({
    type: z.literal('do-plan'),
    apart: z.literal(true).optional(),
    text: z.string().max(1_000_000).optional(),
    mentions: mentionsSchema.optional(),
    typed: typedSchema,
  }),
  z.strictObject({ type: z.literal('open-run'), runId: id }),
  z.strictObject({ type: z.literal('open-worktree'), folder: z.string().min(1).max(4096) }),
  z.strictObject({ type: z.literal('delete-run'), runId: id }),
  z.strictObject({ type: z.literal('list-runs'), query: z.string().max(200).optional() }),
  z.strictObject({ type: z.literal('rename-run'), runId: id }),
  z.strictObject({ type: z.literal('pin-run'), runId: id, pinned: z.boolean() }),
  z.strictObject({
    type: z.literal('action'),
    action: z.enum(panelActions),
    setting: z
      .string()
      .regex(/^towpath(\.\w+)+$/)
      .max(100)
      .optional(),
    call: z.strictObject(callShape).optional(),
  }),
  z.strictObject({
    type: z.literal('notice-pressed'),
    id: z.number().int(),
    button: z.number().int().min(0).optional(),
  }),
  // Stops a task of a run, by default all of its tasks. The run goes on.
  z.strictObject({ type: z.literal('stop-task'), runId: id, task: callId.optional() }),
  // Message to a task. A message that the task cannot receive returns to the message box.
  z.strictObject({ type: z.literal('say-to-task'), runId: id, task: callId, text: z.string().min(1).max(1_000_000) }),
  z.strictObject({ type: z.literal('show-question'), ...callShape }),
  z.strictObject({ type: z.literal('deny'), ...callShape }),
  // User activity while the displayed run has a call that needs an approval since an earlier window.
  z.strictObject({ type: z.literal('active'), runId: id }),
  z.strictObject({ type: z.literal('open-diff'), ...callShape }),
  // Operations on a message of a run. `edit-said`: replaces the text in a branch. `fork`: continues in a branch. `retry-reply`: sends the
  // answered message again in a branch, to another model if `other`. `restore`: undo, with confirmation.
  z.strictObject({
    type: z.literal('edit-said'),
    ...messagePosition,
    text: z.string().max(1_000_000),
    mentions: mentionsSchema.optional(),
    typed: typedSchema,
    restore: z.literal(true).optional(),
  }),
  z.strictObject({ type: z.literal('fork'), ...messagePosition }),
  z.strictObject({ type: z.literal('restore-files'), ...messagePosition }),
  z.strictObject({ type: z.literal('retry-reply'), ...messagePosition, other: z.literal(true).optional() }),
  z.strictObject({ type: z.literal('open-text'), ...messagePosition }),
  z.strictObject({ type: z.literal('show-change'), ...callShape }),
  // Undoes calls. The host asks for confirmation before more than one undo, and before overwriting later changes.
  z.strictObject({ type: z.literal('undo'), runId: id, toolCallIds: z.array(callId).min(1).max(1000) }),
  // Takes back the undo of the call. Nothing happens if a file has changed since.
  z.strictObject({ type: z.literal('redo'), ...callShape }),
  z.strictObject({ type: z.literal('remove-rule'), ...callShape }),
  // Opens the list of rules for the hosts that a command could not reach.
  z.strictObject({ type: z.literal('allow-blocked'), ...callShape }),
  z.strictObject({ type: z.literal('file-changes'), runId: id, path: z.string().min(1).max(4096) }),
  z.strictObject({
    type: z.literal('review-file'),
    runId: id,
    path: z.string().min(1).max(4096),
    id: z.string().max(12),
    reviewed: z.boolean(),
  }),
  z.strictObject({ type: z.literal('undo-file'), runId: id, path: z.string().min(1).max(4096) }),
  z.strictObject({ type: z.literal('review-files'), runId: id }),
  z.strictObject({ type: z.literal('commit-files'), runId: id }),
  z.strictObject({ type: z.literal('open-output'), ...callShape }),
  z.strictObject({ type: z.literal('let-go-on'), ...callShape }),
  // Goes to the command that waits for it, and nowhere else. Without a text: the end of input.
  z.strictObject({ type: z.literal('command-input'), ...callShape, text: z.string().max(1000).optional() }),
  z.strictObject({ type: z.literal('stop-command'), id }),
  z.strictObject({ type: z.literal('open-port'), id }),
  z.strictObject({ type: z.literal('command-output'), id }),
  z.strictObject({
    type: z.literal('open-file'),
    path: z.string().min(1).max(4096),
    line: z.number().int().optional(),
  }),
  z.strictObject({ type: z.literal('open-link'), url: z.string().min(1).max(4096) }),
  z.strictObject({
    type: z.literal('use-code'),
    how: z.enum(['insert', 'apply', 'new-file', 'terminal']),
    text: z.string().max(1_000_000),
    language: z.string().max(20),
  }),
  z.strictObject({ type: z.literal('copy'), text: z.string().max(5_000_000) }),
]);
export type ViewMessage = z.infer<typeof viewMessageSchema>;
