/** @invariant codes-decide: Code branches on error codes, never on the text of a message. */

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

/** Errors of storage. The two codes of the engine concern wrong ids, not the disk. */
export type StoreErrorCode =
  | 'STORE_FULL'
  | 'STORE_READONLY'
  | 'STORE_LOCKED'
  | 'STORE_DAMAGED'
  | 'STORE_FAILED'
  | 'STORE_AUDIT'
  | 'ENGINE_RUN_NOT_FOUND'
  | 'ENGINE_RUN_EXISTS';

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

type MoneyErrorCode = 'LIMIT_RUN_REACHED' | 'LIMIT_DAY_REACHED' | 'LIMIT_UNREADABLE' | 'LIMIT_DAY_UNKNOWN';

/**
 * Refinements of a code with a different solution. `cut`: the answer reached its length limit. `empty`: the answer is empty. `other-model`:
 * the model does not exist or rejects tools or images. `no-model`: no model is selected, or the selected model was removed.
 * `unusable-model`: a local model cannot be loaded. `unreachable`: network, proxy or certificate. `local-ended`: the process of a local
 * model exited.
 */
export type ErrorReason =
  | 'cut'
  | 'empty'
  | 'no-credit'
  | 'other-model'
  | 'no-model'
  | 'unusable-model'
  | 'unreachable'
  | 'local-ended';

export type RunEndErrorCode = LLMErrorCode | StoreErrorCode | EngineErrorCode | MoneyErrorCode;

/** `details` of a detected loop: the call with truncated texts, and its number of failures. */
export interface RepeatedCallDetails {
  name: string;
  arguments: Record<string, unknown>;
  times: number;
}

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

export type TowpathErrorCode = RunEndErrorCode | ToolCode | 'NOT_BEGUN';

/** Reasons of refused paths, commands and addresses: `details.reason` of `E_SANDBOX_VIOLATION`. */
export type PathRefusalReason =
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
 * Cause of an outcome, as `details.reason`. `TOO_MANY_CALLS` refines `TOOL_DENIED`; `RUN_ENDED` (before an answer or before the result was
 * stored) refines `TOOL_DENIED` and `TOOL_INTERRUPTED`; `IMPORTED` refines `TOOL_INTERRUPTED`; those with
 * `_LIMIT` refine `TOOL_EXEC_FAILED`; `PATTERN_INVALID` refines `TOOL_ARGS_INVALID`.
 */
export type OutcomeReason =
  | 'TOO_MANY_CALLS'
  | 'RUN_ENDED'
  | 'IMPORTED'
  | 'OUTPUT_LIMIT'
  | 'MEMORY_LIMIT'
  | 'PROCESS_LIMIT'
  | 'DISK_LIMIT'
  | 'PATTERN_INVALID';

/** `reason` of `ENGINE_ABORTED`: the editor closed. Absent: the user stopped the run. */
export type AbortReason = 'closed';

/** Reasons of a failed text replacement: `details.reason` of `E_PRECONDITION_FAILED`. */
export type EditFailureReason =
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
