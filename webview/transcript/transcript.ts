import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Message, ToolCall } from '../../src/protocol/messages.ts';
import type { Run } from '../../src/protocol/run.ts';
import { visibleLine, visibleProse } from '../../src/protocol/visible.ts';
import { card, draftCard } from '../cards/card.ts';
import { asksIn } from '../composer/choosing.ts';
import { isAtWork } from '../composer/commands.ts';
import { editWaiting } from '../composer/composer.ts';
import { pictures } from '../composer/images.ts';
import { waitingMessage } from '../composer/waiting.ts';
import type { PanelContext } from '../context.ts';
import { icons } from '../icons.ts';
import { longText } from '../longText.ts';
import { MarkdownView } from '../markdown/view.ts';
import { branchesAt } from './branches.ts';
import { damages } from './damage.ts';

/** The views of one run's messages, by place. A reply keeps its view when it turns from streamed to finished. */
interface Views {
  run: Run | null;
  at: { content: MarkdownView; thinking: MarkdownView }[];
}
const views: Views = { run: null, at: [] };

/** Everything said in the run, in order, with a card for each call, and the reply that is being streamed. */
export function transcript(context: PanelContext, run: Run): TemplateResult {
  if (views.run !== run) {
    views.run = run;
    views.at = [];
  }
  const places = run.live ? run.messages.length + 1 : run.messages.length;
  return html`${repeat(
    Array.from({ length: places }, (_, index) => index),
    (index) => `${run.id}:${index}`,
    (index) => {
      const message = run.messages[index];
      if (!message) return html`${between(context, run, index)}${live(context, run, index)}`;
      return html`${between(context, run, index)}${guard(dependencies(context, run, message, index), () => entry(context, run, message, index))}`;
    },
  )}
  ${between(context, run, places)}
  ${run.queued.map((one) => waitingMessage(context, run, one, { pictures: pictures(one.attachments), edit: (queued) => editWaiting(context, queued) }))}`;
}

/** What happened before the message at this place that is no message. */
const between = (context: PanelContext, run: Run, place: number) =>
  html`${compactions(context, run, place)}${damages(context, run, place)}${otherModel(context, run, place)}${branchesAt(context, run, place)}`;

/** From here on another model answers: what was said before was by the one before. */
function otherModel({ model: { state } }: PanelContext, run: Run, place: number): TemplateResult | typeof nothing {
  const next = place > 0 ? run.models?.findLast(({ at }) => at === place)?.model : undefined;
  if (next === undefined || !run.messages.slice(0, place).some(({ role }) => role === 'assistant')) return nothing;
  const label = state?.models.find(({ id }) => id === next)?.label ?? next;
  return html`<p class="ending" data-role="other-model">From here on: ${visibleLine(label)}</p>`;
}

/** What the model is not sent any more, said where it happened: before the message at this place. */
function compactions(context: PanelContext, run: Run, place: number): TemplateResult[] {
  const here = run.compactions.filter(({ at }) => at === place);
  const shortening = here.find(({ summary }) => summary === undefined); // may come in several steps, and is said once
  return here
    .filter((one) => one.summary !== undefined || one === shortening)
    .map(({ summary, kept }, nth) =>
      summary === undefined
        ? html`<p class="ending" data-role="compaction">The model's window was full: it sees older tool output shortened from here on. Nothing is lost here.</p>`
        : html`<div class="ending" data-role="compaction"><p>The model's window was full: it sees a summary of the oldest turns from here on. Nothing is lost here.</p>
            <div class="summary-text">${longText(context, `${place}:summary:${nth}`, visibleProse([summary, kept].filter(Boolean).join('\n\n')), 300)}</div></div>`,
    );
}

/** What a finished message is drawn from: it is left alone while these stay the same. */
function dependencies(context: PanelContext, run: Run, message: Message, index: number): unknown[] {
  const place = (name: string) => `${index}${name}`;
  if (message.role !== 'assistant') return [message, context.opened.whole.size];
  const calls = message.toolCalls ?? [];
  const going = calls.map((call) => isAtWork(context, run.calls[call.id]?.background?.id));
  const asks = asksIn(run);
  const ticking =
    calls.some((call) => run.calls[call.id]?.status === 'running' || asks.includes(call.id)) || going.includes(true);
  return [
    message,
    run.phase,
    run.error?.code,
    ticking ? context.now : 0,
    context.opened.whole.size,
    ...going,
    ...calls.flatMap((call, at) => [context.model.revisions.get(call.id), context.opened.cards.has(place(`:${at}`))]),
  ];
}

function entry(context: PanelContext, run: Run, message: Message, index: number): TemplateResult | typeof nothing {
  switch (message.role) {
    case 'user':
      return html`<article class="user" data-role="user" aria-label="You">
        ${pictures(message.attachments)}<div class="user-text">${longText(context, `${index}:user`, visibleProse(message.content), 6000)}</div></article>`;
    case 'assistant':
      return assistant(context, index, {
        content: message.content,
        thinking: message.thinking ?? '',
        cards: (message.toolCalls ?? []).map((call, at) => card(context, run, call, `${index}:${at}`)),
        complete: true,
        endings: [
          ...(message.warnings ?? []).map(visibleProse),
          ...(message.incomplete ? [incompleteWords(run, index, message.toolCalls)] : []),
        ],
        undo: undoButton(context, run, message.toolCalls ?? []),
      });
    case 'system':
      return message.content.startsWith('RUN_DIRECTIVE\n')
        ? html`<details class="thinking brief" data-role="brief"><summary><span class="twistie">${icons.chevron}</span>${briefTitle(message.content)}</summary><pre>${visibleProse(message.content)}</pre></details>`
        : html`<p class="ending" data-role="system">${visibleProse(message.content)}</p>`;
    default:
      return nothing; // results stand in their cards
  }
}

/** What a workflow told the model: the node it is about. */
function briefTitle(brief: string): string {
  const value = (key: string) => new RegExp(`^- ${key}: (.*)$`, 'm').exec(brief)?.[1] ?? '';
  return visibleLine(`Node ${value('currentNodeId')}, as ${value('effectiveAgentId')}`);
}

function live(context: PanelContext, run: Run, index: number): TemplateResult {
  const { content, thinking, calls } = run.live!;
  return assistant(context, index, {
    content,
    thinking,
    cards: calls.map((draft, at) => draftCard(context, draft, `${index}:${at}`)),
    complete: false,
    endings: [],
  });
}

interface Reply {
  content: string;
  thinking: string;
  cards: TemplateResult[];
  complete: boolean;
  /** What is to be said about the reply, below it. */
  endings: string[];
  undo?: TemplateResult | typeof nothing;
}

function assistant(context: PanelContext, index: number, reply: Reply): TemplateResult {
  views.at[index] ??= { content: new MarkdownView(context.markdown), thinking: new MarkdownView(context.markdown) };
  const view = views.at[index];
  view.content.show(reply.content, reply.complete);
  view.thinking.show(reply.thinking, reply.complete);
  const thinkingNow = !reply.complete && reply.content === '' && reply.cards.length === 0;
  return html`<article class="assistant" data-role="assistant" aria-label="Towpath"
      aria-busy=${reply.complete ? 'false' : 'true'}>
    ${
      reply.thinking
        ? html`<details class="thinking ${thinkingNow ? 'now' : ''}"><summary><span class="twistie">${icons.chevron}</span>Thinking</summary>${view.thinking.element}</details>`
        : nothing
    }
    ${view.content.element}
    ${reply.cards}
    ${reply.endings.map((ending) => html`<p class="ending">${ending}</p>`)}
    ${reply.undo ?? nothing}
  </article>`;
}

/** Takes back what a whole reply changed; a single change has its own button. */
function undoButton(context: PanelContext, run: Run, calls: readonly ToolCall[]): TemplateResult | typeof nothing {
  const standing = calls.filter(({ id }) => {
    const { status, changes = [], moved, undone = [] } = run.calls[id] ?? {};
    if (status !== 'done' && run.phase === 'Running') return false; // it is at it
    return [...changes.map(({ path }) => path), ...(moved ? [moved.to] : [])].some((path) => !undone.includes(path));
  });
  if (standing.length < 2) return nothing;
  return html`<vscode-button appearance="secondary" class="small undo-turn" data-testid="undo-turn"
      @click=${() => context.post({ type: 'undo', toolCallIds: standing.map(({ id }) => id) })}
      ><span slot="start">${icons.undo}</span>Undo these ${standing.length} changes</vscode-button>`;
}

/** Only the run's own error tells a broken stream from a stop, and it is about the newest reply. */
function incompleteWords(run: Run, index: number, calls: ToolCall[] | undefined): string {
  const broken = index === run.messages.length - 1 && run.error?.code.startsWith('LLM_');
  const words = broken ? 'Cut off here' : 'Stopped here';
  return calls?.length ? `${words}; its calls were not run` : words;
}
