import type { UserQuestions } from '../../src/protocol/content/questions.ts';
import type { HostMessage } from '../../src/protocol/panel/panelMessages.ts';
import type { RunEvent } from '../../src/protocol/run/events.ts';
import { commandEndMessageForUser, type Run } from '../../src/protocol/run/run.ts';
import { taskOfCall } from '../../src/protocol/run/tasks.ts';
import { errorMessageForUser } from '../../src/protocol/text/codeText.ts';
import { escapeInvisibleProse } from '../../src/protocol/text/escapeInvisible.ts';
import { localizedCount, t } from '../../src/protocol/text/l10n.ts';
import { shortenText } from '../../src/protocol/text/shorten.ts';
import { toolCallCardLine } from '../cards/card.ts';
import { cardLineAriaLabel } from '../cards/cardLine.ts';
import { taskStatus, taskTitle } from '../cards/taskStatus.ts';
import type { PanelContext } from '../context.ts';
import { markdownToPlainText } from '../markdown/plainText.ts';
import { runEndNotice } from './runEnd.ts';
import { withoutCommandMarks } from './sentence.ts';

/** Milliseconds between announcements, so that none is interrupted. */
const apart = 5000;
/** Maximum characters of an announced item, and number of retained announcements. */
const [longest, kept] = [1000, 5];
const most = 20;
const maxCalls = 3;

/**
 * Returns the function that announces to screen readers: finished replies, questions, errors, and failed or denied calls; never a growing
 * reply. Call after the message was folded.
 */
export function createAnnouncer(log: HTMLElement): (context: PanelContext, message: HostMessage) => void {
  let waiting: string[] = [];
  let isSilent = true;
  const next = () => {
    isSilent = waiting.length === 0;
    if (isSilent) return;
    put(log, waiting.slice(-most));
    waiting = [];
    setTimeout(next, apart);
  };
  return (context, message) => {
    const { run } = context.model;
    if (message.type === 'run') waiting = []; // belongs to the earlier run
    if (message.type !== 'events' || !run) return;
    const told = message.events.flatMap((event) => (event.runId === run.id ? tellOf(context, run, event) : []));
    waiting.push(...told.map(inShort).filter((text) => text.trim() !== ''));
    if (isSilent) next();
  };
}

function tellOf(context: PanelContext, run: Run, event: RunEvent): string[] {
  switch (event.type) {
    case 'message':
      if (event.branch !== undefined) return [];
      if (event.message.role === 'assistant') return [markdownToPlainText(event.message.content.slice(0, 4 * longest))];
      return event.message.role === 'tool' ? wentWrong(context, run, event.message.toolResults) : [];
    case 'task-message': {
      const { task, message } = event;
      const isShown = task === context.opened.task && message.role === 'assistant';
      return isShown ? [markdownToPlainText(message.content.slice(0, 4 * longest))] : [];
    }
    case 'task-end': {
      const task = run.tasks?.[event.task];
      return task ? [`${taskTitle(task)} · ${taskStatus(context, run, event.task, task).text}`] : [];
    }
    case 'question':
      return [t('Waiting for approval: {0}', [...taskTitleOf(run, event.toolCallId), event.question.what].join(' · '))];
    case 'ask':
      return [t('Towpath has a question. {0} Or write your own answer.', event.questions.map(inWords).join(' '))];
    case 'node':
      return event.status === 'end' ? [t('Node {0} is done', event.node)] : [];
    case 'command-end':
      return [t('Background command {0}', commandEndMessageForUser(event))];
    case 'phase':
      return event.error ? [withoutCommandMarks(runEndNotice(run)?.says ?? errorMessageForUser(event.error))] : [];
    default:
      return [];
  }
}

function wentWrong(context: PanelContext, run: Run, results: readonly { toolCallId: string }[]): string[] {
  const ids = new Set(results.map(({ toolCallId }) => toolCallId));
  const asked = run.messages.findLast(
    (one) => one.role === 'assistant' && one.toolCalls?.some(({ id }) => ids.has(id)),
  );
  const calls = asked?.role === 'assistant' ? (asked.toolCalls ?? []).filter(({ id }) => ids.has(id)) : [];
  const wrong = calls
    .map((call) => toolCallCardLine(context, run, call))
    .filter(({ mark, status }) => mark === 'cross' || mark === 'dot' || (mark === 'none' && status === 'done'));
  const more = wrong.length - maxCalls;
  return [
    ...wrong.slice(0, maxCalls).map(cardLineAriaLabel),
    ...(more > 0 ? [t('And {0} like these', localizedCount(more, 'more call'))] : []),
  ];
}

function taskTitleOf(run: Run, toolCallId: string): string[] {
  const task = taskOfCall(run, toolCallId);
  return task === undefined ? [] : [taskTitle(run.tasks![task]!)];
}

const inWords = ({ question, answers }: UserQuestions): string =>
  `${markdownToPlainText(question)} ${answers.map(({ label, why }, place) => `${place + 1}: ${label}${why ? `, ${why}` : ''}.`).join(' ')}`;

const inShort = (text: string): string => escapeInvisibleProse(shortenText(text, longest));

function put(log: HTMLElement, texts: readonly string[]): void {
  const told = document.createElement('div');
  for (const text of texts) told.appendChild(document.createElement('p')).textContent = text;
  log.append(told);
  while (log.childElementCount > kept) log.firstElementChild?.remove();
}
