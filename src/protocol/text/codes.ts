/**
 * @invariant codes-decide: no code goes by the words of a message; what must be told apart has a code
 */

/** How a model call fails, for code. */
export type LLMErrorCode =
  | 'LLM_AUTH_FAILED'
  | 'LLM_TIMEOUT'
  | 'LLM_RATE_LIMITED'
  | 'LLM_HTTP_ERROR'
  | 'LLM_BAD_RESPONSE'
  | 'LLM_INCOMPLETE'
  | 'LLM_CONTEXT_OVERFLOW'
  | 'LLM_CONTENT_FILTERED'
  | 'UNKNOWN';

/** How a record fails. The engine's own two say nothing of the disk: the id is wrong. */
export type StoreErrorCode =
  | 'STORE_FULL'
  | 'STORE_READONLY'
  | 'STORE_LOCKED'
  | 'STORE_DAMAGED'
  | 'STORE_FAILED'
  | 'STORE_AUDIT'
  | 'ENGINE_RUN_NOT_FOUND'
  | 'ENGINE_RUN_EXISTS';

/** How a run rests by what the engine, or the workflow that it follows, has found. */
type EngineErrorCode =
  | 'ENGINE_ABORTED'
  | 'ENGINE_BUSY'
  | 'ENGINE_NOT_ASKED'
  | 'ENGINE_MAX_TURNS_EXCEEDED'
  | 'ENGINE_LOOP_DETECTED'
  | 'WORKFLOW_LIMIT_REACHED'
  | 'WORKFLOW_NOT_FOUND'
  | 'WORKFLOW_INVALID'
  | 'WORKFLOW_UNTRUSTED';

/** A limit of money is reached, or cannot be held: the person decides. */
type MoneyErrorCode = 'LIMIT_RUN_REACHED' | 'LIMIT_DAY_REACHED' | 'LIMIT_UNREADABLE' | 'LIMIT_DAY_UNKNOWN';

/**
 * What of a code is the case, where another way out follows from it. `cut`: the answer reached its own length limit; `empty`: the model
 * said nothing; `other-model`: there is no such model, or it does not take tools or pictures; `no-model`: none is picked, or what was
 * picked is not there any more; `unusable-model`: one on this machine that cannot be loaded; `unreachable`: network, proxy, certificate;
 * `local-ended`: the process of a model on this machine.
 */
export type Reason =
  | 'cut'
  | 'empty'
  | 'no-credit'
  | 'other-model'
  | 'no-model'
  | 'unusable-model'
  | 'unreachable'
  | 'local-ended';

/** What a run can end or rest with. A node of a workflow may bring the code of its tool besides. */
export type EndCode = LLMErrorCode | StoreErrorCode | EngineErrorCode | MoneyErrorCode;

/** The `details` of a loop that was noticed: the call, its long texts cut, and how often it failed. */
export interface Repeated {
  name: string;
  arguments: Record<string, unknown>;
  times: number;
}

/** Why a call did not do what it was for: what `ToolError` and outcomes carry. */
type ToolCode =
  | 'TOOL_ARGS_INVALID'
  | 'TOOL_ARGS_INVALID_JSON'
  | 'TOOL_DENIED'
  | 'TOOL_EXEC_FAILED'
  | 'TOOL_INTERRUPTED'
  | 'TOOL_NOT_AVAILABLE'
  | 'TOOL_NOT_RUN'
  | 'TOOL_TIMEOUT'
  | 'TOOL_UNANSWERED'
  | 'ENOENT'
  | 'E_INTERNAL'
  | 'E_INVALID_FRONTMATTER'
  | 'E_INVALID_TRANSITION'
  | 'E_PRECONDITION_FAILED'
  | 'E_READ_LIMIT'
  | 'E_SANDBOX_VIOLATION'
  | 'E_SCHEMA_VALIDATION'
  | 'E_WRITE_LIMIT';

/** Every code there is: each has its words in codeWords.ts. */
export type Code = EndCode | ToolCode | 'NOT_BEGUN';

/** Why a path, a command or an address is refused: `details.reason` of `E_SANDBOX_VIOLATION`. */
export type RefusalReason =
  | 'AMBIGUOUS_ROOT'
  | 'COMMAND_REFUSED'
  | 'EXISTS'
  | 'GIT_INTERNAL'
  | 'NAME_TWIN'
  | 'NOT_A_DIRECTORY'
  | 'NOT_A_FILE'
  | 'NO_EDGE'
  | 'NO_WORKSPACE'
  | 'OUTSIDE'
  | 'PATH_INVALID'
  | 'PATH_NOT_PORTABLE'
  | 'PRIVATE_ADDRESS'
  | 'READ_ONLY'
  | 'SECRET_READ'
  | 'STATE'
  | 'STEPS_SHRINK'
  | 'SYMLINK_DANGLING'
  | 'SYMLINK_ESCAPE'
  | 'SYMLINK_LOOP'
  | 'UNKNOWN_NODE'
  | 'URL_REFUSED';

/**
 * Cause of an outcome that its code leaves open: `details.reason`. `TOO_MANY_CALLS` of `TOOL_DENIED`; `RUN_ENDED` (before it was
 * answered, or before its result was stored) of `TOOL_DENIED` and `TOOL_INTERRUPTED`; `IMPORTED` of `TOOL_INTERRUPTED`;
 * `OUTPUT_LIMIT` of `TOOL_EXEC_FAILED`; `PATTERN_INVALID` of `TOOL_ARGS_INVALID`.
 */
export type OutcomeReason = 'TOO_MANY_CALLS' | 'RUN_ENDED' | 'IMPORTED' | 'OUTPUT_LIMIT' | 'PATTERN_INVALID';

/** `reason` of `ENGINE_ABORTED`: the editor closed. Absent: the user stopped the run. */
export type AbortReason = 'closed';

/** Why a text could not be replaced: `details.reason` of `E_PRECONDITION_FAILED`. */
export type EditReason =
  | 'ABSENT'
  | 'NOT_UNIQUE'
  | 'EMPTY'
  | 'NO_CHANGE'
  | 'OVERLAP'
  | 'CUTS_WORD'
  | 'DONE_ALREADY'
  | 'OTHER_INDENTATION'
  | 'NEAR_TWIN'
  | 'INEXACT'
  | 'MOVED'
  | 'CHANGES_SIMILAR'
  | 'CHANGES_BLANKS'
  | 'INDENTATION';
