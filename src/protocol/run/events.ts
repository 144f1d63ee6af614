import * as z from 'zod';
import { approvalBasisSchema } from '../content/approvalBasis.ts';
import { fillingSchema } from '../content/contextUsage.ts';
import { instructedSchema, instructionSchema } from '../content/instructions.ts';
import { attachmentSchema, errorInfoSchema, messageSchema, tokenUsageSchema } from '../content/messages.ts';
import { nodeChangeShape } from '../content/nodeChange.ts';
import { outlineSchema } from '../content/outline.ts';
import { answerShape, askedSchema } from '../content/questions.ts';
import { workStatsSchema } from '../content/workStats.ts';
import { sentenceSchema } from '../text/localizedSchema.ts';
import { parentSchema } from './branches.ts';

export const runPhaseSchema = z.enum(['Running', 'WaitingUser', 'Completed', 'Failed']);
/** `Running`: the loop is at work. `WaitingUser`, `Completed`, `Failed`: stop points; each can be continued. */
export type RunPhase = z.infer<typeof runPhaseSchema>;

const removedKindSchema = z.enum(['file', 'link', 'folder']);
export type RemovedKind = z.infer<typeof removedKindSchema>;

/**
 * A change of one file as kept contents: `before` and `after` are content ids (sha256) in the store; `null` means that
 * the file does not exist on that side. With `kind` it was deleted as it was on disk: `before` is not a text but a file's bytes,
 * where a link led, or nothing, for an empty folder.
 */
const storedChangeSchema = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  kind: removedKindSchema.optional(),
  /** Of what goes away: the permissions it had. */
  mode: z.number().int().optional(),
  /** Of a text that goes away, where it is not plain UTF-8; each has a byte order mark. */
  encoding: z.enum(['utf8bom', 'utf16le', 'utf16be']).optional(),
});
export type StoredChange = z.infer<typeof storedChangeSchema>;

/** A move that is taken back by moving: of a folder, or of a file that is not text. Workspace-relative. */
const movedSchema = z.object({ from: z.string(), to: z.string() });
export type Moved = z.infer<typeof movedSchema>;

/**
 * Change that an undo or redo made. Kind, mode and encoding are those of what went away, `afterKind` that of what came. `path`: as
 * the run last called it; `place`: where it is with the moves of the same undo undone, if that is elsewhere; `paths`: as the calls called it,
 * if otherwise.
 */
const undoChangeSchema = storedChangeSchema.extend({
  afterKind: removedKindSchema.optional(),
  place: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** Path at which it was made: between moves of the same undo a file has other ones. */
  at: z.string().optional(),
  /** Number in the order of the changes and moves of its undo. Absent: an older version wrote it. */
  step: z.number().int().optional(),
});
export type UndoChange = z.infer<typeof undoChangeSchema>;

/** Move that an undo or redo made; `step` as in its changes. */
const undoMoveSchema = movedSchema.extend({ step: z.number().int().optional() });
export type UndoneMove = z.infer<typeof undoMoveSchema>;

/** A command line, and by what its processes are found again: `marker` stands in the environment of each. */
const commandSchema = z.object({ line: z.string(), folder: z.string(), marker: z.string() });
export type Command = z.infer<typeof commandSchema>;

/**
 * A process as no other ever is: its number, when it began, in the system's own words, and (Linux) which start of the machine
 * those count from.
 */
const processSchema = z.object({ pid: z.number().int(), began: z.string(), boot: z.string().optional() });
export type ProcessIdentity = z.infer<typeof processSchema>;

/**
 * A command that its call left in the background: the id by which the run speaks of it, and the process of the window that has
 * it (none where the system does not say).
 */
const backgroundSchema = z.object({ id: z.string(), owner: processSchema.optional() });
export type Background = z.infer<typeof backgroundSchema>;

/**
 * How a command in the background ended: by itself, by `shell.stop` (`call`), by the person, with its window or its run
 * (`window`), because it wrote too much (`flood`) or its time was over; `lost`: its window ended without a word.
 */
export const commandEndShape = {
  by: z.enum(['itself', 'call', 'person', 'window', 'flood', 'timeout', 'lost']),
  exitCode: z.number().int().nullable().optional(),
  signal: z.string().optional(),
  /** What of it was at work all the same. */
  stillRunning: z.array(z.string()).optional(),
  /** The content id of what it wrote. */
  outputId: z.string().optional(),
};
const commandEndSchema = z.object(commandEndShape);
export type CommandEnd = z.infer<typeof commandEndSchema>;

/** Of a step of a workflow: the hash of its name and arguments, and what it gives once its files show that it is done. */
const stepStartSchema = z.object({ argumentsId: z.string(), data: z.unknown() });
export type StepStart = z.infer<typeof stepStartSchema>;

/** Outcome of a node's own call, so that it is known when the editor ends before the node has it. */
const recordedOutcomeSchema = z.union([z.object({ error: errorInfoSchema }), z.object({ data: z.unknown() })]);
export type RecordedOutcome = z.infer<typeof recordedOutcomeSchema>;

/** What a person is asked about, in their language: short and true. `where` is the real path, or the folder a command runs in. */
export const questionSchema = z.object({
  id: z.string(),
  what: z.string(),
  where: z.string(),
  why: z.string(),
  /** The same for records, where that is another language. */
  english: z.object({ what: z.string(), where: z.string() }).optional(),
  command: z.string().optional(),
  /** What it changes, as `shownChange` writes it. */
  diff: z.string().optional(),
  /** Why it is asked again, or what is different from what was proposed before. */
  note: z.string().optional(),
});
export type UserQuestion = z.infer<typeof questionSchema>;

/** Parts of a plan that an approval covers, each as a hash: the file before and after, the command, where it happens, the tool. */
const proposedSchema = z.object({
  before: z.string().optional(),
  after: z.string().optional(),
  command: z.string().optional(),
  location: z.string(),
  tool: z.string().optional(),
});
export type Proposed = z.infer<typeof proposedSchema>;

export const decisionSchema = z.enum(['allow', 'allow-run', 'deny']);
export type Decision = z.infer<typeof decisionSchema>;

/** When words to a run at work are given: at its next turn, once it is done, or now, in place of what it is at. */
export const whenSchema = z.enum(['turn', 'done', 'now']);
export type When = z.infer<typeof whenSchema>;

/** Whose limit of money it is: of one run, or of a day in all windows. */
const limitOfSchema = z.enum(['run', 'day']);
export type LimitOf = z.infer<typeof limitOfSchema>;

/** What a person said: words and what goes with them. */
const userTextShape = { text: z.string(), attachments: z.array(attachmentSchema).optional() };
export type UserText = z.infer<z.ZodObject<typeof userTextShape>>;

/** A model call as it went out. */
const requestShape = {
  /** The model that was asked, as people pick it (`provider/model`). */
  asked: z.string().optional(),
  /** Where it is, when it is behind an address: `api.example.com`. */
  host: z.string().optional(),
  /** What was sent; tokens as they are estimated. */
  sent: z.object({ messages: z.number(), tools: z.number(), tokens: z.number() }).optional(),
};

const besideShape = {
  /** It is no answer in the conversation: a summary of it, which somebody needs or may need. */
  beside: z.literal(true).optional(),
};

const understoodShape = {
  arguments: z.record(z.string(), z.unknown()),
  leftOut: z.array(z.string()).optional(),
};
/** Differences of a call's arguments from what the model sent. */
export type UnderstoodArguments = z.infer<z.ZodObject<typeof understoodShape>>;

const place = { runId: z.string(), seq: z.number().int(), at: z.number() };
const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ ...place, type: z.literal(type), ...shape });

const storedEvents = [
  /**
   * `parent`: it goes on from a place in another run, and has what that one said before as its own. `imported`: it came from a file,
   * and is data of somebody else's.
   */
  event('run-start', {
    workflowId: z.string(),
    agentId: z.string(),
    model: z.string(),
    parent: parentSchema.optional(),
    imported: z.literal(true).optional(),
  }),
  /** Empty: none was found. `usage`: what asking a model for it took. `by` the person: empty is to be called by its words again. */
  event('title', {
    title: z.string(),
    usage: tokenUsageSchema.optional(),
    ...requestShape,
    by: z.literal('person').optional(),
  }),
  /** The person keeps it among the first in the list of runs, or no longer. */
  event('pin', { pinned: z.boolean() }),
  /** The person lets be spent so many US dollars `more`, which is `to` so many in all: by this run, or today by all of them. */
  event('limit-raise', { of: limitOfSchema, more: z.number(), to: z.number() }),
  /** What the workspace says to agents, as it is when the run begins: every prompt of the run has this, whatever becomes of the files. */
  event('instructions', { files: z.array(instructionSchema) }),
  /** From here on the conversation goes to this model (`provider/model`), and no longer to the one before. */
  event('model', { model: z.string() }),
  /** The person's choice: from here on this agent speaks, and no longer the one before. */
  event('agent', { agentId: z.string() }),
  /**
   * `branch`: said in the conversation that a parallel branch of the workflow has of its own. `ends`: it tells of the ends of
   * these calls' commands. `edits`: it tells that the person, or whoever else, has made this of files that the run changed. `instructions`:
   * it tells what these files say to agents. `queued`: it is what waited under this number.
   */
  event('message', {
    message: messageSchema,
    branch: z.string().optional(),
    ends: z.array(z.string()).optional(),
    edits: z.array(z.object({ path: z.string(), now: z.string().nullable() })).optional(),
    instructions: z.array(instructedSchema).optional(),
    queued: z.number().int().optional(),
  }),
  /**
   * A message in the conversation that a step of a node has with a model of its own. `conversation`: which one at this node, `given`: it was
   * there before the model was asked; `anew`: what was recorded before is no part of it. Ids of its calls begin with `callPrefix`.
   */
  event('node-message', {
    node: z.string(),
    branch: z.string().optional(),
    conversation: z.string(),
    callPrefix: z.string(),
    message: messageSchema,
    given: z.literal(true).optional(),
    anew: z.literal(true).optional(),
  }),
  /** Said while the loop was at work; it waits under this event's number, and is a `message` once it is given. `when`: without it `turn`. */
  event('queued', { ...userTextShape, when: whenSchema.optional() }),
  /** What waits under this number is this now. What was given meanwhile stays as it was. */
  event('queued-change', { queued: z.number().int(), ...userTextShape, when: whenSchema }),
  /** The person took it back. */
  event('queued-remove', { queued: z.number().int() }),
  /**
   * The arguments of a call are understood otherwise than the model sent them, which the message keeps: those that differ, by name, and the
   * names of those that are left out.
   */
  event('call-arguments', { toolCallId: z.string(), ...understoodShape }),
  /**
   * The user is asked to approve a call. Without an `approval`, a `tool-start` or a `tool-end` after it, the call still needs its approval,
   * also in a later window. `proposed`: hashes of what the user was shown, by part.
   */
  event('approval-request', {
    toolCallId: z.string(),
    /** The tool's. */
    name: z.string(),
    title: z.string().optional(),
    question: questionSchema,
    proposed: proposedSchema,
  }),
  event('approval', {
    toolCallId: z.string(),
    /** The tool's. */
    name: z.string().optional(),
    /** Of a server's tool: what that calls it for people. */
    title: z.string().optional(),
    decision: decisionSchema,
    waitedMs: z.number(),
    words: z.string().optional(),
    /** The person changed it before allowing it. */
    edited: z.boolean().optional(),
    /** Why nobody was asked, when nobody was. */
    automatic: z.string().optional(),
    /** The same for code. Absent: asked, or of an earlier version. */
    basis: approvalBasisSchema.optional(),
    /** A denial that holds the run: no request is sent until a message of the user or a `hold-end` follows. */
    holds: z.literal(true).optional(),
  }),
  /** The user lets the run continue after denials without saying what to do instead. */
  event('hold-end', {}),
  /** The intent, on disk before the effect; with it a call whose end was never written can be judged, and undone. */
  event('tool-start', {
    toolCallId: z.string(),
    name: z.string(),
    title: z.string().optional(),
    /** What it is about to do to files, if it can say. */
    changes: z.array(storedChangeSchema).optional(),
    moved: movedSchema.optional(),
    command: commandSchema.optional(),
    /** It changes nothing, and may be repeated. */
    onlyReads: z.literal(true).optional(),
    /** The command that runs, where it only reads and leaves no process. */
    reads: z.string().optional(),
    step: stepStartSchema.optional(),
    /** Of a call that stands in no message: what it is about, by its arguments' names. */
    about: z.record(z.string(), z.string()).optional(),
  }),
  /** The command that a call runs has a process, which may live longer than the editor. */
  event('command-start', { toolCallId: z.string(), process: processSchema }),
  /** The call waits until the person answers its questions, also over the editor's end. */
  event('ask', { toolCallId: z.string(), questions: z.array(askedSchema) }),
  /** On disk before the call goes on with it. Words to the model, and nothing else: no question of the gate is answered so. */
  event('answer', { toolCallId: z.string(), ...answerShape }),
  event('tool-end', {
    toolCallId: z.string(),
    name: z.string(),
    ok: z.boolean(),
    ms: z.number(),
    code: z.string().optional(),
    /** What it did to files; of one that failed or was interrupted, what it may have done. Empty: it is known to have changed nothing. */
    changes: z.array(storedChangeSchema).optional(),
    moved: movedSchema.optional(),
    /** Of a call that the editor's end interrupted: the last sign of life of the run (epoch milliseconds). */
    interruptedAt: z.number().optional(),
    /** Processes of its command that were at work after the editor's end, when that was looked at. */
    stillRunning: z.array(z.string()).optional(),
    /** What it changed, or its first lines, as `shownChange` writes it. */
    diff: z.string().optional(),
    /** The content id of what was too long to tell. */
    outputId: z.string().optional(),
    /** Its command goes on. */
    background: backgroundSchema.optional(),
    /** Of the command that it ran to its end; null: it was killed. */
    exitCode: z.number().int().nullable().optional(),
    /** Of a call that a node made, and that may have changed something. Pictures are not in it. */
    outcome: recordedOutcomeSchema.optional(),
  }),
  /**
   * The person's decision about calls of nodes that were interrupted: the run continues after them with this result, or they run again,
   * each with its approval.
   */
  event('interruption-choice', {
    toolCallIds: z.array(z.string()),
    choice: z.enum(['after', 'again']),
    result: z.unknown().optional(),
  }),
  /** The command that a call left in the background is not at work any more; this can be long after the call. */
  event('command-end', { toolCallId: z.string(), ...commandEndShape }),
  /** The person took changes of these calls back, or, without any, had files as the run left them; `changes` are what that did. */
  event('undo', {
    toolCallIds: z.array(z.string()),
    changes: z.array(undoChangeSchema),
    /** Paths of the calls' own changes and moves that are undone by it, where they are not those of `changes`. */
    paths: z.array(z.string()).optional(),
    /** Moves that it made, in order. Absent: an older version wrote it, and it cannot be redone. */
    moves: z.array(undoMoveSchema).optional(),
  }),
  /** The user took back the undo with the number `undo`, as far as `changes` and `moves` say; `paths`: of the calls' own changes and moves. */
  event('redo', {
    undo: z.number().int(),
    toolCallIds: z.array(z.string()),
    changes: z.array(undoChangeSchema),
    paths: z.array(z.string()),
    moves: z.array(undoMoveSchema),
  }),
  /** `node`: of a call outside the conversation. */
  event('usage', {
    usage: tokenUsageSchema,
    attempts: z.number(),
    model: z.string(),
    ms: z.number(),
    node: z.string().optional(),
    ...requestShape,
    ...besideShape,
    /** As it went out, in the run's conversation. */
    filling: fillingSchema.optional(),
    /** Of `ms`: waited before and between its tries. */
    delayMs: z.number().optional(),
  }),
  /** A model call that gave no answer at this try; it is tried again after `waitMs`, and without that no more. */
  event('attempt', {
    attempt: z.number().int(),
    code: z.string(),
    /** For people, with the provider's own words. */
    message: z.string(),
    waitMs: z.number().optional(),
    model: z.string(),
    node: z.string().optional(),
    ...requestShape,
    ...besideShape,
  }),
  /** The workflow that the run follows, as it is now. */
  event('outline', { outline: outlineSchema }),
  event('node', nodeChangeShape),
  /**
   * Room was made in the model's window: from now on it is sent less. `node`: in the conversation that a node of the workflow has of its
   * own; `branch`: which is kept with this branch; `conversation`: which one of a step it is.
   */
  event('compaction', {
    upTo: z.number().int().min(0),
    most: z.number().int().min(1).optional(),
    summary: z.string().optional(),
    kept: z.string().optional(),
    node: z.string().optional(),
    branch: z.string().optional(),
    conversation: z.string().optional(),
    /** What fills the window then. */
    filling: fillingSchema.optional(),
  }),
  /**
   * The record was found damaged, and is gone on with. What is numbered after `from`, up to `to`, came after a loss: it is
   * shown apart. `places`: the first bytes of what is damaged, which has been told by this; `damage`: in sentences; `said`: what they are
   * made of.
   */
  event('mended', {
    from: z.number().int(),
    to: z.number().int(),
    places: z.array(z.number()),
    damage: z.string(),
    said: sentenceSchema.optional(),
  }),
  event('phase', { phase: runPhaseSchema, error: errorInfoSchema.optional(), took: workStatsSchema.optional() }),
] as const;

const shownEvents = [
  event('chunk', {
    content: z.string().optional(),
    thinking: z.string().optional(),
    /** The content of this reply so far was thinking. */
    contentIsThinking: z.literal(true).optional(),
    /** A fragment of a call being written; `index` counts the calls of this reply. */
    toolCall: z
      .object({ index: z.number(), name: z.string().optional(), argumentsText: z.string().optional() })
      .optional(),
    /** The node whose model call says it, outside the conversation. */
    node: z.string().optional(),
  }),
  /** A model call goes out. */
  event('request', {
    model: z.string(),
    node: z.string().optional(),
    ...requestShape,
    ...besideShape,
    filling: fillingSchema.optional(),
  }),
  /** What is being waited for: a model loading, a prompt being read (`fraction` 0..1), a retry (`until`, epoch ms; `attempt`: which try it is). */
  event('progress', {
    text: z.string(),
    said: sentenceSchema.optional(),
    fraction: z.number().optional(),
    until: z.number().optional(),
    attempt: z.number().int().optional(),
  }),
  /** The person asked for a rest: it comes when the turn is over. */
  event('pausing', {}),
  event('question', { toolCallId: z.string(), question: questionSchema, title: z.string().optional() }),
  event('tool-output', { toolCallId: z.string(), text: z.string() }),
] as const;

/** What is kept in a journal, one line each. */
export const storedEventSchema = z.discriminatedUnion('type', storedEvents);
export type StoredEvent = z.infer<typeof storedEventSchema>;
/** Everything that happens in a run; `chunk`, `request`, `progress`, `pausing`, `question` and `tool-output` are shown, never stored. */
export const runEventSchema = z.discriminatedUnion('type', [...storedEvents, ...shownEvents]);
export type RunEvent = z.infer<typeof runEventSchema>;

type WithoutPlace<Event> = Event extends unknown ? Omit<Event, 'runId' | 'seq' | 'at'> : never;
/** An event before the run's log gives it its place (`runId`, `seq`, `at`). */
export type EventBody = WithoutPlace<RunEvent>;
