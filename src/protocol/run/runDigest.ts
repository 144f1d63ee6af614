import { t } from '../text/l10n.ts';
import { shortenText } from '../text/shorten.ts';
import { planItemsOfRun } from './plan.ts';
import { callsInStartOrder, localizedRunTitle, ownUserMessageTexts, type Run, runTitle } from './run.ts';

const most = { words: 2000, summary: 6000, answer: 3000, files: 40 };

/**
 * Builds a digest of a run for the first message of a new run. The digest uses only the record, because the context window of the model is
 * full. The user reads the digest before sending.
 */
export function createRunDigest(run: Run): string {
  const userTexts = ownUserMessageTexts(run);
  const [first = '', newest = ''] = [userTexts[0], userTexts.at(-1)];
  const summary = run.compactions.findLast((one) => one.summary !== undefined)?.summary;
  const answer = run.messages.findLast((message) => message.role === 'assistant' && message.content.trim() !== '');
  const items = planItemsOfRun(run).map(({ text, status }) => `- [${status === 'done' ? 'x' : ' '}] ${text}`);
  const files = filesOf(run);
  const parts = [
    ['Request', cut(first, most.words)],
    ['Last request', newest === first ? undefined : cut(newest, most.words)],
    ['The plan', items.join('\n')],
    ['Work so far, as it was summarized', summary && cut(summary, most.summary)],
    ['Changed files', files.join('\n')],
    ['Last answers', answer && cut(answer.content, most.answer)],
  ] as const;
  const sections = parts.flatMap(([title, text]) => (text?.trim() ? [`${t(title)}:\n${text.trim()}`] : []));
  const begin = t('Continue the work of another run, “{0}”, from its current state.', localizedRunTitle(runTitle(run)));
  return [begin, ...sections].join('\n\n');
}

function filesOf(run: Run): string[] {
  const paths = callsInStartOrder(run).flatMap(([, { ok, changes = [], moved, undone = [] }]) =>
    ok ? [...changes.map(({ path }) => path), ...(moved ? [moved.to] : [])].filter((one) => !undone.includes(one)) : [],
  );
  const all = [...new Set(paths)];
  return all.length > most.files ? [...all.slice(0, most.files), t('and {0} more', all.length - most.files)] : all;
}

const cut = (text: string, length: number): string => shortenText(text, length, ' …');
