import * as z from 'zod';
import type { CallKey } from '../content/callKey.ts';
import { imageTypes, largestImage, maxImages } from '../content/images.ts';
import { type Completion, type Mention, mentionSchema, mentionsSchema } from '../content/mention.ts';
import { maxMentions } from '../content/mentionText.ts';
import type { ApprovalPreset } from '../content/policy.ts';
import { choicesSchema } from '../content/questions.ts';
import { type SlashAct, slashActs } from '../content/slash.ts';
import { type RunEvent, whenSchema } from '../run/events.ts';
import type { Run, RunState } from '../run/run.ts';
import type { RunSummary } from '../run/summary.ts';
import type { RunPart } from './runParts.ts';

/** A model that can be picked. `id` is `provider/model`, e.g. `local/demo`, `openai-compatible/qwen3-coder`. */
export interface ModelOption {
  id: string;
  label: string;
  detail: string;
  /** Why it cannot be used yet, as a sentence with the way out. */
  problem?: string;
  /** False: it is known to see no images, so none are offered to it. */
  images?: boolean;
}

/** What a person can ask for by a button; the host maps each to one of its commands. */
const panelActionSchema = z.enum([
  'set-key',
  'pick-model',
  'try-another-model',
  'raise-limit',
  'continue-after',
  'run-again',
  'compact',
  'set-window',
  'download-model',
  'manage-models',
  'use-endpoint',
  'use-demo',
  'run-preset',
  'pick-agent',
  'plan-first',
  'undo-turn',
  'redo',
  'first-steps',
  'deleted-runs',
  'take-over',
  'answer',
  'set-secret',
  'forget-key',
  'add-gpu-engine',
  'open-settings',
  'show-log',
  'open-folder',
  'manage-trust',
  'source-control',
]);
export type PanelAction = z.infer<typeof panelActionSchema>;

/** A line of the list of runs. */
export interface RunRow extends RunSummary {
  /** Under how many runs it stands, as a branch. */
  depth: number;
  /** When something last happened in its family (epoch ms). */
  newest: number;
  state?: RunState;
  /** Another window has it. */
  elsewhere?: boolean;
  /** Where in its texts it was found. */
  excerpt?: string;
  /** Its window has this folder open, which has a branch of its own. `begun`: false until that window has begun it. */
  worktree?: { folder: string; branch: string; begun: boolean };
}

/** A command that is at work in the background of this window, for whatever run. */
export interface BackgroundCommandState {
  id: string;
  runId: string;
  line: string;
  /** Epoch milliseconds. */
  startedAt: number;
}

/** `few`: a line for each card; `all`: nothing is folded. */
export const detailLevels = ['few', 'usual', 'all'] as const;
export type DetailLevel = (typeof detailLevels)[number];

/** A rule that *Always Allow…* made for a call, in words. */
export interface AddedRule extends CallKey {
  text: string;
}

/** What surrounds the conversation. */
export interface PanelState {
  models: ModelOption[];
  modelId: string;
  /** The person chose the model; until then the panel offers the ways to begin. */
  modelChosen: boolean;
  /** Who speaks in a run that begins here. */
  agent: string;
  /** What is free without a rule in the shown run, or in the one that begins here. */
  preset: ApprovalPreset;
  /** It was chosen for this run alone. */
  presetOfRun: boolean;
  commands: BackgroundCommandState[];
  /** Made in this window for calls of the shown run. */
  rulesAdded?: AddedRule[];
  /** How much cards and thinking show by themselves; without it `usual`. */
  details?: DetailLevel;
  /** Tokens that the chosen model keeps in view, when known. */
  window?: number;
  /** US dollars that a run, and all of them in a day, may spend before the person is asked; absent: no limit. */
  limits?: { run?: number; day?: number };
  /** A run could not be recorded for want of room on the disk, and there is none yet. */
  diskFull?: true;
  /** `several`: more than one folder is open. */
  workspace: { open: boolean; several?: true; virtual?: true; trusted: boolean; name: string };
}

/** A sentence above the composer, with a button when there is a way out. */
export interface Notice {
  level: 'info' | 'warning' | 'error';
  text: string;
  /** `call`: what *Answer…* is about. */
  action?: { label: string; action: PanelAction; call?: CallKey };
  /** Answered by `notice-pressed`. */
  offer?: { id: number; buttons: string[] };
}

/** A message that the person could send here, by a button. */
export interface Offer {
  label: string;
  text: string;
  mentions: Mention[];
}

/** At this many messages the run is the `nth` of so many ways to go on; those before and after it are shown by `open-run`. */
export interface BranchPoint {
  at: number;
  nth: number;
  of: number;
  previous?: string;
  next?: string;
}

/** A file that the run has changed, as it is now beside how it was before the run. */
export interface FileRow {
  path: string;
  /** Of what it holds; empty: nothing that could be read. */
  id: string;
  /** Lines; absent: not counted. */
  added?: number;
  removed?: number;
  made?: 'new' | 'deleted' | 'moved';
  from?: string;
  /** Somebody else changed it, too. */
  mixed?: boolean;
  /** The person has seen what it holds. */
  reviewed?: boolean;
}

/**
 * Host → panel. `run` is a snapshot (null: a new, empty conversation); `events` continue it. `part: 'end'`: only its last messages,
 * until the whole run comes. A long run comes in `run-part`s: `before` is the number of messages in them.
 */
export type HostMessage =
  | { type: 'state'; state: PanelState }
  | { type: 'run'; run: Run | null; part?: 'end'; before?: number }
  | ({ type: 'run-part' } & RunPart)
  /** The runs that were asked for by `list-runs`; `more`: how many there are besides. */
  | { type: 'runs'; query: string; rows: RunRow[]; more: number }
  /** Tokens that *Compact Now* would free of a run's window, roughly. */
  | { type: 'room'; runId: string; frees: number }
  /** Where in a run others went on otherwise. */
  | { type: 'branches'; runId: string; points: BranchPoint[] }
  /** What a run has changed and is not as it was; `more`: how many files there are besides. `ran`: commands may have changed others. */
  | { type: 'files'; runId: string; rows: FileRow[]; more: number; ran?: boolean }
  | { type: 'events'; events: RunEvent[] }
  | { type: 'notice'; notice: Notice | null }
  /** What was offered under this number is over. */
  | { type: 'notice-over'; id: number }
  /** The next key is to land in the message box. `gently`: only while the panel has the keys. */
  | { type: 'focus'; gently?: true }
  /** Words for the message box, before what stands there. */
  | { type: 'draft'; text: string }
  /** Words that were sent and not heard: they are in the message box again, with what went with them. */
  | { type: 'unheard'; text: string }
  /** The run that did not hear them can hear them now: they are sent, if they still stand there as they were. */
  | { type: 'say-unheard' }
  /** Named in the message box, behind what stands there, and picked. */
  | { type: 'mention'; mentions: Mention[] }
  /** All that a call changed, as `shownChange` writes it. */
  | { type: 'change'; runId: string; toolCallId: string; diff: string }
  /** What may be meant by the words after an `@` or a `/`; may come again under the same number, once more is known. */
  | { type: 'completions'; asked: number; rows: Completion[]; problem?: string }
  /** What naming this comes to: tokens, roughly, and what of it will not be read. */
  | { type: 'mention-size'; mention: Mention; tokens: number; note?: string; why?: string }
  /** Mention that a word typed after an `@` names. `unknown`: the word without trailing punctuation if it was meant as a mention but names nothing. */
  | { type: 'mention-resolved'; word: string; mention?: Mention; unknown?: string }
  /** What is worth doing in this workspace: for an empty conversation. */
  | { type: 'offers'; offers: Offer[] }
  /** What was selected in an editor after the last message; `goes`: with the next one, by itself. */
  | { type: 'selection'; mention: Mention | null; goes: boolean }
  /** What was pasted and names no file here. */
  | { type: 'pasted'; text: string }
  /** The words that wait under this number are to be changed in the message box. */
  | { type: 'edit-waiting'; queued: number }
  /** What does the person do? Answered by `here`. */
  | { type: 'look'; look: number };

const id = z.string().min(1).max(200);

const imageSchema = z.strictObject({
  mediaType: z.enum(imageTypes),
  data: z.base64().min(1).max(largestImage),
  name: z.string().max(200).optional(),
});

export type ImageAttachment = z.infer<typeof imageSchema>;

/** A tool call: its id is unique only within its run. */
const callShape = { runId: id, toolCallId: id };

/** A word typed after an `@`, with it. */
const typedWord = z.string().min(2).max(300);
/** Words of a message that were typed after an `@` and are not resolved yet: what they name goes with it, as what was picked does. */
const typedSchema = z.array(typedWord).min(1).max(maxMentions).optional();

/** A message: its place among those of a run. */
const messagePlace = { runId: id, at: z.number().int().min(0) };

/** Choices for the questions that a call asks by itself. */
const chosenSchema = z.strictObject({ ...callShape, choices: choicesSchema.min(1) });
export type PanelChoice = z.infer<typeof chosenSchema>;

/**
 * Panel → host: intentions, validated on arrival. None of them can approve anything: `show-question` only
 * brings the editor's own dialog to the front, and `answer` is words to a model that asked for them.
 */
export const viewMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  /**
   * The answer to `look`: milliseconds since the person last typed, scrolled or selected here, and whether keys land here. A
   * question does not come up under somebody's fingers.
   */
  z.strictObject({ type: z.literal('here'), look: z.number(), idleMs: z.number().min(0), focused: z.boolean() }),
  z
    .strictObject({
      type: z.literal('send'),
      text: z.string().max(1_000_000),
      attachments: z.array(imageSchema).min(1).max(maxImages).optional(),
      mentions: mentionsSchema.optional(),
      typed: typedSchema,
      /** What stood chosen beside these words: to a run that asks, they are the answer. */
      chosen: chosenSchema.optional(),
      /** To a run at work; without it at the next turn. */
      when: whenSchema.optional(),
    })
    .refine(({ text, attachments, mentions }) => text !== '' || attachments || mentions),
  z.strictObject({ type: z.literal('answer'), chosen: chosenSchema }),
  /** What waits under a number in a run: other words, or another time; and taken back. */
  z.strictObject({
    type: z.literal('change-waiting'),
    runId: id,
    queued: z.number().int(),
    text: z.string().max(1_000_000).optional(),
    /** Besides those that it has. */
    mentions: mentionsSchema.optional(),
    typed: typedSchema,
    when: whenSchema,
  }),
  z.strictObject({ type: z.literal('take-back'), runId: id, queued: z.number().int() }),
  /** What is typed after one of these: answered by `completions` under this number. */
  z.strictObject({
    type: z.literal('complete'),
    after: z.enum(['@', '/']),
    query: z.string().max(200),
    asked: z.number().int(),
  }),
  /** One of Towpath's own that was chosen after a `/`; others are words of a message. */
  z.strictObject({ type: z.literal('slash'), act: z.enum(Object.keys(slashActs) as [SlashAct, ...SlashAct[]]) }),
  /** A word that was typed after an `@` is complete: answered by `mention-resolved`. */
  z.strictObject({ type: z.literal('resolve-mention'), word: typedWord }),
  /** How much would go with the message? Answered by `mention-size`. */
  z.strictObject({ type: z.literal('measure-mention'), mention: mentionSchema }),
  /** What is selected in editors goes with messages by itself, or no longer. */
  z.strictObject({ type: z.literal('selection-goes'), goes: z.boolean() }),
  /** Files and folders, as addresses or whole paths, that are to be named: answered by `mention`. `pasted`: in these words, which come back where none is one. */
  z.strictObject({
    type: z.literal('dropped'),
    places: z.array(z.string().min(1).max(4096)).min(1).max(maxMentions),
    pasted: z.string().max(100_000).optional(),
  }),
  z.strictObject({ type: z.literal('stop') }),
  /** Rest once the turn is over. */
  z.strictObject({ type: z.literal('pause') }),
  /** Go on without a new message: after a limit, a broken stream, a reload. */
  z.strictObject({ type: z.literal('continue') }),
  /** `summary`: with what the shown one came to in the message box, to be sent by the person. */
  /** How much would be freed of the shown run's window? Answered by `room`. */
  z.strictObject({ type: z.literal('measure-room') }),
  z.strictObject({ type: z.literal('new-run'), summary: z.literal(true).optional() }),
  /** The request that waits is sent again at once. */
  z.strictObject({ type: z.literal('retry-now') }),
  /** What the shown run has planned is to be done, with these words besides: there, or (`apart`) in a run that gets only the plan. */
  z.strictObject({
    type: z.literal('do-plan'),
    apart: z.literal(true).optional(),
    text: z.string().max(1_000_000).optional(),
    mentions: mentionsSchema.optional(),
    typed: typedSchema,
  }),
  z.strictObject({ type: z.literal('open-run'), runId: id }),
  /** The window of a listed run that is in a worktree. */
  z.strictObject({ type: z.literal('open-worktree'), folder: z.string().min(1).max(4096) }),
  z.strictObject({ type: z.literal('delete-run'), runId: id }),
  /** Those with these words, now and whenever they change; without a query: the list is closed. */
  z.strictObject({ type: z.literal('list-runs'), query: z.string().max(200).optional() }),
  /** Brings up the native box for its title. */
  z.strictObject({ type: z.literal('rename-run'), runId: id }),
  z.strictObject({ type: z.literal('pin-run'), runId: id, pinned: z.boolean() }),
  z.strictObject({
    type: z.literal('action'),
    action: panelActionSchema,
    /** The setting that is spoken of, where the settings are opened. */
    setting: z
      .string()
      .regex(/^towpath(\.\w+)+$/)
      .max(100)
      .optional(),
    /** The call that *Answer…* is about, where the button belongs to one. */
    call: z.strictObject(callShape).optional(),
  }),
  /** The button of a notice, by its place; without one it is put away. */
  z.strictObject({
    type: z.literal('notice-pressed'),
    id: z.number().int(),
    button: z.number().int().min(0).optional(),
  }),
  z.strictObject({ type: z.literal('show-question'), ...callShape }),
  /** Denies a call that needs an approval. */
  z.strictObject({ type: z.literal('deny'), ...callShape }),
  /** The user has clicked or typed while the shown run had a call that needs an approval since an earlier window. */
  z.strictObject({ type: z.literal('active'), runId: id }),
  z.strictObject({ type: z.literal('open-diff'), ...callShape }),
  /**
   * About the message at a place of a run. `edit-said`: says other words there, in a branch; `fork`: a branch that goes on there; `retry-reply`: a
   * branch in which what it answers is said again, to a model that is picked if `other`. `restore` is undo, with its question.
   */
  z.strictObject({
    type: z.literal('edit-said'),
    ...messagePlace,
    text: z.string().max(1_000_000),
    mentions: mentionsSchema.optional(),
    typed: typedSchema,
    restore: z.literal(true).optional(),
  }),
  z.strictObject({ type: z.literal('fork'), ...messagePlace }),
  z.strictObject({ type: z.literal('restore-files'), ...messagePlace }),
  z.strictObject({ type: z.literal('retry-reply'), ...messagePlace, other: z.literal(true).optional() }),
  z.strictObject({ type: z.literal('open-text'), ...messagePlace }),
  /** All of what a call changed, for its card: answered by `change`. */
  z.strictObject({ type: z.literal('show-change'), ...callShape }),
  /** The host asks before more than one change is undone, or one whose files hold something else by now. */
  z.strictObject({ type: z.literal('undo'), runId: id, toolCallIds: z.array(id).min(1).max(1000) }),
  /** Takes back the undo of this call; nothing happens when one of its files was changed since. */
  z.strictObject({ type: z.literal('redo'), ...callShape }),
  /** Removes the rule that the approval of this call made. */
  z.strictObject({ type: z.literal('remove-rule'), ...callShape }),
  /** The changes of one file, for the person to take back what they do not want. */
  z.strictObject({ type: z.literal('file-changes'), runId: id, path: z.string().min(1).max(4096) }),
  /** The person has, or has not, seen what it holds: the contents with this id. */
  z.strictObject({
    type: z.literal('review-file'),
    runId: id,
    path: z.string().min(1).max(4096),
    id: z.string().max(12),
    reviewed: z.boolean(),
  }),
  /** Undo of all that the run did to a file, with its question. */
  z.strictObject({ type: z.literal('undo-file'), runId: id, path: z.string().min(1).max(4096) }),
  /** All that the run has changed: in one editor; or staged, with a message written for it, to be committed by the person. */
  z.strictObject({ type: z.literal('review-files'), runId: id }),
  z.strictObject({ type: z.literal('commit-files'), runId: id }),
  z.strictObject({ type: z.literal('open-output'), ...callShape }),
  /** The call has its result, and its command goes on. */
  z.strictObject({ type: z.literal('let-go-on'), ...callShape }),
  /** Of a command in the background. */
  z.strictObject({ type: z.literal('stop-command'), id }),
  z.strictObject({ type: z.literal('command-output'), id }),
  z.strictObject({
    type: z.literal('open-file'),
    path: z.string().min(1).max(4096),
    line: z.number().int().optional(),
  }),
  z.strictObject({ type: z.literal('open-link'), url: z.string().min(1).max(4096) }),
  /** Code of a reply: into the editor, to the run's model as words, into a new file, or typed into the terminal and not run. */
  z.strictObject({
    type: z.literal('use-code'),
    how: z.enum(['insert', 'apply', 'new-file', 'terminal']),
    text: z.string().max(1_000_000),
    language: z.string().max(20),
  }),
  z.strictObject({ type: z.literal('copy'), text: z.string().max(5_000_000) }),
]);
export type ViewMessage = z.infer<typeof viewMessageSchema>;
