import type { AdapterResult, CompleteOptions } from '../../llm/adapter/adapter.ts';
import { t } from '../../protocol/text/l10n.ts';
import { errorText } from '../../protocol/text/localized.ts';

/** What became of a box: `written`, `cut` (the answer ended before its end), `stopped`, or `theirs`: the person has changed it meanwhile. */
type Filled = { how: 'written' | 'cut' | 'stopped' | 'theirs' } | { how: 'failed'; text: string; code?: string };

/** Characters of an answer; a model that goes on after them goes on for ever. */
const answerLimit = 4000;

/**
 * Puts an answer into a box while it comes. What stood there stays until there are words, and comes back when they do not come to
 * their end. What the person writes there meanwhile is theirs. Throws nothing.
 * @param tidy what is shown of an answer, whole or not
 */
export async function fillBox(
  box: { value: string },
  ask: (options: CompleteOptions) => Promise<AdapterResult>,
  tidy: (answer: string) => string,
  signal: AbortSignal,
): Promise<Filled> {
  const over = new AbortController();
  /** The editor tells of each value once more, a moment later. */
  const ours = new Set<string>();
  const isOurs = () => ours.has(box.value.replaceAll('\r\n', '\n'));
  let before: string | undefined;
  let answer = '';
  let shown = 0;
  const show = (text: string) => {
    if (before !== undefined && !isOurs()) return over.abort();
    before ??= box.value;
    ours.add(text);
    box.value = text;
    shown = text.length;
  };
  const reply = await ask({
    signal: AbortSignal.any([signal, over.signal]),
    shows: ({ content }) => Boolean(content?.trim()),
    onChunk({ content = '' }) {
      answer += content;
      if (answer.length > answerLimit) return over.abort();
      // Not for each word: every value goes into the box's history, where the person's own last messages are.
      const least = shown * 1.4 + 10;
      const text = answer.length > least ? tidy(answer) : '';
      if (text.length > least) show(text);
    },
  });
  const text = reply.success ? tidy(answer) : '';
  if (text !== '') show(text);
  if (before !== undefined && !isOurs()) return { how: 'theirs' };
  if (text !== '') return { how: reply.finishReason === 'length' ? 'cut' : 'written' };
  if (before !== undefined) box.value = before;
  if (signal.aborted) return { how: 'stopped' };
  const none = over.signal.aborted ? t('The model did not finish.') : t('The model returned no message.');
  const { code } = reply.error ?? {};
  return { how: 'failed', text: reply.error ? errorText(reply.error) : none, ...(code && { code }) };
}
