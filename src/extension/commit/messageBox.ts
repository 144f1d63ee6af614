import type { AdapterResult, CompletionOptions } from '../../llm/adapter/adapter.ts';
import { t } from '../../protocol/text/l10n.ts';
import { localizedErrorText } from '../../protocol/text/localized.ts';

type Filled = { how: 'written' | 'cut' | 'stopped' | 'theirs' } | { how: 'failed'; text: string; code?: string };

/** Maximum characters of an answer; a longer answer is endless. */
const answerLimit = 4000;

/**
 * Streams an answer into a box. The old text stays until new text arrives, and returns if the answer fails. Text typed by the user is never
 * replaced. Never throws.
 * @param tidy converts a partial or complete answer for display
 */
export async function streamIntoInputBox(
  box: { value: string },
  ask: (options: CompletionOptions) => Promise<AdapterResult>,
  tidy: (answer: string) => string,
  signal: AbortSignal,
): Promise<Filled> {
  const over = new AbortController();
  /** Values written here, because the editor reports each value again later. */
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
      // Fewer updates: every value enters the history of the box, next to the user's own messages.
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
  return { how: 'failed', text: reply.error ? localizedErrorText(reply.error) : none, ...(code && { code }) };
}
