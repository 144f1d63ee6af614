import type { Code, EditReason, RefusalReason } from './codes.ts';
import { type Sentence, t } from './l10n.ts';

/** Each code in words for people: what stands behind “Could not read a.ts: ”, and, begun with a capital, a sentence. */
export const codeWords = {
  TOOL_ARGS_INVALID: 'invalid arguments',
  TOOL_ARGS_INVALID_JSON: 'what the model asked for cannot be read',
  TOOL_DENIED: 'it was not allowed',
  TOOL_EXEC_FAILED: 'it failed',
  TOOL_INTERRUPTED: 'it was interrupted',
  TOOL_NOT_AVAILABLE: 'there is no such tool here',
  TOOL_NOT_RUN: 'you said something first',
  TOOL_TIMEOUT: 'it took too long',
  TOOL_UNANSWERED: 'it was not answered',
  ENOENT: 'there is no such file',
  E_INTERNAL: 'something went wrong within Towpath',
  E_INVALID_FRONTMATTER: 'its head cannot be read',
  E_INVALID_TRANSITION: 'the workflow does not lead there',
  E_PRECONDITION_FAILED: 'the file is not as it was expected to be',
  E_READ_LIMIT: 'it is too large, or no text',
  E_SANDBOX_VIOLATION: 'it is out of reach',
  E_SCHEMA_VALIDATION: 'it does not have the form that is asked for',
  E_WRITE_LIMIT: 'it would be too large',
  LLM_AUTH_FAILED: 'the provider refused the key',
  LLM_TIMEOUT: 'the model did not answer in time',
  LLM_RATE_LIMITED: 'the provider asks for fewer requests',
  LLM_HTTP_ERROR: 'the provider answered with an error',
  LLM_BAD_RESPONSE: 'what the provider answered cannot be read',
  LLM_INCOMPLETE: 'the answer broke off',
  LLM_CONTEXT_OVERFLOW: 'the conversation is too long for this model',
  LLM_CONTENT_FILTERED: 'the provider held the answer back',
  UNKNOWN: 'something went wrong that has no name',
  STORE_FULL: 'the disk is full, so the run is not recorded',
  STORE_READONLY: 'nothing may be written where runs are kept',
  STORE_LOCKED: 'another window has this run',
  STORE_DAMAGED: 'the record of this run is damaged',
  STORE_FAILED: 'the run could not be recorded',
  STORE_AUDIT: 'the audit could not be written',
  ENGINE_RUN_NOT_FOUND: 'there is no such run any more',
  ENGINE_RUN_EXISTS: 'there is such a run already',
  ENGINE_ABORTED: 'stopped',
  ENGINE_BUSY: 'the run is at work',
  ENGINE_LOOP_DETECTED: 'the model does the same again and again',
  ENGINE_MAX_TURNS_EXCEEDED: 'the limit of steps is reached',
  ENGINE_NOT_ASKED: 'this question does not wait any more',
  NOT_BEGUN: 'it was not begun',
  LIMIT_RUN_REACHED: 'the limit of dollars for a run is reached',
  LIMIT_DAY_REACHED: 'the limit of dollars for a day is reached',
  LIMIT_UNREADABLE: 'the limit of dollars cannot be read',
  LIMIT_DAY_UNKNOWN: 'what was spent today is not known',
  WORKFLOW_INVALID: 'the workflow file has mistakes',
  WORKFLOW_LIMIT_REACHED: 'the workflow has reached a limit of its own',
  WORKFLOW_NOT_FOUND: 'there is no such workflow any more',
  WORKFLOW_UNTRUSTED: 'workflows run in trusted workspaces only',
} as const satisfies Record<Code, string>;

export const refusalWords = {
  AMBIGUOUS_ROOT: 'it can mean several of the open folders',
  COMMAND_REFUSED: 'such a command is never run from here',
  EXISTS: 'it exists already',
  GIT_INTERNAL: 'it belongs to Git itself',
  NAME_TWIN: 'its name looks like that of a protected place',
  NOT_A_DIRECTORY: 'it is no folder',
  NOT_A_FILE: 'it is no file',
  NO_EDGE: 'the workflow does not lead there',
  NO_WORKSPACE: 'no folder is open',
  OUTSIDE: 'it is outside of the open folder',
  PATH_INVALID: 'it is no path',
  PATH_NOT_PORTABLE: 'other systems cannot have such a name',
  PRIVATE_ADDRESS: 'the address is of a private network',
  READ_ONLY: 'it may only be read',
  SECRET_READ: 'it may hold secrets',
  STATE: 'the state of the workflow stays where it is',
  STEPS_SHRINK: 'steps that are done stay done',
  SYMLINK_DANGLING: 'it is a link that leads nowhere',
  SYMLINK_ESCAPE: 'it is a link that leads out of the open folder',
  SYMLINK_LOOP: 'it is a link that leads in a circle',
  UNKNOWN_NODE: 'the workflow has no such node',
  URL_REFUSED: 'it is no address of a web page',
} as const satisfies Record<RefusalReason, string>;

export const editWords = {
  ABSENT: 'the text is not there',
  NOT_UNIQUE: 'the text is there more than once',
  EMPTY: 'no text to replace was given',
  NO_CHANGE: 'it would change nothing',
  OVERLAP: 'two edits change the same text',
  CUTS_WORD: 'the text begins or ends within a word',
  DONE_ALREADY: 'it is so already',
  OTHER_INDENTATION: 'the text is there with another indentation',
  NEAR_TWIN: 'two places are equally near',
  MOVED: 'the file changed since it was read, and two places are equally near',
  INEXACT: 'the text is there with other blanks or punctuation',
  CHANGES_SIMILAR: 'the text differs in a line',
  CHANGES_BLANKS: 'the blank lines differ',
  INDENTATION: 'how deep the new lines go cannot be told',
} as const satisfies Record<EditReason, string>;

export const isCode = (code: string | undefined): code is Code => code !== undefined && Object.hasOwn(codeWords, code);

/** What happened, as a sentence for a person: its own words, or those of its code. */
export function errorSentence({ code, message, said }: { code: string; message: string; said?: Sentence }): string {
  if (said) return t(said);
  if (message.trim() !== '') return message;
  const words = t(codeWords[isCode(code) ? code : 'UNKNOWN']);
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}
