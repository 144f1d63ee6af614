import { message, withDigitGrouping } from '../../../protocol/text/l10n.ts';
import { type LlamaHistoryItem, toLlamaHistory } from '../ipc/chatHistory.ts';
import { PromptTooLongError } from '../ipc/failures.ts';
import type { InferenceJob, SendInferenceEvent } from '../ipc/ipc.ts';
import { leastReplyTokens, replyMargin } from '../modelFile/contextSize.ts';
import { truncateLongMessages } from './truncateResults.ts';

export interface FittedPrompt<Token> {
  history: LlamaHistoryItem[];
  prompt: Token[];
  tokensLeft: number;
}

interface PromptWindow<Token> {
  reach(prompt: Token[]): Promise<{
    contextSize: number;
    canGrow: boolean;
  }>;
  form: string;
  tokensOf(history: LlamaHistoryItem[]): Token[];
  count(text: string): number;
}

const leastText = 500;
const cutBefore = new Map<string, string>();

/**
 * Fits a conversation to the context before evaluation, halving long tool results as needed, so that the engine never drops text. Returns a
 * description of the truncations. Throws `PromptTooLongError` if truncation is insufficient.
 */
export async function fitPrompt<Token>(
  job: InferenceJob,
  send: SendInferenceEvent,
  { reach, form, tokensOf, count }: PromptWindow<Token>,
): Promise<FittedPrompt<Token>> {
  const promptOf = (messages: InferenceJob['messages']) => {
    const history = toLlamaHistory(messages, job.systemPrompt, form);
    return { history, prompt: tokensOf(history) };
  };
  const whole = promptOf(job.messages);
  const { contextSize, canGrow } = await reach(whole.prompt);
  const reserved = Math.min(leastReplyTokens, Math.floor(contextSize / 8));
  const within = ({ history, prompt }: Omit<FittedPrompt<Token>, 'tokensLeft'>): FittedPrompt<Token> => ({
    history,
    prompt,
    tokensLeft: contextSize - prompt.length - replyMargin,
  });
  const measure = (messages: InferenceJob['messages']) => within(promptOf(messages));

  let fitted = within(whole);
  let cut = { texts: 0, characters: 0 };
  for (let most = contextSize * 2; fitted.tokensLeft < reserved && most >= leastText; most = Math.floor(most / 2)) {
    const shortened = truncateLongMessages(job.messages, most);
    if (shortened.texts === 0) continue;
    cut = shortened;
    fitted = measure(shortened.messages);
  }
  if (fitted.tokensLeft < reserved) {
    const newest = job.messages.findLast((message) => message.role === 'user')?.content ?? '';
    const message = count(newest);
    const fixed = measure([{ role: 'user', content: '' }]).prompt.length;
    const prompt = fitted.prompt.length;
    throw new PromptTooLongError({ prompt, message, fixed, contextSize, canGrow, reserved, cut: cut.texts });
  }
  reportTruncation(job.key, cut, contextSize, send);
  return fitted;
}

function reportTruncation(
  key: string | undefined,
  cut: { texts: number; characters: number },
  size: number,
  send: SendInferenceEvent,
): void {
  const now = cut.texts > 0 ? `${cut.texts} ${cut.characters}` : '';
  const known = key === undefined ? '' : (cutBefore.get(key) ?? '');
  if (key !== undefined) cutBefore.set(key, now);
  if (now === '' || now === known) return;
  const text = message(
    'Long results were truncated for the local model: {0} characters are left out because {1} tokens fit.',
    withDigitGrouping(cut.characters),
    withDigitGrouping(size),
  );
  send({ type: 'warning', text });
}
