import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { compactedContentDescription } from '../../src/protocol/content/compaction.ts';
import type { AssistantMessage, Message, ToolCall } from '../../src/protocol/content/messages.ts';
import { type Corruption, pathsToUndo, type Run } from '../../src/protocol/run/run.ts';
import { isTaskAtWork } from '../../src/protocol/run/tasks.ts';
import {
  escapeInvisibleInLine,
  escapeInvisibleInProseLine,
  escapeInvisibleProse,
  withNoBreakUnits,
} from '../../src/protocol/text/escapeInvisible.ts';
import { currentLocale, localizedCount, message, t } from '../../src/protocol/text/l10n.ts';
import { modelLabelWithEffort } from '../../src/protocol/values/thinkingEffort.ts';
import { addedRuleForCall, callDraftCard, toolCallCard } from '../cards/card.ts';
import { isEmptyLiveReply, isPlanCall, RunCallFolds } from '../cards/folding.ts';
import { callPositionKey, foldedCallsView } from '../cards/foldView.ts';
import { taskCard } from '../cards/taskCard.ts';
import { callsInRun } from '../cards/taskStatus.ts';
import { messageImagesView } from '../composer/attachedImages.ts';
import { isCommandRunning } from '../composer/backgroundCommandsPart.ts';
import { pendingQuestionCallIds } from '../composer/choosing.ts';
import { messageMentionsView } from '../composer/mentions.ts';
import { type PanelContext, rememberOpenState } from '../context.ts';
import { icons } from '../icons.ts';
import { longTextView } from '../longText.ts';
import { MarkdownView } from '../markdown/view.ts';
import { formatElapsedTime } from '../time.ts';
import { branchSwitchersAt } from './branchSwitcher.ts';
import { graphMessageIndex, workflowGraphView } from './graphView.ts';
import { localizedWarnings, localizeStoredEnglish } from './localizedText.ts';
import { messageActionInputs, messageActions } from './messageActs.ts';
import { systemMessageView } from './systemNotes.ts';
import type { VirtualPages } from './virtualPages.ts';

/** Markdown views by message index. A reply retains its view when streaming ends. */
const views = new Map<number, { content: MarkdownView; thinking: MarkdownView }>();

const folding = new RunCallFolds();

export function transcriptView(context: PanelContext, run: Run, pages: VirtualPages): TemplateResult {
  folding.look(run, (place) => isParted(context, run, place));
  const places = run.live ? run.messages.length + 1 : run.messages.length;
  const graphAt = graphMessageIndex(run);
  const draw = (place: number) => {
    const message = run.messages[place];
    return html`${place === graphAt ? workflowGraphView(context, run) : nothing}${guard(around(context, run), () => between(context, run, place))}${
      message
        ? guard(dependencies(context, run, message, place), () => entry(context, run, message, place))
        : live(context, run, place)
    }`;
  };
  const { partial = false, task = '' } = context.model;
  pages.show(`${run.id}:${partial}:${task}`, places, draw, (place) => views.delete(place));
  return html`${context.model.partial ? html`<p class="ending" data-role="loading">${t('Loading earlier messages…')}</p>` : nothing}
  ${pages.element}
  ${between(context, run, places)}`;
}

const between = (context: PanelContext, run: Run, place: number) =>
  html`${compactions(context, run, place)}${damages(context, run, place)}${otherModel(context, run, place)}${branchSwitchersAt(context, run, place)}`;

export function openFoldsAtMessage({ opened }: PanelContext, place: number): number {
  const folds = folding.of(place);
  for (const { key } of folds) opened.cards.add(`fold:${key}`);
  return folds[0]?.at ?? place;
}

const isParted = ({ model }: PanelContext, run: Run, place: number): boolean =>
  run.compactions.some(({ at }) => at === place) ||
  (run.damage?.some(({ at }) => at === place) ?? false) ||
  (place > 0 && (run.models?.some(({ at }) => at === place) ?? false)) ||
  (model.branches?.runId === run.id && model.branches.points.some(({ at }) => at === place));
const around = ({ model, opened }: PanelContext, run: Run): unknown[] => [
  run.id,
  run.compactions.length,
  run.damage,
  run.damage?.length,
  run.models?.length,
  model.state,
  model.branches,
  opened.cards.size,
  opened.whole.size,
];

/** Marks the message from which another model answers. */
function otherModel({ model: { state } }: PanelContext, run: Run, place: number): TemplateResult | typeof nothing {
  const { model: next, effort } = (place > 0 && run.models?.findLast(({ at }) => at === place)) || {};
  if (next === undefined || !run.messages.slice(0, place).some(({ role }) => role === 'assistant')) return nothing;
  const label = state?.models.find(({ id }) => id === next)?.label ?? next;
  return html`<p class="ending" data-role="other-model">${t('From here on: {0}', modelLabelWithEffort(escapeInvisibleInLine(label), effort))}</p>`;
}

function compactions(context: PanelContext, run: Run, place: number): TemplateResult[] {
  const here = run.compactions.filter(({ at }) => at === place);
  const shortenings = here.filter(({ summary }) => summary === undefined); // several steps of one compaction are reported once
  const shortening =
    shortenings.find((one) => compactedContentDescription(one) !== compactedContentDescription({})) ?? shortenings[0];
  return here
    .filter((one) => one.summary !== undefined || one === shortening)
    .map((one, nth) => {
      const { summary, kept } = one;
      const words = t(
        'Compacted: the model sees {0} from here on. Nothing is lost here.',
        message(compactedContentDescription(one)),
      );
      return summary === undefined
        ? html`<p class="ending" data-role="compaction">${words}</p>`
        : html`<div class="ending" data-role="compaction"><p>${words}</p>
            <div class="summary-text">${longTextView(context, `${place}:summary:${nth}`, escapeInvisibleProse([summary, kept].filter(Boolean).join('\n\n')), 300)}</div></div>`;
    });
}

/** Inputs of a finished message, rendered again only if changed. */
function dependencies(context: PanelContext, run: Run, message: Message, index: number): unknown[] {
  if (message.role !== 'assistant')
    return [message, context.opened.whole.size, ...messageActionInputs(context, run, index)];
  const calls = message.toolCalls ?? [];
  const going = calls.map((call) => isCommandRunning(context, run.calls[call.id]?.background?.id));
  const asks = pendingQuestionCallIds(run);
  const ticking =
    calls.some((call) => run.calls[call.id]?.status === 'running' || asks.includes(call.id)) || going.includes(true);
  return [
    message,
    run.phase,
    run.error?.code,
    ticking ? context.now : 0,
    context.opened.whole.size,
    index === run.messages.length - 1,
    ...messageActionInputs(context, run, index),
    context.opened.cards.size,
    context.opened.unfolded.size,
    context.model.state?.details,
    ...foldDependencies(context, run, index),
    ...going,
    ...calls.map((call) => context.model.revisions.get(call.id)),
    ...calls.map(({ id }) => addedRuleForCall(context, { runId: run.id, toolCallId: id })?.text),
  ];
}

/** A fold is rendered at its start, also with later calls. */
function foldDependencies(context: PanelContext, run: Run, index: number): unknown[] {
  const { parts, within } = folding.at(index);
  if (!parts.some((part) => 'calls' in part)) return [within];
  const grows = run.phase === 'Running' && folding.newest?.at === index;
  return [parts, within, grows ? context.now : 0];
}

function entry(context: PanelContext, run: Run, message: Message, index: number): TemplateResult | typeof nothing {
  switch (message.role) {
    case 'user':
      return html`<article class="user" data-role="user" data-message=${index} aria-labelledby=${`who-${index}`} tabindex="-1" title=${timeOf(run, index)}>
        ${heading(index, context.model.task !== undefined && index === 0 ? t('Instructions') : t('You'))}${messageImagesView(message.attachments)}${messageMentionsView(context, message.attachments)}<div class="user-text">${longTextView(context, `${index}:user`, escapeInvisibleProse(message.content), 6000)}</div>${messageActions(context, run, index, message)}</article>`;
    case 'assistant': {
      const { parts, within } = folding.at(index);
      if (parts.length === 0 && isEmpty(message, within)) return nothing;
      return assistant(context, index, {
        content: message.content,
        thinking: within ? '' : (message.thinking ?? ''),
        thoughtMs: message.thoughtMs,
        cards: parts.map((part) =>
          'calls' in part
            ? foldedCallsView(context, run, part, {
                newest: run.phase === 'Running' && part === folding.newest,
                thinking: (at) => thoughtAt(context, run, at),
              })
            : (run.tasks?.[part.id] ? taskCard : toolCallCard)(context, run, part, callPositionKey(run, index, part)),
        ),
        complete: true,
        endings: [
          ...localizedWarnings(message).map(escapeInvisibleProse),
          ...(message.incomplete ? [incompleteWords(run, index, message.toolCalls)] : []),
        ],
        undo: undoButton(context, run, message.toolCalls ?? []),
        acts: messageActions(context, run, index, message),
        time: timeOf(run, index),
      });
    }
    case 'system':
      return systemMessageView(
        message,
        context.opened.unfolded.has(`${index}`),
        rememberOpenState(context, `${index}`),
      );
    default:
      return nothing; // results are in their cards
  }
}

function isEmpty({ content, thinking, toolCalls, incomplete, warnings }: AssistantMessage, within: boolean): boolean {
  const isSilent = content.trim() === '' && (within || !thinking);
  return isSilent && Boolean(toolCalls?.length) && !incomplete && !warnings?.length;
}

const isUnfolded = ({ model, opened }: PanelContext, place: string): boolean =>
  model.state?.details === 'all' || opened.unfolded.has(place);

const thoughts = new WeakMap<Message, MarkdownView>();

function thoughtAt(context: PanelContext, run: Run, at: number): TemplateResult | typeof nothing {
  const message = run.messages[at];
  if (message?.role !== 'assistant' || !message.thinking) return nothing;
  const view = thoughts.get(message) ?? new MarkdownView(context.markdown);
  thoughts.set(message, view);
  view.show(message.thinking, true);
  return html`<details class="thinking" ?open=${isUnfolded(context, `${at}:thinking`)} @toggle=${rememberOpenState(context, `${at}:thinking`)}><summary><span class="twistie">${icons.chevron}</span>${thoughtWords({ ...message, thinking: message.thinking, complete: true }, false)}</summary>${view.element}</details>`;
}

function live(context: PanelContext, run: Run, index: number): TemplateResult | typeof nothing {
  const { content, thinking, calls } = run.live!;
  if (isEmptyLiveReply(run.live!)) return nothing;
  return assistant(context, index, {
    content,
    thinking,
    cards: calls.flatMap((draft, at) => (isPlanCall(draft) ? [] : [callDraftCard(context, draft, `${index}:${at}`)])),
    complete: false,
    endings: [],
    acts: content.trim() ? html`<div class="message-acts"></div>` : nothing, // reserves the height, so that nothing moves at the end
  });
}

interface Reply {
  content: string;
  thinking: string;
  thoughtMs?: number;
  cards: TemplateResult[];
  complete: boolean;
  endings: string[];
  undo?: TemplateResult | typeof nothing;
  acts?: TemplateResult | typeof nothing;
  time?: string;
}

/** Headings for navigation by screen readers, invisible. */
const heading = (index: number, who: string): TemplateResult =>
  html`<h2 class="for-screen-readers" id=${`who-${index}`}>${who}</h2>`;

const timeOf = ({ messageTimes }: Run, index: number): string =>
  messageTimes[index] ? new Date(messageTimes[index]).toLocaleString(currentLocale()) : '';

function assistant(context: PanelContext, index: number, reply: Reply): TemplateResult {
  const view = views.get(index) ?? {
    content: new MarkdownView(context.markdown),
    thinking: new MarkdownView(context.markdown),
  };
  views.set(index, view);
  view.content.show(reply.content, reply.complete);
  view.thinking.show(reply.thinking, reply.complete);
  const thinkingNow = !reply.complete && reply.content === '' && reply.cards.length === 0;
  return html`<article class="assistant" data-role="assistant" data-message=${index} aria-labelledby=${`who-${index}`} tabindex="-1" title=${reply.time ?? nothing}
      aria-busy=${reply.complete ? 'false' : 'true'}>
    ${heading(index, 'Towpath')}
    ${
      reply.thinking
        ? html`<details class="thinking ${thinkingNow ? 'now' : ''}"
            ?open=${isUnfolded(context, `${index}:thinking`)} @toggle=${rememberOpenState(context, `${index}:thinking`)}><summary><span class="twistie">${icons.chevron}</span>${thoughtWords(reply, thinkingNow)}</summary>${view.thinking.element}</details>`
        : nothing
    }
    ${view.content.element}
    ${reply.acts ?? nothing}
    ${reply.cards}
    ${reply.endings.map((ending) => html`<p class="ending">${ending}</p>`)}
    ${reply.undo ?? nothing}
  </article>`;
}

function thoughtWords(
  { thinking, thoughtMs, complete }: Pick<Reply, 'thinking' | 'thoughtMs' | 'complete'>,
  now: boolean,
): TemplateResult {
  if (now) {
    const last = thinking.trimEnd().slice(-400).split('\n').at(-1) ?? '';
    return html`<span>${t('Thinking')}</span><span class="thinking-last">${escapeInvisibleInProseLine(last.replace(/[*_`#]+/g, ''))}</span>`;
  }
  return html`<span>${thoughtMs ? withNoBreakUnits(t('Thought for {0}', formatElapsedTime(thoughtMs))) : t(complete ? 'Thought' : 'Thinking')}</span>`;
}

/** Undoes the changes of a whole reply; a single change has its own button. */
function undoButton(context: PanelContext, run: Run, calls: readonly ToolCall[]): TemplateResult | typeof nothing {
  const standing = calls
    .flatMap((call) => [call, ...callsOfEndedTask(run, call.id)])
    .filter(({ id }) => {
      const state = run.calls[id];
      if (state?.status !== 'done' && run.phase === 'Running') return false; // still running
      return state && pathsToUndo(state).length > 0;
    });
  if (standing.length < 2) return nothing;
  return html`<vscode-button appearance="secondary" class="small undo-turn" data-testid="undo-turn"
      @click=${() => context.post({ type: 'undo', runId: run.id, toolCallIds: standing.map(({ id }) => id) })}
      ><span slot="start">${icons.undo}</span>${t('Undo these {0} changes', standing.length)}</vscode-button>`;
}

function callsOfEndedTask({ tasks }: Run, id: string): ToolCall[] {
  const task = tasks?.[id];
  if (!task || isTaskAtWork(task)) return [];
  return task.messages.flatMap((one) => (one.role === 'assistant' ? callsInRun(id, one.toolCalls) : []));
}

/** Only the error of the run distinguishes a broken stream from a stop, and only for the newest reply. */
function incompleteWords(run: Run, index: number, calls: ToolCall[] | undefined): string {
  const broken = index === run.messages.length - 1 && run.error?.code.startsWith('LLM_');
  if (!calls?.length) return t(broken ? 'Cut off here' : 'Stopped here');
  return t(broken ? 'Cut off here; its calls were not run' : 'Stopped here; its calls were not run');
}

function damages(context: PanelContext, run: Run, place: number): TemplateResult[] {
  return (run.damage ?? []).filter(({ at }) => at === place).map((damage) => view(context, run, damage));
}

function view(context: PanelContext, run: Run, damage: Corruption): TemplateResult {
  const { from, messages, open } = damage;
  const shown = messages.filter(({ role }) => role !== 'tool');
  const heard = open ? ` ${t('The model is informed when you continue.')}` : '';
  return html`<div class="damage" data-role="damage">
    <p>${icons.warning}<span>${t('Part of this run’s record is damaged here: {0}.', escapeInvisibleInLine(localizeStoredEnglish(damage)))}${heard}</span></p>
    ${
      shown.length === 0
        ? nothing
        : html`<details ?open=${context.opened.unfolded.has(`damage:${from}`)} @toggle=${rememberOpenState(context, `damage:${from}`)}><summary><span class="twistie">${icons.chevron}</span>${t('Messages after it, no longer part of the conversation: {0}', localizedCount(shown.length, 'message'))}</summary>
          ${shown.map((message, index) => apart(context, run, message, `damage:${from}:${index}`))}</details>`
    }
  </div>`;
}

function apart(context: PanelContext, run: Run, message: Message, place: string): TemplateResult {
  const who = message.role === 'user' ? t('You') : message.role === 'assistant' ? 'Towpath' : t('Note');
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return html`<div class="apart" data-apart=${message.role}>
    ${message.content ? html`<span class="quiet">${who}</span><div class="user-text">${longTextView(context, place, escapeInvisibleProse(message.content), 600)}</div>` : nothing}
    ${calls.map((call, at) => toolCallCard(context, run, call, `${place}:${at}`))}
  </div>`;
}
