import type { EditFailureReason, PathRefusalReason, TowpathErrorCode } from './codes.ts';
import { type LocalizedMessage, t } from './l10n.ts';

/** Texts of error codes for the user. Each fits after “Could not read a.ts: ” and, capitalized, as a sentence. */
export const errorCodeTexts = {
  TOOL_ARGS_INVALID: 'invalid arguments',
  TOOL_ARGS_INVALID_JSON: 'invalid arguments',
  TOOL_DENIED: 'it was not allowed',
  TOOL_EXEC_FAILED: 'it failed',
  TOOL_INTERRUPTED: 'it was interrupted',
  TOOL_NOT_AVAILABLE: 'this tool does not exist here',
  TOOL_NOT_RUN: 'you sent a message first',
  TOOL_TIMEOUT: 'it took too long',
  TOOL_UNANSWERED: 'it was not answered',
  ENOENT: 'the file does not exist',
  E_INTERNAL: 'an error in Towpath',
  E_INVALID_FRONTMATTER: 'its head cannot be read',
  E_INVALID_TRANSITION: 'the workflow does not lead there',
  E_PRECONDITION_FAILED: 'the file is not as expected',
  E_READ_LIMIT: 'it is too large, or not text',
  E_SANDBOX_VIOLATION: 'it is not reachable',
  E_SCHEMA_VALIDATION: 'it does not have the required form',
  E_WRITE_LIMIT: 'it would be too large',
  LLM_AUTH_FAILED: 'the provider rejected the key',
  LLM_TIMEOUT: 'the model did not answer in time',
  LLM_RATE_LIMITED: 'the provider limits the rate of requests',
  LLM_HTTP_ERROR: 'the provider answered with an error',
  LLM_BAD_RESPONSE: "the provider's answer cannot be read",
  LLM_INCOMPLETE: 'the answer ended early',
  LLM_CONTEXT_OVERFLOW: 'the conversation is too long for this model',
  LLM_CONTENT_FILTERED: 'the provider filtered the answer',
  UNKNOWN: 'an unknown error',
  STORE_FULL: 'the disk is full, so the run is not recorded',
  STORE_READONLY: 'the folder of the runs is read-only',
  STORE_LOCKED: 'another window has this run',
  STORE_DAMAGED: 'the record of this run is damaged',
  STORE_FAILED: 'the run could not be recorded',
  STORE_AUDIT: 'the audit could not be written',
  ENGINE_RUN_NOT_FOUND: 'this run no longer exists',
  ENGINE_RUN_EXISTS: 'a run with this ID already exists',
  ENGINE_ABORTED: 'stopped',
  ENGINE_BUSY: 'the run is in progress',
  ENGINE_LOOP_DETECTED: 'the model repeats itself',
  ENGINE_MAX_TURNS_EXCEEDED: 'the limit of steps is reached',
  ENGINE_NOT_ASKED: 'this approval is no longer open',
  NOT_BEGUN: 'it was not started',
  LIMIT_RUN_REACHED: 'the spending limit of the run is reached',
  LIMIT_DAY_REACHED: 'the spending limit of the day is reached',
  LIMIT_UNREADABLE: 'the spending limit is invalid',
  LIMIT_DAY_UNKNOWN: "today's spending is unknown",
  WORKFLOW_INVALID: 'the workflow file has errors',
  WORKFLOW_LIMIT_REACHED: 'the workflow has reached one of its limits',
  WORKFLOW_NOT_FOUND: 'this workflow no longer exists',
  WORKFLOW_UNTRUSTED: 'workflows run in trusted workspaces only',
} as const satisfies Record<TowpathErrorCode, string>;

export const pathRefusalReasonTexts = {
  AMBIGUOUS_ROOT: 'it can mean several of the open folders',
  COMMAND_REFUSED: 'this command is never run from here',
  EXISTS: 'it already exists',
  GIT_INTERNAL: 'it belongs to Git itself',
  NAME_TWIN: 'its name looks like that of a protected file',
  NOT_A_DIRECTORY: 'it is not a folder',
  NOT_A_FILE: 'it is not a file',
  NO_EDGE: 'the workflow does not lead there',
  NO_WORKSPACE: 'no folder is open',
  OUTSIDE: 'it is outside the open folder',
  PATH_INVALID: 'it is not a path',
  PATH_NOT_PORTABLE: 'other systems do not allow such a name',
  PRIVATE_ADDRESS: 'the address is of a private network',
  READ_ONLY: 'it is read-only',
  SECRET_READ: 'it may contain secrets',
  STATE: 'the state of the workflow stays as it is',
  STEPS_SHRINK: 'completed steps stay completed',
  SYMLINK_DANGLING: 'it is a broken link',
  SYMLINK_ESCAPE: 'it is a link to outside the open folder',
  SYMLINK_LOOP: 'it is a link in a circle',
  UNKNOWN_NODE: 'the workflow has no such node',
  URL_REFUSED: 'it is not the address of a web page',
} as const satisfies Record<PathRefusalReason, string>;

export const editFailureReasonTexts = {
  ABSENT: 'the text was not found',
  NOT_UNIQUE: 'the text was found more than once',
  EMPTY: 'no text to replace was given',
  NO_CHANGE: 'it would change nothing',
  OVERLAP: 'two edits change the same text',
  CUTS_WORD: 'the text starts or ends within a word',
  DONE_ALREADY: 'it is so already',
  OTHER_INDENTATION: 'the text was found with another indentation',
  NEAR_TWIN: 'two positions are equally near',
  MOVED: 'the file changed since it was read, and two positions are equally near',
  INEXACT: 'the text was found with other blanks or punctuation',
  CHANGES_SIMILAR: 'the text differs in a line',
  CHANGES_BLANKS: 'the blank lines differ',
  INDENTATION: 'the indentation of the new lines is unclear',
} as const satisfies Record<EditFailureReason, string>;

export const isErrorCode = (code: string | undefined): code is TowpathErrorCode =>
  code !== undefined && Object.hasOwn(errorCodeTexts, code);

export function errorMessageForUser({
  code,
  message,
  said,
}: {
  code: string;
  message: string;
  said?: LocalizedMessage;
}): string {
  if (said) return t(said);
  if (message.trim() !== '') return message;
  const text = t(errorCodeTexts[isErrorCode(code) ? code : 'UNKNOWN']);
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
