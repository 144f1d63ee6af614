import type { FinishReason } from '../core/client.ts';

const tooLong = /length|^max|token limit|context window/;
const filtered = /filter|safety|sensitive|moderation|refusal|prohibited|block|policy|guardrail|recitation|toxic/;
const usual =
  /^(stop(ped)?( (sequence|str|token))?|eos( token)?|end ?(of ?)?(turn|text|sequence)?|completed?|done|finish(ed)?|normal|ok|success|(tool|function) ?(calls?|use))$/;

/**
 * Maps a server's finish reason, ignoring case, `_`, `-` and blanks. An unknown reason (`abort`, `repetition`,
 * `insufficient_system_resource`) is an error, because the answer may be incomplete. Calls and text both map to `stop`; the reader
 * distinguishes them.
 */
export function finishReasonOf(reason: string): Exclude<FinishReason, 'tool_calls'> {
  const text = reason
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim();
  if (/error|malformed|fail/.test(text)) return 'error';
  if (tooLong.test(text)) return 'length';
  if (filtered.test(text)) return 'content_filter';
  return usual.test(text) ? 'stop' : 'error';
}
