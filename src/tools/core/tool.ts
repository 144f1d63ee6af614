import type * as z from 'zod';
import type { RunOwnApprovalBasis } from '../../protocol/content/approvalBasis.ts';
import type { BackgroundCommandStart, ProcessIdentity } from '../../protocol/content/commandRecord.ts';
import type { ToolCall } from '../../protocol/content/messages.ts';
import type { ApprovalPolicy } from '../../protocol/content/policy.ts';
import type { UserQuestionAnswer, UserQuestions } from '../../protocol/content/questions.ts';
import type { TaskEndStatus, TaskRequest } from '../../protocol/content/tasks.ts';
import type { ToolDefinition } from '../../protocol/content/tools.ts';
import type {
  AccessTarget,
  ApprovalDecision,
  FileMove,
  ProposedToolCallHashes,
  RemovedFileKind,
  RunEventBody,
  StoredFileChange,
  WorkflowStepStart,
} from '../../protocol/run/events.ts';
import type { TowpathErrorCode } from '../../protocol/text/codes.ts';
import type { LocalizableText } from '../../protocol/text/localized.ts';
import { type BuiltinToolDefinition, toToolDefinition } from '../definitions/definition.ts';
import type { CommandPart } from './commandPart.ts';
import type { ResultWithImages } from './imageFiles.ts';
import type { ToolOrigin } from './toolOrigin.ts';
import type { Workspace } from './workspace.ts';

/** Failure with a message that helps the model. Tools throw the error; the host converts it to an outcome. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    readonly code: TowpathErrorCode,
    message: string,
    readonly details?: unknown,
  ) {
    super(message);
  }
}

/**
 * Error for a requested effect that already exists. A model receives the message, because of its wrong assumption; a workflow step succeeds
 * with `data`.
 */
export class AlreadyAppliedError extends ToolError {
  constructor(
    { code, message, details }: ToolError,
    readonly data: object,
  ) {
    super(code, message, details);
  }
}

/**
 * Contents of a file before and after a change; `null` if the file does not exist on that side. `path` is workspace-relative and shown to
 * the user; `realPath` has all links resolved.
 */
export interface FileChange {
  path: string;
  realPath: string;
  before: string | null;
  after: string | null;
  form?: FileModeAndEncoding;
}

export type FileModeAndEncoding = Pick<StoredFileChange, 'mode' | 'encoding'>;

/** File, link or empty folder before a deletion. `content` holds the bytes of the file, or the target of the link. */
export interface RemovedEntry {
  path: string;
  kind: RemovedFileKind;
  mode: number;
  content: Buffer;
}

/** Part of a file that the conversation last showed to the model. `sha256` is the hash of the whole file; lines count from 1. */
export interface TextSeenByModel {
  sha256: string;
  text: string;
  startLine: number;
  isWhole: boolean;
}

export interface ToolContext {
  runId: string;
  toolCallId: string;
  workspace: Workspace;
  signal: AbortSignal;
  /** Returns a test for files that permission rules exclude from a search below `folder`. All paths are workspace-relative. */
  searchExclusionTest(folder: string): (path: string) => boolean;
  output(text: string): void;
  /** Records the text on disk if it differs from the planned `change`; the diff and undo use this text. */
  leaves(text: string): Promise<void>;
  /** Reports the process of a command, so that a later window can find the process. */
  commandStarted(process: ProcessIdentity): void;
  commandGoesOn(background: BackgroundCommandStart): void;
  /** Stores a text that is too long for the outcome, at most one per call. Returns its id (sha256). */
  keepOutput(text: string): Promise<string>;
  storedOutput(id: string): Promise<string | undefined>;
  /** Returns the part of a file (workspace-relative path) that the conversation last showed; undefined if it never did. */
  lastSeen(path: string): Promise<TextSeenByModel | undefined>;
  /**
   * Shows user questions and returns the answer after it is on disk. Throws `ToolError` on a stop, or `TOOL_UNANSWERED` when the editor
   * closes; the call then stays open.
   * @param by MCP server that asks during its call
   */
  ask(questions: readonly UserQuestions[], by?: string): Promise<UserQuestionAnswer>;
  /** Gives a task to an agent and returns its report. Throws `ToolError`, or `TOOL_UNANSWERED` if the task rests with its run. */
  delegate(request: TaskRequest): Promise<TaskReport>;
  /** Returns the folders outside of the workspace that sandboxed commands may write by rules. */
  allowedFolders(): readonly string[];
  /** Asks for an access while the call runs. Resolves to false for a denial, on abort, and if the call is over. */
  requestAccess(request: AccessRequest, signal?: AbortSignal): Promise<boolean>;
}

/** End of a task for its run. `result`: the last answer of the agent; `reason`: why it is not done; `steps`: model calls. */
export interface TaskReport {
  status: TaskEndStatus;
  result: string;
  reason?: string;
  steps: number;
}

/**
 * `tool`: name for rules; `target`: what the call wants to access, for the record. The texts and the grant are those of an approval.
 * `isUnattended`: the call has ended, so that nobody is asked and nothing is recorded. `offersOutside`: the user may end the sandboxed call
 * and run it outside instead.
 */
export interface AccessRequest
  extends Pick<ToolCallPlan, 'what' | 'where' | 'why' | 'details' | 'site' | 'registries' | 'grant'> {
  tool: string;
  target: AccessTarget;
  isUnattended?: true;
  offersOutside?: true;
}

/**
 * Prepared call that has changed nothing yet. The approval shows exactly the effect of `run`; `run` fails with `E_PRECONDITION_FAILED` if
 * the files changed after planning. `what` is a short label like `Edit src/greet.ts`; `where` is the real path, or the working folder of a
 * command; `timeLimit` is the timeout in seconds; `details` holds the arguments of a third-party tool.
 */
export interface ToolCallPlan {
  what: LocalizableText;
  title?: string;
  where: LocalizableText;
  why: LocalizableText;
  change?: FileChange;
  command?: string;
  /** Data without a copy elsewhere that the call would discard. A call with a loss requires an approval every time. */
  loss?: PlannedDataLoss;
  /** Finds a loss not yet in the plan; undefined if there is none. Resolves within one second and never rejects. */
  findLoss?(): Promise<PlannedDataLoss | undefined>;
  /** The call may remove a Git repository, or nobody can read what it does: an undo must not rely on the repository. */
  distrustsGit?: true;
  /** Marker in the environment of the command's processes; recovery finds the processes with the marker. */
  marker?: string;
  /**
   * Working folder of the command (workspace-relative, `.` for the workspace), its parts if the analysis found them, and the packages of
   * the project.
   */
  folder?: string;
  parts?: readonly CommandPart[];
  packages?: readonly string[];
  /** Timeout in seconds, if the call has one. */
  timeLimit?: number;
  background?: true;
  /** Files outside of the open folders to which the command writes its output; the run may read these files. */
  outputs?: readonly string[];
  /**
   * Workspace-relative paths for path rules; the path of `change` if absent. `named` are paths named by the command, for rules that ask or
   * deny: a folder ends in `/`, and the workspace is ''.
   */
  paths?: readonly string[];
  /** Paths named by the command, for rules that ask or deny. A folder ends in `/`; the workspace is ''. */
  named?: readonly string[];
  site?: string;
  /** Sites of all package registries, if `site` is one of them. */
  registries?: readonly string[];
  /** Execution in the sandbox. `isUndoable` tells if an undo will restore what the call changes. */
  sandboxed?: {
    /** Resolves to undefined if `exit` has ended the call: its processes are gone, and none of its changes are kept. */
    run(context: ToolContext, exit?: AbortSignal): Promise<unknown>;
    isUndoable(): Promise<boolean>;
  };
  /** Reason why a command cannot run in the sandbox; used only under the preset `sandbox`. */
  outsideReason?: LocalizableText;
  /** Reason that the model gives for running outside of the sandbox: its own text. */
  modelReason?: string;
  /** Folder outside of the workspace (absolute, real) that a rule can allow, so that the command can run in the sandbox. */
  allowableFolder?: string;
  /** Read-only execution without an approval, or a sentence with the reason why the command is not known to be read-only. */
  reading?: ((context: ToolContext) => Promise<unknown>) | LocalizableText;
  details?: LocalizableText;
  free?: RunOwnApprovalBasis;
  /**
   * Permission of *Allow for this run*, like `fs.edit`; absent for calls that always need an approval. With `once`, any approval grants it,
   * so the next similar call needs none. With `guarded`, only the user's answer allows the call with its grant, no preset and no rule.
   */
  grant?: string;
  once?: true;
  /** No preset and no rule allows the call: only the user's answer does, with its grant. */
  guarded?: true;
  tool?: string;
  /** Origin of an MCP server's tool, to bind rules and grants. Set by the host. */
  origin?: ToolOrigin;
  /**
   * Returns the plan for an edited `change.after` or `command`, after all checks run again. Throws `ToolError`. The edited arguments of the
   * call replace a plan without change and command.
   */
  revise?(edited: string): Promise<ToolCallPlan>;
  /** Returns the state to store for undo if there is no `change`, read right before execution. */
  trace?(): Promise<RecordedFileEffects>;
  /** Returns the result to report when the files on disk already prove that the plan was executed. */
  data?(): object;
  run(context: ToolContext): Promise<unknown>;
}

/**
 * `promised`: files and repositories (absolute paths) that an undo of the call restores, as the text says; the call must not start without
 * their record. `isCertain`: these are all that the call can discard, and only files. `isOnlyReason`: nothing else about the call always
 * requires an approval.
 */
export interface PlannedDataLoss {
  text: LocalizableText;
  items: readonly string[];
  promised?: readonly string[];
  isCertain?: true;
  isOnlyReason?: true;
}

export interface ApprovalRequestPlan
  extends Omit<ToolCallPlan, 'what' | 'where' | 'why' | 'details' | 'loss' | 'findLoss' | 'outsideReason'> {
  what: string;
  where: string;
  why: string;
  details?: string;
  loss?: PlannedDataLoss & { text: string };
  /** Place of a command under the preset `sandbox`. */
  sandbox?: 'inside' | 'outside';
  /** The user may run the command of the access outside of the sandbox instead, once. */
  offersOutside?: true;
  english?: { what: string; where: string };
}

export type RecordedFileEffects =
  | { changes: readonly FileChange[] }
  | { moved: FileMove }
  | { removed: readonly RemovedEntry[] };

export interface Tool {
  definition: ToolDefinition;
  /** The definition for a model with a large context window, if it is longer. */
  longDefinition?: ToolDefinition;
  title?: string;
  /** Schema of the result with a description of each key, for authors of workflows. Never sent to a model. */
  gives?: z.ZodObject;
  /** Callable, but omitted from the tools sent to a model. */
  hidden?: boolean;
  /** The tool affects only its own run: no preset requires an approval. */
  ofRun?: true;
  /**
   * The tool waits for the user or an agent. Execution starts after the reply is on disk, later calls of the reply wait, and the tool handles
   * a stop itself.
   */
  waits?: true;
  /** The tool gives a task to an agent: it runs beside other calls of its kind, and is offered only where tasks can run. */
  delegates?: true;
  /** Describes a call for its approval. */
  describe?(args: unknown): LocalizableText;
  arguments: z.ZodType;
  /** Full JSON schema of the arguments, if the definition contains only a part. */
  schema?: unknown;
  /** Converts arguments of an undocumented form to the tool's own form; undefined for any other form. */
  understands?(given: Record<string, unknown>): Record<string, unknown> | undefined;
  origin?(args: unknown): ToolOrigin | undefined;
  /** Execution class: `read` runs in parallel without approval; `change` and `execute` pass the gate and run sequentially, in order. */
  risk: 'read' | 'change' | 'execute';
  /** A call never changes files, although it needs an approval. */
  leavesFiles?: true;
  /** The tool needs files or programs of this machine; omitted if all folders of the window are virtual. */
  onDisk?: true;
  /** Omitted for models with a small context window: there the definition costs more than it helps. */
  extra?: true;
  run?(args: unknown, context: ToolContext): Promise<unknown>;
  /**
   * Plans a call of the other tools. Throws `ToolError`. A `read` tool may also return a plan for sensitive arguments (a secret file),
   * which then needs an approval; undefined means free execution.
   */
  plan?(args: unknown, context: ToolContext): Promise<ToolCallPlan | undefined>;
  /**
   * Returns the tool that a call really means: rules, approval and grant of that tool apply. Then `run` is used only for free calls. Throws
   * `ToolError`.
   */
  target?(args: unknown): { tool: Tool; args: unknown };
}

type ToolData<Gives> = Gives extends z.ZodRawShape ? z.output<z.ZodObject<Gives>> | ResultWithImages : unknown;

export function createReadOnlyTool<Shape extends z.ZodRawShape, Gives extends z.ZodRawShape | undefined = undefined>(
  named: BuiltinToolDefinition<Shape, Gives>,
  run: (args: z.output<z.ZodObject<Shape>>, context: ToolContext) => Promise<ToolData<Gives>>,
  ask?: (args: z.output<z.ZodObject<Shape>>, context: ToolContext) => Promise<ToolCallPlan | undefined>,
): Tool {
  return { ...toToolDefinition(named), risk: 'read', run: run as Tool['run'], plan: ask as Tool['plan'] };
}

/** Creates a tool with side effects; each call is planned before execution, so that the plan can be shown. */
export function createSideEffectTool<Shape extends z.ZodRawShape, Gives extends z.ZodRawShape | undefined = undefined>(
  named: BuiltinToolDefinition<Shape, Gives>,
  risk: 'change' | 'execute',
  plan: (args: z.output<z.ZodObject<Shape>>, context: ToolContext) => Promise<ToolCallPlan>,
): Tool {
  return { ...toToolDefinition(named), risk, plan: plan as Tool['plan'] };
}

/**
 * Approval request. Requests of the same reply share `batch` and are shown together, but each has a separate answer. `note` is the reason
 * for a repeated request; `draft` is the user's edit in an unusable state. With `canHold`, a denial can hold the run (see
 * `ApprovalAnswer.holds`).
 */
export interface ApprovalRequest {
  id: string;
  runId: string;
  batch: string;
  call: ToolCall;
  plan: ApprovalRequestPlan;
  note?: string;
  draft?: string;
  canHold?: true;
}

export interface ApprovalAnswer {
  decision: ApprovalDecision;
  words?: string;
  /** Holds the run after a denial: no request is sent to the model until the user sends instructions. */
  holds?: true;
  edited?: string;
  /** The answer created a rule for similar calls, so the remaining requests are decided again. */
  always?: boolean;
  /** The answer created a rule under which the call is planned and decided again: it allows nothing by itself. */
  isDecidedAgain?: true;
  /** The command runs outside of the sandbox instead, from the beginning; only with the denial of an access that offers it. */
  outside?: true;
}

export function editableApprovalText({ plan, call }: Pick<ApprovalRequest, 'plan' | 'call'>): string | undefined {
  if (plan.revise) return plan.change?.after ?? plan.command;
  return plan.change || plan.command !== undefined ? undefined : JSON.stringify(call.arguments, null, 2);
}

/**
 * Asks for an approval. `signal` aborts when the request is obsolete (the run stopped, or another source decided); a later answer is
 * ignored.
 */
export type ApprovalRequester = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

export type CompletedStepRecord = WorkflowStepStart & { changes?: readonly StoredFileChange[]; moved?: FileMove };

export interface CallContext {
  runId: string;
  agentId: string;
  signal: AbortSignal;
  workspace?: Workspace;
  grants: Set<string>;
  /** Policy of the agent, which only narrows the user's policy: more approvals or denials, never more permissions. */
  policy?: ApprovalPolicy;
  emit(event: RunEventBody): Promise<void>;
  keep(content: string | Uint8Array): Promise<string>;
  /** Stores the complete output of a call and returns its id, for `storedOutput`. */
  keepOutput(text: string): Promise<string>;
  /** Returns the absolute path for a new pack of contents of the run. */
  newPack(): Promise<string>;
  /** Returns a text stored by `ToolContext.keepOutput` in this run; `id` may be the beginning of the id. Undefined for anything else. */
  storedOutput(id: string): Promise<string | undefined>;
  lastSeen?: ToolContext['lastSeen'];
  /** Set for a workflow step. The step wants the effect, so an effect that already exists is a success. */
  step?: {
    /** Recovered state of a call with this id: the files prove that the call was executed, but its result was lost. */
    done?: CompletedStepRecord;
  };
  /** Returns the unanswered approval request of this call from an earlier window; then only an answer of the user allows the call. */
  proposed?(toolCallId: string): ProposedToolCallHashes | undefined;
  /** True while the editor closes: a call that did not start has no outcome yet. */
  isClosing?(): boolean;
  /** Set for model calls inside a workflow node: the outcome is recorded with the end of the call, to survive a restart. */
  recordsOutcome?: true;
  canHold?: true;
  ask(toolCallId: string, questions: readonly UserQuestions[], by?: string): Promise<UserQuestionAnswer>;
  /** Absent where no task can be given. */
  delegate?(toolCallId: string, request: TaskRequest): Promise<TaskReport>;
}
