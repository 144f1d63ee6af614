import type * as z from 'zod';
import type { OwnBasis } from '../../protocol/content/approvalBasis.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { Policy } from '../../protocol/content/policy.ts';
import type { Answer, UserQuestions } from '../../protocol/content/questions.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import type {
  Background,
  Decision,
  EventBody,
  Moved,
  ProcessIdentity,
  Proposed,
  RemovedKind,
  StepStart,
  StoredChange,
} from '../../protocol/run/events.ts';
import type { Code } from '../../protocol/text/codes.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { type NamedDefinition, toDefinition } from '../definitions/definition.ts';
import type { CommandPart } from './commandPart.ts';
import type { WithImages } from './imageFiles.ts';
import type { Origin } from './toolOrigin.ts';
import type { Workspace } from './workspace.ts';

/** A failure a model can act on. Thrown by tools, turned into an outcome by the host. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    readonly code: Code,
    message: string,
    readonly details?: unknown,
  ) {
    super(message);
  }
}

/**
 * What is asked for is so already. A model hears the sentence, because it thought otherwise; a step of a workflow has what it
 * wanted, and is given `data`.
 */
export class AlreadyAppliedError extends ToolError {
  constructor(
    { code, message, details }: ToolError,
    readonly data: object,
  ) {
    super(code, message, details);
  }
}

/** `null`: the file does not exist on that side. */
export interface FileChange {
  /** Workspace-relative, as the model and the card show it. */
  path: string;
  /** The real path, links resolved. */
  realPath: string;
  before: string | null;
  after: string | null;
  /** Of a file that goes away, as it is on disk. */
  form?: FileForm;
}

/** What a text file is besides its text. */
export type FileForm = Pick<StoredChange, 'mode' | 'encoding'>;

/** A file, a link or an empty folder that is about to be deleted, as it is on disk. */
export interface Removed {
  /** Workspace-relative. */
  path: string;
  kind: RemovedKind;
  mode: number;
  /** A file's bytes, or where a link leads. */
  content: Buffer;
}

/** Lines of a file as the conversation last showed them to the model. */
export interface SeenText {
  /** Hash of the whole file. */
  sha256: string;
  text: string;
  /** Number of the first line, from 1. */
  startLine: number;
  /** `text` is the whole file. */
  isWhole: boolean;
}

/** What a tool may use while it runs. */
export interface ToolContext {
  runId: string;
  toolCallId: string;
  workspace: Workspace;
  signal: AbortSignal;
  /** Files that rules keep a search from `place` (both workspace-relative) from telling of. */
  keptFromSearch(place: string): (path: string) => boolean;
  /** Live output for the card. */
  output(text: string): void;
  /** The file of the plan's `change` holds this text now, in place of the one that was shown: kept for the diff and for undo. */
  leaves(text: string): Promise<void>;
  /** Tells which process a command has, so that it can be found again. */
  commandStarted(process: ProcessIdentity): void;
  /** The call's command goes on when the call has its result. */
  commandGoesOn(background: Background): void;
  /** Keeps a text that is too long for the outcome with the call, at most one a call. Gives its id (sha256). */
  keepOutput(text: string): Promise<string>;
  /** A text that a call of this run has kept, by (the beginning of) its id. */
  keptOutput(id: string): Promise<string | undefined>;
  /** Returns what the conversation last showed of a file (workspace-relative); undefined if it has not shown it. */
  lastSeen(path: string): Promise<SeenText | undefined>;
  /**
   * Shows the person these questions and waits for the answer, which is on disk when it is given. Throws `ToolError`: stopped, or
   * `TOOL_UNANSWERED` when the editor ends, which leaves the call open.
   */
  ask(questions: readonly UserQuestions[]): Promise<Answer>;
}

/**
 * A change worked out before anybody is asked, having changed nothing. What is shown is what runs: `run` does exactly
 * this, or fails with `E_PRECONDITION_FAILED` when the world has changed since.
 */
export interface CallPlan {
  /** What, in a few words: `Edit src/greet.ts`. */
  what: LocalizableText;
  /** Of a server's tool: what that calls it for people. */
  title?: string;
  /** The real path, or the folder a command runs in. */
  where: LocalizableText;
  /** Why this is asked. */
  why: LocalizableText;
  change?: FileChange;
  command?: string;
  /** Work that it would discard and that exists nowhere else. Such a call is asked about every time. */
  loss?: Loss;
  /** Finds that work where the plan does not have it yet; undefined: there is none. Resolves within a second, and never rejects. */
  findLoss?(): Promise<Loss | undefined>;
  /** What its processes will carry in their environment, by which they are found again. */
  marker?: string;
  /** Where the command runs, workspace-relative, `.` for the workspace; what it runs, where that can be said; and the packages of the project. */
  folder?: string;
  parts?: readonly CommandPart[];
  packages?: readonly string[];
  /** Seconds that the command may take, where the call says it. */
  timeLimit?: number;
  /** The command goes on when the call has its result. */
  background?: true;
  /** Files outside of the open folders that the command says it writes its output to: what this run may then read. */
  outputs?: readonly string[];
  /** Workspace-relative, for rules about paths; absent: that of `change`. */
  paths?: readonly string[];
  /** Places that the command names, for rules that ask or deny; a folder ends in `/`, the workspace is ''. */
  named?: readonly string[];
  /** The site it asks, like `https://example.com`. */
  site?: string;
  /** How it runs when nobody is asked because it only reads; a sentence: why it is not known to. */
  reading?: ((context: ToolContext) => Promise<unknown>) | LocalizableText;
  /** What else the question shows: the arguments of somebody else's tool. */
  details?: LocalizableText;
  /** Nobody is asked, for this reason. */
  free?: OwnBasis;
  /** What *Allow for this run* would cover, e.g. `fs.edit`; absent for what must be asked every time. */
  grant?: string;
  /** Any yes covers its `grant`: the next one like it is not asked about. */
  once?: true;
  /** No preset and no rule allows it: only an answer does, and the grant that goes with it. */
  guarded?: true;
  /** The tool that a rule about this is for, where another one was called in its place. */
  tool?: string;
  /** Of an MCP server's tool: what a rule and a grant are bound to. The host sets it. */
  origin?: Origin;
  /**
   * The plan for another `change.after`, or another `command`, as the person wants it: worked out anew, through the same
   * checks. Throws `ToolError`. A plan without change and command is revised by the call's arguments.
   */
  revise?(edited: string): Promise<CallPlan>;
  /** What is kept for undo when there is no `change`, looked at right before it runs. */
  trace?(): Promise<Trace>;
  /** What it gives when it is done as it is planned, where its files alone say that it is. */
  data?(): object;
  run(context: ToolContext): Promise<unknown>;
}

/** Data that a command would discard. */
export interface Loss {
  text: LocalizableText;
  /** Names of all that would be lost, to be compared with what was shown. */
  items: readonly string[];
}

/** A plan as a person is asked about it: what it says is in their language. */
export interface AskedPlan extends Omit<CallPlan, 'what' | 'where' | 'why' | 'details' | 'loss' | 'findLoss'> {
  what: string;
  where: string;
  why: string;
  details?: string;
  loss?: Loss & { text: string };
  /** The same in English, for records, where that is another one. */
  english?: { what: string; where: string };
}

/** What a call is about to do to files. */
export type Trace = { changes: readonly FileChange[] } | { moved: Moved } | { removed: readonly Removed[] };

export interface Tool {
  definition: ToolDefinition;
  /** What its maker calls it for people. */
  title?: string;
  /** What its data holds, with words for each key: for people who name them in a workflow. A model is not told of it. */
  gives?: z.ZodObject;
  /** Callable, but not among the tools that a model is told of. */
  hidden?: boolean;
  /** It touches nothing but its own run: no preset asks about it. */
  ofRun?: true;
  /** It waits for the person: it begins when its reply is on disk, and what is asked for after it waits for it. It heeds a stop by itself. */
  waits?: true;
  arguments: z.ZodType;
  /** JSON schema of the arguments, where the definition has only a part of it. */
  schema?: unknown;
  /** Arguments in a form that no model is told of, as its own ones; undefined: they are in no such form. */
  understands?(given: Record<string, unknown>): Record<string, unknown> | undefined;
  /** Of an MCP server's tool: whose it is, and as what, at this moment. */
  origin?(args: unknown): Origin | undefined;
  /** `read` runs freely and in parallel; `change` and `execute` are asked about and run one by one, in order. */
  risk: 'read' | 'change' | 'execute';
  /** It works on files or starts programs of this machine: not there where the window's folders are on no disk of it. */
  onDisk?: true;
  /** Left out for models with a small window: its definition costs more there than it helps. */
  extra?: true;
  /** For `read` tools: does it. Throws `ToolError`. */
  run?(args: unknown, context: ToolContext): Promise<unknown>;
  /**
   * For the others: works out what would happen. Throws `ToolError`. A `read` tool may have one too: for arguments it
   * gives a plan for (a secret), that is asked about and run; undefined means free.
   */
  plan?(args: unknown, context: ToolContext): Promise<CallPlan | undefined>;
  /**
   * What a call of this tool is really for: that tool's rules, question and grant count. Its own `run` is for what is free
   * then. Throws `ToolError`.
   */
  target?(args: unknown): { tool: Tool; args: unknown };
}

type ToolData<Gives> = Gives extends z.ZodRawShape ? z.output<z.ZodObject<Gives>> | WithImages : unknown;

/** A tool that only reads. `ask` gives the question for the few arguments that need one. */
export function readTool<Shape extends z.ZodRawShape, Gives extends z.ZodRawShape | undefined = undefined>(
  named: NamedDefinition<Shape, Gives>,
  run: (args: z.output<z.ZodObject<Shape>>, context: ToolContext) => Promise<ToolData<Gives>>,
  ask?: (args: z.output<z.ZodObject<Shape>>, context: ToolContext) => Promise<CallPlan | undefined>,
): Tool {
  return { ...toDefinition(named), risk: 'read', run: run as Tool['run'], plan: ask as Tool['plan'] };
}

/** A tool that changes the world, through a plan that can be shown first. */
export function askingTool<Shape extends z.ZodRawShape, Gives extends z.ZodRawShape | undefined = undefined>(
  named: NamedDefinition<Shape, Gives>,
  risk: 'change' | 'execute',
  plan: (args: z.output<z.ZodObject<Shape>>, context: ToolContext) => Promise<CallPlan>,
): Tool {
  return { ...toDefinition(named), risk, plan: plan as Tool['plan'] };
}

/** One question to the person. */
export interface ApprovalRequest {
  id: string;
  runId: string;
  /** Questions of one reply that are asked at the same time share it; each has its own answer. */
  batch: string;
  call: ToolCall;
  plan: AskedPlan;
  /** Why this call is asked about again. */
  note?: string;
  /** What the person had made of it, when that could not be used. */
  draft?: string;
  /** A denial can hold the run; see `ApprovalAnswer.holds`. */
  canHold?: true;
}

export interface ApprovalAnswer {
  decision: Decision;
  /** What the person said with a denial. */
  words?: string;
  /** With a denial: no request is sent to the model until the user says what to do instead. */
  holds?: true;
  /** What the person made of the plan before allowing it: see `editableText`. */
  edited?: string;
  /** A rule for calls like this one was made with the answer: what else waits is decided anew. */
  always?: boolean;
}

/** What of a question can be changed before it is allowed: the file's new text, the command, or the arguments as JSON. */
export function editableText({ plan, call }: Pick<ApprovalRequest, 'plan' | 'call'>): string | undefined {
  if (plan.revise) return plan.change?.after ?? plan.command;
  return plan.change || plan.command !== undefined ? undefined : JSON.stringify(call.arguments, null, 2);
}

/** `signal` ends with the question (the run stopped, or it was settled otherwise): an answer after that is ignored. */
export type Approve = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** What a step did and gives, and the hash of its name and arguments. */
export type StepDone = StepStart & { changes?: readonly StoredChange[]; moved?: Moved };

/** What the host needs of the run it works for. */
export interface CallContext {
  runId: string;
  agentId: string;
  signal: AbortSignal;
  /** What the run sees instead of the host's workspace: the same folders, and mounts of its own. */
  workspace?: Workspace;
  /** What *Allow for this run* has covered so far (`Plan.grant`). */
  grants: Set<string>;
  /** The agent's own policy. It can only narrow the person's: ask about or deny more, never allow more. */
  policy?: Policy;
  /** Tells what happened; resolves when a stored event is on disk, rejects when it could not be kept. */
  emit(event: EventBody): Promise<void>;
  /** Keeps a content and returns its id, for diffs and undo. */
  keep(content: string | Uint8Array): Promise<string>;
  /** What `ToolContext.keepOutput` kept in this run, by (the beginning of) its id; undefined for anything else. */
  keptOutput(id: string): Promise<string | undefined>;
  /** `ToolContext.lastSeen`; absent if there is no conversation. */
  lastSeen?: ToolContext['lastSeen'];
  /** It is a step of a workflow, which wants the effect: what is so already is a success. */
  step?: {
    /** A call of this id that was done, as its files had shown; what it gave was lost. */
    done?: StepDone;
  };
  /** What the user was asked about this call in an earlier window, without an answer: nothing but an answer of the user allows it. */
  proposed?(toolCallId: string): Proposed | undefined;
  /** The editor closes: a call that did not start has no outcome yet. */
  isClosing?(): boolean;
  /** A call of a model that works at a node's step: its outcome is recorded with its end, so that it is known after the editor's. */
  recordsOutcome?: true;
  /** The call belongs to a conversation that the user can answer: a denial can hold it. */
  canHold?: true;
  /** `ToolContext.ask`, for the call of this id. */
  ask(toolCallId: string, questions: readonly UserQuestions[]): Promise<Answer>;
}
