import { estimateTokenCount } from 'tokenx';
import { systemPrompt } from '../engine/context/systemPrompt.ts';
import { tokensOfPrefix } from '../engine/core/tokenCount.ts';
import { offeredTools } from '../protocol/content/tools.ts';
import { cents } from '../protocol/run/money.ts';
import { amount, groupDigits, language, t } from '../protocol/text/l10n.ts';
import { defaultTools } from '../tools/host/builtinTools.ts';
import { towpath } from '../workflows/run/chatWorkflow.ts';
import { usualLimits } from './runTask.ts';
import type { Task } from './task.ts';
import { type CheckResult, formatDuration, inDay, sumOf } from './taskResult.ts';
import { tasks as allTasks } from './tasks.ts';

/** What a check is going to take, about. */
interface Estimate {
  replies: number;
  /** Tokens: of all prompts, what of them is new each time, and what is written. */
  prompt: number;
  fresh: number;
  written: number;
  ms: number;
  /** What the time is worked out from, in words for people. */
  basis: string;
}

/** Tokens of a reply of these tasks, and of what is told about one. */
const [ofReply, aroundReply] = [70, 60];

/** Tokens a second, and milliseconds until a reply begins, as long as nobody knows better. */
const guesses = {
  here: { read: 60, write: 6, waitMs: 0 },
  elsewhere: { read: 2000, write: 40, waitMs: 1000 },
};

/** @param isLocal the model runs in a process of ours @param before what this model took when it was checked the last time */
export function estimateOf(isLocal: boolean, before?: CheckResult, tasks: readonly Task[] = allTasks): Estimate {
  const prefix = tokensOfPrefix({
    model: '',
    systemPrompt: systemPrompt(towpath, { names: ['harbour'] }),
    tools: offeredTools(defaultTools().map(({ definition }) => definition)),
  });
  const given = (task: Task) => estimateTokenCount(task.asks);
  const sum = (of: (task: Task) => number) => tasks.reduce((all, task) => all + of(task), 0);
  const replies = sum((task) => task.replies);
  const grown = ({ replies: all }: Task) => ((all * (all - 1)) / 2) * (ofReply + aroundReply);
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
    ms: whole ? sumOf(whole, 'ms') : (fresh / read + written / write) * 1000 + replies * waitMs,
    basis: whole
      ? t('as on {0}', inDay(whole.at, language()))
      : t('if it reads {0} and generates {1} tokens a second, which has not been measured yet', read, write),
  };
}

/** The same for a person, before anything is sent. `least`: US dollars that it costs at least; undefined: no price is known. */
export function estimateText({ replies, prompt, fresh, written, ms, basis }: Estimate, least: number | undefined) {
  const rounded = (tokens: number) => groupDigits(Math.round(tokens / 100) * 100);
  const { replies: most, written: mostWritten, ms: mostMs } = usualLimits;
  return [
    t('About {0}, {1}. Models that think take longer.', formatDuration(ms), basis),
    t(
      'About {0}: {1} tokens sent, {2} of them new, and {3} generated.',
      amount(replies, 'reply', 'replies'),
      ...[prompt, fresh, written].map(rounded),
    ),
    least === undefined
      ? t('Its price is unknown.')
      : least === 0
        ? t('It costs nothing.')
        : t('It costs at least {0}.', cents(least)),
    t(
      'A task takes at most {0} replies, {1} generated tokens and {2}.',
      most,
      groupDigits(mostWritten),
      formatDuration(mostMs),
    ),
  ];
}
