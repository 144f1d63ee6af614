import { estimateTokenCount } from 'tokenx';
import { systemPrompt } from '../engine/context/systemPrompt.ts';
import { promptPrefixTokens } from '../engine/core/tokenCount.ts';
import { removeRedundantTools } from '../protocol/content/tools.ts';
import { localizedDollarsAndCents } from '../protocol/run/money.ts';
import { currentLocale, localizedCount, t, withDigitGrouping } from '../protocol/text/l10n.ts';
import { builtinTools } from '../tools/host/builtinTools.ts';
import { defaultAgentDefinition } from '../workflows/run/chatWorkflow.ts';
import { defaultCheckTaskLimits } from './runTask.ts';
import type { ModelCheckTask } from './task.ts';
import { type CheckResult, formatCheckDate, formatDuration, sumCheckTaskField } from './taskResult.ts';
import { modelCheckTasks as allTasks } from './tasks.ts';

/**
 * Estimate of a check. Tokens: `prompt` in all prompts, `fresh` without cached tokens, `written` by the model. `basis`: origin of the time
 * estimate, for display.
 */
interface Estimate {
  replies: number;
  prompt: number;
  fresh: number;
  written: number;
  ms: number;
  basis: string;
}

/** Tokens per reply, and of the messages around it. */
const [ofReply, aroundReply] = [70, 60];

/** Default speeds in tokens per second, and milliseconds until the first token. */
const guesses = {
  here: { read: 60, write: 6, waitMs: 0 },
  elsewhere: { read: 2000, write: 40, waitMs: 1000 },
};

/**
 * Estimates the duration and tokens of a check.
 *
 * @param isLocal the model runs in a process of Towpath
 * @param before result of the preceding check
 */
export function estimateModelCheck(
  isLocal: boolean,
  before?: CheckResult,
  tasks: readonly ModelCheckTask[] = allTasks,
): Estimate {
  const prefix = promptPrefixTokens({
    model: '',
    systemPrompt: systemPrompt(defaultAgentDefinition, { names: ['harbour'] }),
    tools: removeRedundantTools(builtinTools().map(({ definition }) => definition)),
  });
  const given = (task: ModelCheckTask) => estimateTokenCount(task.asks);
  const sum = (of: (task: ModelCheckTask) => number) => tasks.reduce((all, task) => all + of(task), 0);
  const replies = sum((task) => task.replies);
  const grown = ({ replies: all }: ModelCheckTask) => ((all * (all - 1)) / 2) * (ofReply + aroundReply);
  const prompt = sum((task) => task.replies * (prefix + given(task)) + grown(task));
  const fresh = prefix + sum((task) => given(task) + task.replies * aroundReply);
  const written = replies * ofReply;
  const { read, write, waitMs } = isLocal ? guesses.here : guesses.elsewhere;
  const whole = before && before.ended === undefined && before.of === tasks.length ? before : undefined;
  return {
    replies,
    prompt,
    fresh,
    written,
    ms: whole ? sumCheckTaskField(whole, 'ms') : (fresh / read + written / write) * 1000 + replies * waitMs,
    basis: whole
      ? t('as on {0}', formatCheckDate(whole.at, currentLocale()))
      : t('if it reads {0} and generates {1} tokens a second, which has not been measured yet', read, write),
  };
}

/** Describes the estimate for the user before the check. `least`: minimum cost in US dollars; undefined: unknown price. */
export function modelCheckEstimateText(
  { replies, prompt, fresh, written, ms, basis }: Estimate,
  least: number | undefined,
) {
  const rounded = (tokens: number) => withDigitGrouping(Math.round(tokens / 100) * 100);
  const { replies: most, written: maxWritten, ms: maxMs } = defaultCheckTaskLimits;
  return [
    t('About {0}, {1}. Models that think take longer.', formatDuration(ms), basis),
    t(
      'About {0}: {1} tokens sent, {2} of them new, and {3} generated.',
      localizedCount(replies, 'reply', 'replies'),
      ...[prompt, fresh, written].map(rounded),
    ),
    least === undefined
      ? t('Its price is unknown.')
      : least === 0
        ? t('It costs nothing.')
        : t('It costs at least {0}.', localizedDollarsAndCents(least)),
    t(
      'A task takes at most {0} replies, {1} generated tokens and {2}.',
      most,
      withDigitGrouping(maxWritten),
      formatDuration(maxMs),
    ),
  ];
}
