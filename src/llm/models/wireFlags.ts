/** Where OpenAI-compatible providers differ. All off is what most of them take; the client learns the rest. */
export interface WireFlags {
  /** The provider's id: thinking is given back to the provider it came from and to no other. */
  provider: string;
  /** Parameters this provider or model refuses. */
  omit?: readonly string[];
  /** Tokens that the model answers with at most. */
  outputLimit?: number;
  /** OpenAI's newer models refuse `max_tokens` and want `max_completion_tokens`. */
  completionTokens?: boolean;
  /**
   * `calls`: the thinking goes back with the calls it led to. `all`: every message of the assistant has the field, empty
   * where it did not think, other models' turns too: DeepSeek answers 400 to one without, others to one with it.
   */
  returnThinking?: 'calls' | 'all';
  /**
   * How a thinking budget is asked for. `effort`: `reasoning_effort`, of models known to take it; `reasoning`:
   * OpenRouter's `{reasoning: {max_tokens}}`; `none`: there is no such setting; `off`: the model may not think here.
   */
  thinking?: 'effort' | 'reasoning' | 'none' | 'off';
  /** What ids of tool calls may look like. `nine`: exactly nine letters and digits (Mistral); `forty`: no longer than that (OpenAI). */
  callIds?: 'nine' | 'forty';
  /** Knows `json_object` only: a schema is told in words (DeepSeek). */
  schemaInWords?: boolean;
  /** Takes the run's id to route its prompt cache by. */
  cacheKey?: boolean;
  /** Tells how far it is with reading the prompt when asked to (llama-server: `return_progress`). */
  readingProgress?: boolean;
  /** The model refused images: they are left out, and the person is told. */
  withoutImages?: boolean;
  /** Refuses a message of the person right after tool results: a word of the assistant goes between (Mistral). */
  answersResults?: boolean;
  /** The model's chat template knows no system prompt: it opens the person's first message (Gemma 2). */
  systemAsUser?: boolean;
}

/**
 * What a refusal teaches: the flags without the parameter it objects to, or with the thinking it misses; undefined when
 * it is about something else. Every lesson takes something away for good, so that learning ends.
 */
export function learnFrom(words: string, parameter: string | undefined, flags: WireFlags): WireFlags | undefined {
  if (/reasoning_content/.test(words) && /must|missing|required/i.test(words) && flags.returnThinking !== 'all') {
    return { ...flags, returnThinking: 'all' };
  }
  if (/role '?user'? after role '?tool|roles must alternate/i.test(words) && !flags.answersResults) {
    return { ...flags, answersResults: true };
  }
  if (/system (role|message|prompt)s?( is| are)? not (supported|allowed)/i.test(words) && !flags.systemAsUser) {
    return { ...flags, systemAsUser: true };
  }
  if (/tool call ids?\b.*\blength (of )?9\b/i.test(words) && flags.callIds !== 'nine') {
    return { ...flags, callIds: 'nine' };
  }
  if (refusesImages.test(words) && !flags.withoutImages) return { ...flags, withoutImages: true };
  if (/response_format|json_schema/.test(`${words} ${parameter}`) && !flags.schemaInWords) {
    return { ...flags, schemaInWords: true };
  }
  // "To use function tools, use /v1/responses or set reasoning_effort to 'none'", where there is no /v1/responses.
  if (/reasoning_effort to \W?none/.test(words) && flags.thinking !== 'off') return { ...flags, thinking: 'off' };
  const named = namedParameter(words, parameter, optionalParameters, flags.omit);
  if (named === undefined) return undefined;
  return {
    ...flags,
    omit: [...(flags.omit ?? []), named], // grows each time, so that learning ends
    completionTokens: named === 'max_tokens' || (named !== 'max_completion_tokens' && flags.completionTokens),
  };
}

/** Which of these parameters a refusal objects to, of those that are not left out already. */
export function namedParameter(
  words: string,
  parameter: string | undefined,
  names: readonly string[],
  omit: readonly string[] = [],
): string | undefined {
  const refuses =
    /support|unknown|unrecogni[sz]ed|unexpected|not (permitted|allowed)|extra|deprecated|invalid|must be verified/i;
  if (!refuses.test(words)) return undefined;
  const named = parameter?.replace(/\[.*/s, '');
  return names.find((name) => !omit.includes(name) && (named === undefined ? mentions(words, name) : named === name));
}

/**
 * Whether a refusal says that the way is the Responses API, or that the model is none of chat completions. OpenAI: "only
 * supported in v1/responses", "Function tools with reasoning_effort are not supported … use /v1/responses", "not a chat
 * model"; Azure: "The chatCompletion operation does not work with the specified model"; GitHub Copilot: "model … is not
 * accessible via the /chat/completions endpoint".
 */
export const wantsResponses = (words: string): boolean =>
  /\/responses\b|not a chat model/i.test(words) ||
  /model.{0,120}\bnot\b.{0,60}chat\/?completion|chat\/?completion.{0,60}\bnot\b.{0,60}model/i.test(words);

export const refusesImages =
  /image_url|(image|vision|multimodal)[^.]{0,40}not (support|allow|enabl)|not support[^.]{0,30}(image|vision)|image input is not|mmproj/i;

/** Names that are words of their own count in quotes only. */
function mentions(words: string, name: string): boolean {
  const pattern = /^(stop|reasoning|include|store)$/.test(name) ? `['"\`]${name}['"\`]` : `\\b${name}\\b`;
  return new RegExp(pattern).test(words);
}

const optionalParameters = [
  'stream_options',
  'reasoning_effort',
  'reasoning',
  'prompt_cache_key',
  'response_format',
  'temperature',
  'top_p',
  'stop',
  'max_completion_tokens',
  'max_tokens',
  'tool_choice',
  'return_progress',
];
