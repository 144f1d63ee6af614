import type { FinishReason } from '../core/client.ts';

const tooLong = /length|^max|token limit|context window/;
const filtered = /filter|safety|sensitive|moderation|refusal|prohibited|block|policy|guardrail|recitation|toxic/;
const usual =
  /^(stop(ped)?( (sequence|str|token))?|eos( token)?|end ?(of ?)?(turn|text|sequence)?|completed?|done|finish(ed)?|normal|ok|success|(tool|function) ?(calls?|use))$/;

/**
 * The end that a server names, in whatever words: capitals, `_`, `-` and blanks make no difference. An end that no rule knows (`abort`,
 * `repetition`, `insufficient_system_resource`) is an error, for the answer may be half of what was meant. Calls and text both end in
 * `stop` here: which of them came is for the reader to see.
 */
export function finishReasonOf(reason: string): Exclude<FinishReason, 'tool_calls'> {
  const words = reason
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim();
  if (/error|malformed|fail/.test(words)) return 'error';
  if (tooLong.test(words)) return 'length';
  if (filtered.test(words)) return 'content_filter';
  return usual.test(words) ? 'stop' : 'error';
}
