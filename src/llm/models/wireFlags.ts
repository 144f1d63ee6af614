/** Differences between OpenAI-compatible providers. The default suits most; the client learns the rest from rejections. */
export interface OpenAICompatibilityFlags {
  /** Id of the provider; thinking is returned only to the provider that created the thinking. */
  provider: string;
  omit?: readonly string[];
  outputLimit?: number;
  /** True for OpenAI's newer models, which reject `max_tokens` and require `max_completion_tokens`. */
  completionTokens?: boolean;
  /**
   * `calls`: thinking is returned with its calls. `all`: every assistant message has the field, even empty and from other models. DeepSeek
   * answers 400 without the field, other providers answer 400 with the field.
   */
  returnThinking?: 'calls' | 'all';
  /**
   * Form of the thinking budget. `effort`: `reasoning_effort`; `reasoning`: OpenRouter's `{reasoning: {max_tokens}}`; `none`: no setting;
   * `off`: the model must not think.
   */
  thinking?: 'effort' | 'reasoning' | 'none' | 'off';
  /** Format of call ids. `nine`: exactly nine letters and digits (Mistral); `forty`: at most forty characters (OpenAI). */
  callIds?: 'nine' | 'forty';
  /** Supports only `json_object`: the prompt contains the schema (DeepSeek). */
  schemaInPrompt?: boolean;
  cacheKey?: boolean;
  /** Reports prefill progress on request (llama-server: `return_progress`). */
  readingProgress?: boolean;
  withoutImages?: boolean;
  answersResults?: boolean;
  /** The chat template has no system prompt: the first user message starts with the prompt (Gemma 2). */
  systemAsUser?: boolean;
}

/**
 * Returns the flags learned from a rejection: without the rejected parameter, or with the required thinking; undefined if the cause is
 * unknown. Each change is permanent, so learning ends.
 */
export function learnOpenAICompatibilityFlags(
  rejection: string,
  parameter: string | undefined,
  flags: OpenAICompatibilityFlags,
): OpenAICompatibilityFlags | undefined {
  if (
    /reasoning_content/.test(rejection) &&
    /must|missing|required/i.test(rejection) &&
    flags.returnThinking !== 'all'
  ) {
    return { ...flags, returnThinking: 'all' };
  }
  if (/role '?user'? after role '?tool|roles must alternate/i.test(rejection) && !flags.answersResults) {
    return { ...flags, answersResults: true };
  }
  if (/system (role|message|prompt)s?( is| are)? not (supported|allowed)/i.test(rejection) && !flags.systemAsUser) {
    return { ...flags, systemAsUser: true };
  }
  if (/tool call ids?\b.*\blength (of )?9\b/i.test(rejection) && flags.callIds !== 'nine') {
    return { ...flags, callIds: 'nine' };
  }
  if (imageRejectionPattern.test(rejection) && !flags.withoutImages) return { ...flags, withoutImages: true };
  if (/response_format|json_schema/.test(`${rejection} ${parameter}`) && !flags.schemaInPrompt) {
    return { ...flags, schemaInPrompt: true };
  }
  // "To use function tools, use /v1/responses or set reasoning_effort to 'none'", from a server without /v1/responses
  if (/reasoning_effort to \W?none/.test(rejection) && flags.thinking !== 'off') return { ...flags, thinking: 'off' };
  const named = rejectedParameter(rejection, parameter, optionalParameters, flags.omit);
  if (named === undefined) return undefined;
  return {
    ...flags,
    omit: [...(flags.omit ?? []), named], // grows each time, so learning ends
    completionTokens: named === 'max_tokens' || (named !== 'max_completion_tokens' && flags.completionTokens),
  };
}

export function rejectedParameter(
  rejection: string,
  parameter: string | undefined,
  names: readonly string[],
  omit: readonly string[] = [],
): string | undefined {
  const refuses =
    /support|unknown|unrecogni[sz]ed|unexpected|not (permitted|allowed)|extra|deprecated|invalid|must be verified/i;
  if (!refuses.test(rejection)) return undefined;
  const named = parameter?.replace(/\[.*/s, '');
  return names.find(
    (name) => !omit.includes(name) && (named === undefined ? mentions(rejection, name) : named === name),
  );
}

/**
 * Returns true if a rejection refers to the Responses API or says that the model has no chat completions. OpenAI: "only supported in
 * v1/responses", "Function tools with reasoning_effort are not supported … use /v1/responses", "not a chat model"; Azure: "The
 * chatCompletion operation does not work with the specified model"; GitHub Copilot: "model … is not accessible via the /chat/completions
 * endpoint".
 */
export const suggestsResponsesApi = (rejection: string): boolean =>
  /\/responses\b|not a chat model/i.test(rejection) ||
  /model.{0,120}\bnot\b.{0,60}chat\/?completion|chat\/?completion.{0,60}\bnot\b.{0,60}model/i.test(rejection);

export const imageRejectionPattern =
  /image_url|(image|vision|multimodal)[^.]{0,40}not (support|allow|enabl)|not support[^.]{0,30}(image|vision)|image input is not|mmproj/i;

function mentions(rejection: string, name: string): boolean {
  const pattern = /^(stop|reasoning|include|store)$/.test(name) ? `['"\`]${name}['"\`]` : `\\b${name}\\b`;
  return new RegExp(pattern).test(rejection);
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
