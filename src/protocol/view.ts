import * as z from 'zod';
import { choicesSchema } from './ask.ts';
import { runEventSchema, whenSchema } from './events.ts';
import { presets } from './policy.ts';
import { type Run, runSchema, runStates, runSummarySchema } from './run.ts';

/** A model that can be picked. `id` is `provider/model`, e.g. `local/demo`, `openai-compatible/qwen3-coder`. */
const modelOptionSchema = z.object({
  id: z.string(),
  label: z.string(),
  detail: z.string(),
  /** Why it cannot be used yet, as a sentence with the way out. */
  problem: z.string().optional(),
  /** False: it is known to see no images, so none are offered to it. */
  images: z.boolean().optional(),
});
export type ModelOption = z.infer<typeof modelOptionSchema>;

/** What a person can ask for by a button; the host maps each to one of its commands. */
const panelActionSchema = z.enum([
  'set-key',
  'pick-model',
  'try-another-model',
  'raise-limit',
  'compact',
  'set-window',
  'download-model',
  'manage-models',
  'use-endpoint',
  'use-demo',
  'run-preset',
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
]);
export type PanelAction = z.infer<typeof panelActionSchema>;

/** A line of the list of runs. */
const runRowSchema = runSummarySchema.extend({
  /** Under how many runs it stands, as a branch. */
  depth: z.number().int(),
  /** When something last happened in its family (epoch ms). */
  newest: z.number(),
  state: z.enum(runStates).optional(),
  /** Another window has it. */
  elsewhere: z.boolean().optional(),
  /** Where in its texts it was found. */
  excerpt: z.string().optional(),
  /** Its window has this folder open, which has a branch of its own. `begun`: false until that window has begun it. */
  worktree: z.object({ folder: z.string(), branch: z.string(), begun: z.boolean() }).optional(),
});
export type RunRow = z.infer<typeof runRowSchema>;

/** A command that is at work in the background of this window, for whatever run. */
const commandAtWorkSchema = z.object({
  id: z.string(),
  runId: z.string(),
  line: z.string(),
  /** Epoch milliseconds. */
  startedAt: z.number(),
});
export type CommandAtWork = z.infer<typeof commandAtWorkSchema>;

/** `few`: a line for each card; `all`: nothing is folded. */
export const detailLevels = ['few', 'usual', 'all'] as const;
export type DetailLevel = (typeof detailLevels)[number];

/** What surrounds the conversation. */
const panelStateSchema = z.object({
  models: z.array(modelOptionSchema),
  modelId: z.string(),
  /** The person chose the model; until then the panel offers the ways to begin. */
  modelChosen: z.boolean(),
  /** What is free without a rule in the shown run, or in the one that begins here. */
  preset: z.enum(presets),
  /** It was chosen for this run alone. */
  presetOfRun: z.boolean(),
  commands: z.array(commandAtWorkSchema),
  /** How much cards and thinking show by themselves; without it `usual`. */
  details: z.enum(detailLevels).optional(),
  /** Tokens that the chosen model keeps in view, when known. */
  window: z.number().optional(),
  /** US dollars that a run, and all of them in a day, may spend before the person is asked; absent: no limit. */
  limits: z.object({ run: z.number().optional(), day: z.number().optional() }).optional(),
  workspace: z.object({ open: z.boolean(), trusted: z.boolean(), name: z.string() }),
});
export type PanelState = z.infer<typeof panelStateSchema>;

/** A sentence above the composer, with a button when there is a way out. */
const noticeSchema = z.object({
  level: z.enum(['info', 'warning', 'error']),
  text: z.string(),
  action: z.object({ label: z.string(), action: panelActionSchema }).optional(),
});
export type Notice = z.infer<typeof noticeSchema>;

/** At this many messages the run is the `nth` of so many ways to go on; those before and after it are shown by `open-run`. */
const branchPointSchema = z.object({
  at: z.number().int(),
  nth: z.number().int(),
  of: z.number().int(),
  previous: z.string().optional(),
  next: z.string().optional(),
});
export type BranchPoint = z.infer<typeof branchPointSchema>;

/** Of a long run the parts are as the host's own fold made them: to look at each would cost more than all the rest of showing it. */
const snapshotSchema = runSchema.extend({
  messages: z.custom<Run['messages']>(Array.isArray),
  messageTimes: z.custom<Run['messageTimes']>(Array.isArray),
  calls: z.custom<Run['calls']>((calls) => typeof calls === 'object' && calls !== null),
});

/** Host → panel. `run` is a snapshot (null: a new, empty conversation); `events` continue it. */
export const hostMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('state'), state: panelStateSchema }),
  z.object({ type: z.literal('run'), run: snapshotSchema.nullable() }),
  /** The runs that were asked for by `list-runs`; `more`: how many there are besides. */
  z.object({ type: z.literal('runs'), query: z.string(), rows: z.array(runRowSchema), more: z.number().int() }),
  /** Tokens that *Compact Now* would free of a run's window, roughly. */
  z.object({ type: z.literal('room'), runId: z.string(), frees: z.number() }),
  /** Where in a run others went on otherwise. */
  z.object({ type: z.literal('branches'), runId: z.string(), points: z.array(branchPointSchema) }),
  z.object({ type: z.literal('events'), events: z.array(runEventSchema) }),
  z.object({ type: z.literal('notice'), notice: noticeSchema.nullable() }),
  /** The next key is to land in the message box. `gently`: only while the panel has the keys. */
  z.object({ type: z.literal('focus'), gently: z.literal(true).optional() }),
  /** Words for the message box, before what stands there. */
  z.object({ type: z.literal('draft'), text: z.string() }),
  /** All that a call changed, as `shownChange` writes it. */
  z.object({ type: z.literal('change'), runId: z.string(), toolCallId: z.string(), diff: z.string() }),
  /** The words that wait under this number are to be changed in the message box. */
  z.object({ type: z.literal('edit-waiting'), queued: z.number().int() }),
  /** What does the person do? Answered by `here`. */
  z.object({ type: z.literal('look'), look: z.number() }),
]);
export type HostMessage = z.infer<typeof hostMessageSchema>;

const id = z.string().min(1).max(200);

/** Pictures that go with one message, and the bytes of each as base64: what all providers take. */
export const mostImages = 8;
export const largestImage = 5_000_000;
export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
const imageSchema = z.strictObject({
  mediaType: z.enum(imageTypes),
  data: z.base64().min(1).max(largestImage),
  name: z.string().max(200).optional(),
});

export type ImageAttachment = z.infer<typeof imageSchema>;

/** A message: its place among those of a run. */
const messagePlace = { runId: id, at: z.number().int().min(0) };

/** What was chosen of the questions that a call asks by itself; an id of a call is one of its run alone. */
const chosenSchema = z.strictObject({ runId: id, toolCallId: id, choices: choicesSchema.min(1) });
export type Chosen = z.infer<typeof chosenSchema>;

/**
 * Panel → host: intentions, validated on arrival. None of them can approve anything: `show-question` and
 * `deny-with-words` only bring the editor's own question or box to the front, and `answer` is words to a model that asked for them.
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
      attachments: z.array(imageSchema).min(1).max(mostImages).optional(),
      /** What stood chosen beside these words: to a run that asks, they are the answer. */
      chosen: chosenSchema.optional(),
      /** To a run at work; without it at the next turn. */
      when: whenSchema.optional(),
    })
    .refine(({ text, attachments }) => text !== '' || attachments),
  z.strictObject({ type: z.literal('answer'), chosen: chosenSchema }),
  /** What waits under a number in a run: other words, or another time; and taken back. */
  z.strictObject({
    type: z.literal('change-waiting'),
    runId: id,
    queued: z.number().int(),
    text: z.string().max(1_000_000).optional(),
    when: whenSchema,
  }),
  z.strictObject({ type: z.literal('take-back'), runId: id, queued: z.number().int() }),
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
  z.strictObject({ type: z.literal('open-run'), runId: id }),
  /** The window of a listed run that is in a worktree. */
  z.strictObject({ type: z.literal('open-worktree'), folder: z.string().min(1).max(4096) }),
  z.strictObject({ type: z.literal('delete-run'), runId: id }),
  /** Those with these words, now and whenever they change; without a query: the list is closed. */
  z.strictObject({ type: z.literal('list-runs'), query: z.string().max(200).optional() }),
  /** Brings up the native box for its title. */
  z.strictObject({ type: z.literal('rename-run'), runId: id }),
  z.strictObject({ type: z.literal('pin-run'), runId: id, pinned: z.boolean() }),
  z.strictObject({ type: z.literal('action'), action: panelActionSchema }),
  z.strictObject({ type: z.literal('show-question'), toolCallId: id }),
  /** Brings up the native box for the words of a no. */
  z.strictObject({ type: z.literal('deny-with-words'), toolCallId: id }),
  z.strictObject({ type: z.literal('open-diff'), toolCallId: id }),
  /**
   * About the message at a place of a run. `edit-said`: says other words there, in a branch; `fork`: a branch that goes on there; `retry-reply`: a
   * branch in which what it answers is said again, to a model that is picked if `other`. `restore` is undo, with its question.
   */
  z.strictObject({
    type: z.literal('edit-said'),
    ...messagePlace,
    text: z.string().max(1_000_000),
    restore: z.literal(true).optional(),
  }),
  z.strictObject({ type: z.literal('fork'), ...messagePlace }),
  z.strictObject({ type: z.literal('restore-files'), ...messagePlace }),
  z.strictObject({ type: z.literal('retry-reply'), ...messagePlace, other: z.literal(true).optional() }),
  z.strictObject({ type: z.literal('open-text'), ...messagePlace }),
  /** All of what a call changed, for its card: answered by `change`. */
  z.strictObject({ type: z.literal('show-change'), toolCallId: id }),
  /** Asks the host to ask: nothing is undone without an answer to its dialog. */
  z.strictObject({ type: z.literal('undo'), toolCallIds: z.array(id).min(1).max(1000) }),
  z.strictObject({ type: z.literal('open-output'), toolCallId: id }),
  /** The call has its result, and its command goes on. */
  z.strictObject({ type: z.literal('let-go-on'), toolCallId: id }),
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
