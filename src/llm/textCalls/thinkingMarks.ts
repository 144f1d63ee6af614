import {
  compileToolCallSyntax,
  matchToolCallMarker,
  normalizeToolCallMarkers,
  type ToolCallSyntaxElement,
} from './form.ts';

/**
 * Marks around thinking in text, by family. `{thinking}` is any of the families' words. `several`: the closing mark also ends other
 * sections, so it is no proof of thinking.
 */
export const thinkingMarks: readonly { families: string; open: string; close: string; several?: true }[] = [
  {
    families: 'DeepSeek, Qwen, GLM, Nemotron, Hunyuan',
    open: '<{thinking}{suffix}>',
    close: '</{thinking}{suffix}>',
  },
  { families: 'MiniMax M3, Seed-OSS, K2 Horizon', open: '<{prefix}{thinking}>', close: '</{prefix}{thinking}>' },
  { families: 'Magistral', open: '[THINK]', close: '[/THINK]' },
  { families: 'Cohere', open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
  { families: 'Gemma 4', open: '<|channel>thought', close: '<channel|>' },
  { families: 'Apertus', open: '<|inner_prefix|>', close: '<|inner_suffix|>' },
  { families: 'PLaMo 3', open: '<|plamo:begin_think:plamo|>', close: '<|plamo:end_think:plamo|>' },
  { families: 'Inkling', open: '<|content_thinking|>', close: '<|end_message|>', several: true },
  {
    families: 'Inkling, with its role',
    open: '<|message_model|><|content_thinking|>',
    close: '<|end_message|>',
    several: true,
  },
  { families: 'Kimi K3', open: '<|open|>think<|sep|>', close: '<|close|>think<|sep|>' },
  { families: 'gpt-oss', open: '<|channel|>analysis<|message|>', close: '<|end|>', several: true },
  {
    families: 'gpt-oss, with its role',
    open: '<|start|>assistant<|channel|>analysis<|message|>',
    close: '<|end|>',
    several: true,
  },
];

const answerMarks: readonly string[] = [
  '<|start|>assistant<|channel|>final<|message|>',
  '<|channel|>final<|message|>',
  '<|start|>assistant<|channel|>commentary<|message|>',
  '<|channel|>commentary<|message|>',
  '<|open|>response<|sep|>',
  '<|close|>response<|sep|>',
  '<|message_model|><|content_text|>',
  '<|content_text|>',
  '<|START_RESPONSE|>',
  '<|END_RESPONSE|>',
  '<|START_TEXT|>',
  '<|END_TEXT|>',
];

/** End-of-turn tokens that a server may leave in the answer. */
const endToken =
  /^(?:<\|(?:im_end|end|end_message|plamo:tag|content_model_end_sampling|end_?of_?\w+|eo[tsm](?:_id)?|return|\w*eos(?::\w+)?)\|>|<\/s>|<eos>|<end_of_turn>|<turn\|>|<end_of_sentence>|<SPECIAL_\d+>|\[e~\[)/i;

type MarkParts = Extract<ToolCallSyntaxElement, { kind: 'mark' }>['parts'];
const partsOf = (mark: string): MarkParts =>
  (compileToolCallSyntax(mark)[0] as Extract<ToolCallSyntaxElement, { kind: 'mark' }>).parts;

const compiled = thinkingMarks.map(({ open, close, several }) => ({
  several,
  open: partsOf(open),
  close: partsOf(close),
  isTag: !open.includes('|'),
}));
const answers = answerMarks.map(partsOf);

export interface OpenThinkingBlock {
  close: MarkParts;
}

type ThinkingMark =
  | { kind: 'open'; end: number; thinking: OpenThinkingBlock; isTag: boolean }
  | { kind: 'close' | 'answer' | 'end'; end: number }
  | 'cut';

export const maxThinkingMarkLength = 64;

/** Returns the mark at `at`; `cut` if the text ends within a possible mark. */
export function thinkingMarkAt(text: string, at: number): ThinkingMark | undefined {
  const here = normalizeToolCallMarkers(text.slice(at, at + maxThinkingMarkLength));
  let cut = false;
  const match = (parts: MarkParts): number | undefined => {
    const end = matchToolCallMarker(parts, here, 0);
    cut ||= end === 'cut';
    return typeof end === 'number' ? at + end : undefined;
  };
  for (const parts of answers) {
    const end = match(parts);
    if (end !== undefined) return { kind: 'answer', end };
  }
  for (const { open, close, isTag } of compiled) {
    const end = match(open);
    if (end !== undefined) return { kind: 'open', end, thinking: { close }, isTag };
  }
  for (const { close, several } of compiled) {
    const end = several ? undefined : match(close);
    if (end !== undefined) return { kind: 'close', end };
  }
  const token = endToken.exec(here);
  if (token) return { kind: 'end', end: at + token[0].length };
  const mayBecomeToken = here.length < 32 && /^(?:<\|?[/\w|:]*|\[e?~?)$/.test(here);
  return cut || mayBecomeToken ? 'cut' : undefined;
}
