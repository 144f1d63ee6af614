// @invariant events-never-cause: Events report what happened and never cause it; control flow consists of function calls.
import * as z from 'zod';
import { approvalBasisSchema } from '../content/approvalBasis.ts';
import { backgroundCommandSchema, commandEndShape, commandSchema, processSchema } from '../content/commandRecord.ts';
import { contextUsageSchema } from '../content/contextUsage.ts';
import { deliveredInstructionSchema, workspaceInstructionFileSchema } from '../content/instructions.ts';
import { attachmentSchema, errorInfoSchema, messageSchema, tokenUsageSchema } from '../content/messages.ts';
import { workflowNodeEventShape } from '../content/nodeChange.ts';
import { workflowDiagramSchema } from '../content/outline.ts';
import { userQuestionAnswerShape, userQuestionsSchema } from '../content/questions.ts';
import { repositoryChangeSchema } from '../content/repositoryChange.ts';
import { ofTaskShape, taskEndShape, taskMessageShape, taskStartShape } from '../content/tasks.ts';
import { workStatsSchema } from '../content/workStats.ts';
import { localizedMessageSchema } from '../text/localizedSchema.ts';
import { thinkingEfforts } from '../values/thinkingEffort.ts';
import { runBranchOriginSchema } from './branches.ts';

export const runPhaseSchema = z.enum(['Running', 'WaitingUser', 'Completed', 'Failed']);
export type RunPhase = z.infer<typeof runPhaseSchema>;

const removedKindSchema = z.enum(['file', 'link', 'folder']);
export type RemovedFileKind = z.infer<typeof removedKindSchema>;

/** Reasons why the changes of a call are not recorded: switched off, too many files, a command that is still at work, or a failure. */
const unrecordedReasons = ['off', 'too-many-files', 'background', 'failed'] as const;
export type UnrecordedReason = (typeof unrecordedReasons)[number];

/**
 * Change of one file. `before` and `after` are content ids (SHA-256) in the store; `null`: no file on this side. `kind` marks a deletion of
 * the file as stored on disk: `before` is the bytes of a file, the target of a link, or empty for an empty folder. `mode` and `encoding`
 * describe removed content; `encoding` is absent for plain UTF-8, and each listed encoding has a byte order mark. Changes that were recorded
 * by comparison also have `afterMode`, and `afterKind` if `after` is not text; `mixed`: something else may have changed the file at the
 * same time.
 */
const storedChangeSchema = z.object({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  kind: removedKindSchema.optional(),
  mode: z.number().int().optional(),
  encoding: z.enum(['utf8bom', 'utf16le', 'utf16be']).optional(),
  afterKind: removedKindSchema.optional(),
  afterMode: z.number().int().optional(),
  mixed: z.literal(true).optional(),
});
export type StoredFileChange = z.infer<typeof storedChangeSchema>;

/** Change by a background command. `seq`: position among the event numbers, if another change of the run followed before it was recorded. */
const laterChangeSchema = storedChangeSchema.extend({ seq: z.number().optional() });
export type LaterFileChange = z.infer<typeof laterChangeSchema>;

/**
 * Access that a call at work asks for: a host (normalized name or address) with a port, or protected files that a command has changed.
 */
const accessTargetSchema = z.object({
  host: z.string().optional(),
  port: z.number().int().optional(),
  paths: z.array(z.string()).optional(),
});
export type AccessTarget = z.infer<typeof accessTargetSchema>;

const movedSchema = z.object({ from: z.string(), to: z.string() });
export type FileMove = z.infer<typeof movedSchema>;

/**
 * Change made by an undo or redo. Kind, mode and encoding describe the removed content, `afterKind` the restored content. `path`: the
 * newest path in the run; `place`: the path with the moves of the same undo reverted, if different; `paths`: the paths used by the calls,
 * if different; `at`: the path at the time of the change; `step`: the position among the changes and moves of the undo, absent in records
 * of earlier versions.
 */
const undoChangeSchema = storedChangeSchema.extend({
  place: z.string().optional(),
  paths: z.array(z.string()).optional(),
  at: z.string().optional(),
  step: z.number().int().optional(),
});
export type FileChangeByUndo = z.infer<typeof undoChangeSchema>;

const undoMoveSchema = movedSchema.extend({ step: z.number().int().optional() });
export type UndoneMove = z.infer<typeof undoMoveSchema>;

// Start of a workflow step: the hash of its name and arguments, and its result once the files prove that the step is done.
const stepStartSchema = z.object({ argumentsId: z.string(), data: z.unknown() });
export type WorkflowStepStart = z.infer<typeof stepStartSchema>;

// Outcome of a node's own call, stored in case the editor closes before the node receives the outcome.
const recordedOutcomeSchema = z.union([z.object({ error: errorInfoSchema }), z.object({ data: z.unknown() })]);
export type RecordedOutcome = z.infer<typeof recordedOutcomeSchema>;

/**
 * Approval request for the user, in the language of the editor. `where` is the real path or the working folder of a command. `english` is
 * the text for records if the language differs. `note` states the reason of a repeated request or the difference to the earlier request.
 */
const shownApprovalRequestSchema = z.object({
  id: z.string(),
  what: z.string(),
  where: z.string(),
  why: z.string(),
  english: z.object({ what: z.string(), where: z.string() }).optional(),
  command: z.string().optional(),
  diff: z.string().optional(),
  note: z.string().optional(),
});
export type ShownApprovalRequest = z.infer<typeof shownApprovalRequestSchema>;

// Hashes of the parts of a plan that an approval covers: file before and after, command, location, tool.
const proposedSchema = z.object({
  before: z.string().optional(),
  after: z.string().optional(),
  command: z.string().optional(),
  location: z.string(),
  tool: z.string().optional(),
});
export type ProposedToolCallHashes = z.infer<typeof proposedSchema>;

export const approvalDecisionSchema = z.enum(['allow', 'allow-run', 'deny']);
export type ApprovalDecision = z.infer<typeof approvalDecisionSchema>;

/** Delivery time of a message to a running run: at the next turn, after the run, or at once, replacing the current work. */
export const messageDeliveryTimingSchema = z.enum(['turn', 'done', 'now']);
export type MessageDeliveryTiming = z.infer<typeof messageDeliveryTimingSchema>;

const limitOfSchema = z.enum(['run', 'day']);
export type SpendingLimitKind = z.infer<typeof limitOfSchema>;

// `unrecorded`: the changes are unknown; `lost`: files that were changed or deleted and that cannot be restored (`lostCount`: their number,
// if more). `lines`: sums over the changed texts. `repositories`: changes of refs, index and other files of Git.
const recordedChangesShape = {
  unrecorded: z.enum(unrecordedReasons).optional(),
  lines: z.object({ added: z.number(), removed: z.number() }).optional(),
  lost: z.array(z.string()).optional(),
  lostCount: z.number().int().optional(),
  repositories: z.array(repositoryChangeSchema).optional(),
};

const userTextShape = { text: z.string(), attachments: z.array(attachmentSchema).optional() };
export type UserMessageText = z.infer<z.ZodObject<typeof userTextShape>>;

/**
 * Recorded request. `asked`: the selected model (`provider/model`). `host`: the server (`api.example.com`). `sent`: message and tool counts
 * with estimated tokens.
 */
const requestShape = {
  asked: z.string().optional(),
  host: z.string().optional(),
  sent: z.object({ messages: z.number(), tools: z.number(), tokens: z.number() }).optional(),
};

const besideShape = {
  beside: z.literal(true).optional(),
};

const understoodShape = {
  arguments: z.record(z.string(), z.unknown()),
  leftOut: z.array(z.string()).optional(),
};
export type CorrectedArguments = z.infer<z.ZodObject<typeof understoodShape>>;

const position = { runId: z.string(), seq: z.number().int(), at: z.number() };
const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ ...position, type: z.literal(type), ...shape });

/** An effort of a later version counts as the default. */
const thinkingEffortSchema = z.enum(thinkingEfforts).optional().catch(undefined);

const storedEvents = [
  // `parent`: the run continues another run and shares its earlier events. `imported`: the run comes from a file and is untrusted data.
  event('run-start', {
    workflowId: z.string(),
    agentId: z.string(),
    model: z.string(),
    effort: thinkingEffortSchema,
    parent: runBranchOriginSchema.optional(),
    imported: z.literal(true).optional(),
  }),
  // Empty title: the model found none. `usage`: tokens of the title request. An empty title by the user restores the automatic title.
  event('title', {
    title: z.string(),
    usage: tokenUsageSchema.optional(),
    ...requestShape,
    by: z.literal('person').optional(),
  }),
  event('pin', { pinned: z.boolean() }),
  // The user raises a spending limit by `more` US dollars `to` a new total, for this run or for today.
  event('limit-raise', { of: limitOfSchema, more: z.number(), to: z.number() }),
  // Instruction files at the start of the run. Every prompt of the run contains this text, also after a change of the files.
  event('instructions', { files: z.array(workspaceInstructionFileSchema) }),
  // The conversation goes on with this model and effort. Without `effort`: the default.
  event('model', { model: z.string(), effort: thinkingEffortSchema }),
  event('agent', { agentId: z.string() }),
  // `branch`: belongs to the conversation of a parallel branch. `ends`: reports the end of the commands of these calls. `edits`: reports
  // changes by others to files of the run. `instructions`: contains these instruction files. `queued`: delivers the queued message with
  // this number.
  event('message', {
    message: messageSchema,
    branch: z.string().optional(),
    ends: z.array(z.string()).optional(),
    edits: z.array(z.object({ path: z.string(), now: z.string().nullable() })).optional(),
    instructions: z.array(deliveredInstructionSchema).optional(),
    queued: z.number().int().optional(),
  }),
  // Message in the conversation of a node's step with its own model. `conversation`: key within the node. `given`: the message precedes the
  // first request. `anew`: earlier messages are discarded. Ids of its calls start with `callPrefix`.
  event('node-message', {
    node: z.string(),
    branch: z.string().optional(),
    conversation: z.string(),
    callPrefix: z.string(),
    message: messageSchema,
    given: z.literal(true).optional(),
    anew: z.literal(true).optional(),
  }),
  // Message of the user during a turn, identified by the event number. A `message` event, or for a task a `task-message` event, records the
  // delivery. `when`: `turn` if absent.
  event('queued', { ...userTextShape, when: messageDeliveryTimingSchema.optional(), ...ofTaskShape }),
  event('queued-change', { queued: z.number().int(), ...userTextShape, when: messageDeliveryTimingSchema }),
  event('queued-remove', { queued: z.number().int() }),
  // Corrected arguments of a call; the message retains the original. Contains the changed arguments, and the names of removed arguments.
  event('call-arguments', { toolCallId: z.string(), ...understoodShape }),
  // Requests an approval of the user. Without an `approval`, `tool-start` or `tool-end` after this event, the call still needs its
  // approval, also in a later window. `proposed`: hashes of the displayed parts.
  //
  // The following `approval` may hold the run (`holds`): no request is sent until a message of the user or a `hold-end`. `automatic` is the
  // reason of an automatic decision as a sentence; `basis` is its form for code, absent in records of earlier versions.
  event('approval-request', {
    toolCallId: z.string(),
    name: z.string(),
    title: z.string().optional(),
    question: shownApprovalRequestSchema,
    proposed: proposedSchema,
  }),
  event('approval', {
    toolCallId: z.string(),
    name: z.string().optional(),
    title: z.string().optional(),
    decision: approvalDecisionSchema,
    waitedMs: z.number(),
    words: z.string().optional(),
    edited: z.boolean().optional(),
    automatic: z.string().optional(),
    basis: approvalBasisSchema.optional(),
    holds: z.literal(true).optional(),
  }),
  event('hold-end', {}),
  // Decision on an access of a call at work; `automatic` and `basis` as for `approval`.
  event('access', {
    toolCallId: z.string(),
    name: z.string(),
    target: accessTargetSchema,
    decision: approvalDecisionSchema,
    waitedMs: z.number(),
    automatic: z.string().optional(),
    basis: approvalBasisSchema.optional(),
  }),
  // Intent, written to disk before the effect. Recovery judges and undoes a call without a recorded end by this event. `reads`: a read-only
  // command that leaves no process. `about`: subject of a call outside the conversation, by argument name.
  //
  // The following `tool-end` has the actual `changes` (an empty list means none), or the possible changes of a failed or interrupted call.
  // `sandbox` is present for a command of a run with the preset `sandbox`; a second `tool-start` restarts it outside. `snapshot` identifies
  // the state of the files before the call, to compare after a kill; at its end, from which the record of background commands goes on.
  //
  // `interruptedAt` is the last recorded activity before the editor closed (epoch milliseconds), `stillRunning` the processes found at
  // recovery, `outputId` the content id of long output, `exitCode` null for a signal, `outcome` the result of a node's call without images.
  event('tool-start', {
    toolCallId: z.string(),
    name: z.string(),
    title: z.string().optional(),
    changes: z.array(storedChangeSchema).optional(),
    moved: movedSchema.optional(),
    command: commandSchema.optional(),
    onlyReads: z.literal(true).optional(),
    reads: z.string().optional(),
    step: stepStartSchema.optional(),
    about: z.record(z.string(), z.string()).optional(),
    snapshot: z.string().optional(),
    sandbox: z.enum(['inside', 'outside']).optional(),
  }),
  event('command-start', { toolCallId: z.string(), process: processSchema }),
  // The answer is on disk before the call continues; it is text and never approves a call. `by`: MCP server that asks during its call.
  event('ask', { toolCallId: z.string(), questions: z.array(userQuestionsSchema), by: z.string().min(1).optional() }),
  event('answer', { toolCallId: z.string(), ...userQuestionAnswerShape }),
  event('tool-end', {
    toolCallId: z.string(),
    name: z.string(),
    ok: z.boolean(),
    ms: z.number(),
    code: z.string().optional(),
    changes: z.array(storedChangeSchema).optional(),
    moved: movedSchema.optional(),
    interruptedAt: z.number().optional(),
    stillRunning: z.array(z.string()).optional(),
    diff: z.string().optional(),
    outputId: z.string().optional(),
    background: backgroundCommandSchema.optional(),
    exitCode: z.number().int().nullable().optional(),
    outcome: recordedOutcomeSchema.optional(),
    snapshot: z.string().optional(),
    ...recordedChangesShape,
  }),
  // Decision of the user on interrupted calls of nodes: continue with this result, or run the calls again with new approvals.
  event('interruption-choice', {
    toolCallIds: z.array(z.string()),
    choice: z.enum(['after', 'again']),
    result: z.unknown().optional(),
  }),
  event('command-end', { toolCallId: z.string(), ...commandEndShape }),
  // Changes of a background command since the last record. `snapshot` identifies the state of the files from which the next record begins.
  event('command-changes', {
    toolCallId: z.string(),
    changes: z.array(laterChangeSchema).optional(),
    ...recordedChangesShape,
    repositories: z.array(repositoryChangeSchema.extend({ seq: z.number().optional() })).optional(),
    snapshot: z.string().optional(),
  }),
  // Undo of the changes of these calls, or, with no calls, restoration of files as the run left them. `changes` are the effects of the
  // undo.
  event('undo', {
    toolCallIds: z.array(z.string()),
    changes: z.array(undoChangeSchema),
    paths: z.array(z.string()).optional(),
    moves: z.array(undoMoveSchema).optional(),
    repositories: z.array(repositoryChangeSchema).optional(),
  }),
  // Reverts undo number `undo` to the extent of `changes` and `moves`. `paths` are the paths used by the calls.
  event('redo', {
    undo: z.number().int(),
    toolCallIds: z.array(z.string()),
    changes: z.array(undoChangeSchema),
    paths: z.array(z.string()),
    moves: z.array(undoMoveSchema),
    repositories: z.array(repositoryChangeSchema).optional(),
  }),
  // `node`: the call belongs to a node, outside the conversation.
  event('usage', {
    usage: tokenUsageSchema,
    attempts: z.number(),
    model: z.string(),
    ms: z.number(),
    node: z.string().optional(),
    ...ofTaskShape,
    ...requestShape,
    ...besideShape,
    filling: contextUsageSchema.optional(),
    delayMs: z.number().optional(),
  }),
  // Failed attempt of a model call; the next attempt starts after `waitMs`, absent after the last attempt. `message` is for the user and
  // may quote the provider.
  event('attempt', {
    attempt: z.number().int(),
    code: z.string(),
    message: z.string(),
    waitMs: z.number().optional(),
    model: z.string(),
    node: z.string().optional(),
    ...ofTaskShape,
    ...requestShape,
    ...besideShape,
  }),
  event('outline', { outline: workflowDiagramSchema }),
  event('node', workflowNodeEventShape),
  // Compaction of the context window. `node`: in the conversation of a node; `branch`: in the conversation of a parallel branch;
  // `conversation`: key of the step's conversation.
  event('compaction', {
    upTo: z.number().int().min(0),
    most: z.number().int().min(1).optional(),
    summary: z.string().optional(),
    kept: z.string().optional(),
    node: z.string().optional(),
    branch: z.string().optional(),
    conversation: z.string().optional(),
    ...ofTaskShape,
    filling: contextUsageSchema.optional(),
  }),
  event('task-start', taskStartShape),
  event('task-message', taskMessageShape),
  event('task-end', taskEndShape),
  // Damaged record that was continued. Events after `from`, up to `to`, followed a loss and are displayed separately. `places`: file
  // offsets of the reported damage; `damage`: sentences.
  event('mended', {
    from: z.number().int(),
    to: z.number().int(),
    places: z.array(z.number()),
    damage: z.string(),
    said: localizedMessageSchema.optional(),
  }),
  event('phase', { phase: runPhaseSchema, error: errorInfoSchema.optional(), took: workStatsSchema.optional() }),
] as const;

const shownEvents = [
  event('chunk', {
    content: z.string().optional(),
    thinking: z.string().optional(),
    contentIsThinking: z.literal(true).optional(),
    toolCall: z
      .object({ index: z.number(), name: z.string().optional(), argumentsText: z.string().optional() })
      .optional(),
    node: z.string().optional(),
    ...ofTaskShape,
  }),
  event('request', {
    model: z.string(),
    node: z.string().optional(),
    ...ofTaskShape,
    ...requestShape,
    ...besideShape,
    filling: contextUsageSchema.optional(),
  }),
  // Progress of a wait: a loading model, prompt evaluation (`fraction` 0..1), a retry (`until`, epoch ms; `attempt`: its number),
  // or the preparation of a call (`callId`).
  event('progress', {
    text: z.string(),
    said: localizedMessageSchema.optional(),
    fraction: z.number().optional(),
    until: z.number().optional(),
    attempt: z.number().int().optional(),
    callId: z.string().optional(),
    ...ofTaskShape,
  }),
  event('pausing', {}),
  event('question', {
    toolCallId: z.string(),
    question: shownApprovalRequestSchema,
    title: z.string().optional(),
    access: z.literal(true).optional(), // the call is at work and asks for an access
    isOver: z.literal(true).optional(), // the access is not asked for any more
  }),
  event('tool-output', { toolCallId: z.string(), text: z.string() }),
] as const;

export const storedEventSchema = z.discriminatedUnion('type', storedEvents);
export type StoredEvent = z.infer<typeof storedEventSchema>;
/** Events of a run. `chunk`, `request`, `progress`, `pausing`, `question` and `tool-output` are displayed and never stored. */
export const runEventSchema = z.discriminatedUnion('type', [...storedEvents, ...shownEvents]);
export type RunEvent = z.infer<typeof runEventSchema>;

type WithoutPosition<Event> = Event extends unknown ? Omit<Event, 'runId' | 'seq' | 'at'> : never;
export type RunEventBody = WithoutPosition<RunEvent>;
