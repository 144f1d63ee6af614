import type { Mention } from '../src/protocol/content/mention.ts';
import type { ToolResult } from '../src/protocol/content/messages.ts';
import type { BranchPoint, HostMessage, Notice, Offer, PanelState } from '../src/protocol/panel/panelMessages.ts';
import { joinParts, type RunPart } from '../src/protocol/panel/runParts.ts';
import type { RunEvent } from '../src/protocol/run/events.ts';
import { applyEvent, isNews } from '../src/protocol/run/fold.ts';
import { pendingCalls } from '../src/protocol/run/pending.ts';
import { type CallState, callsOf, type Run, reviveRun } from '../src/protocol/run/run.ts';
import type { Picked } from './host.ts';

/** What the panel knows. The run is folded here from the same events, by the same function, as in the host. */
export interface PanelModel {
  state?: PanelState;
  run: Run | null;
  /** Only its last messages are here: the whole run comes. Messages have other places in that. */
  partial?: boolean;
  /** Parts of a run that comes, and what happens in it meanwhile. */
  coming?: { parts: RunPart[]; events: RunEvent[] };
  notice: Notice | null;
  /** What *Compact Now* would free, of the run with this id. */
  room?: { runId: string; frees: number };
  /** What was selected in an editor after the last message, whether it goes with the next one, and what that comes to. */
  selection?: { mention: Mention; goes: boolean; size?: Omit<Picked, 'mention'> };
  /** What is worth doing here, for an empty conversation. */
  offers?: Offer[];
  /** The list of runs, as long as it is open. */
  runs?: Extract<HostMessage, { type: 'runs' }>;
  /** What the run with its id has changed. */
  files?: Extract<HostMessage, { type: 'files' }>;
  /** Of the run with this id. */
  branches?: { runId: string; points: BranchPoint[] };
  /** What the model was told about each call, by call id. */
  results: Map<string, ToolResult>;
  /** All that a call changed, by call id, as far as it was asked for. */
  changes: Map<string, string>;
  /** How often each call changed: a card is drawn anew only when its number moved. */
  revisions: Map<string, number>;
  /** Calls that may be at work, or ask: see `callsAtWork`. */
  going: Set<string>;
}

export const newModel = (): PanelModel => ({
  run: null,
  notice: null,
  results: new Map(),
  changes: new Map(),
  revisions: new Map(),
  going: new Set(),
});

/** Takes in what the host said. `focus` is for the composer, not for the model. */
export function receive(model: PanelModel, message: HostMessage): void {
  switch (message.type) {
    case 'state':
      model.state = message.state;
      break;
    case 'notice':
      if (message.notice || !isToBeAnswered(model.notice)) model.notice = message.notice;
      break;
    case 'notice-over':
      if (model.notice?.offer?.id === message.id) model.notice = null;
      break;
    case 'selection':
      if (!message.mention) delete model.selection;
      else model.selection = { mention: message.mention, goes: message.goes };
      break;
    case 'offers':
      model.offers = message.offers;
      break;
    case 'runs':
      model.runs = message;
      break;
    case 'room':
      model.room = message;
      break;
    case 'files':
      model.files = message;
      break;
    case 'branches':
      model.branches = message;
      break;
    case 'run-part':
      if (message.from === 0) model.coming = { parts: [], events: [] };
      model.coming?.parts.push(message);
      break;
    case 'run':
      takeRun(model, message);
      break;
    case 'change':
      if (message.runId !== model.run?.id) break;
      model.changes.set(message.toolCallId, message.diff);
      touch(model, message.toolCallId);
      break;
    case 'events':
      model.coming?.events.push(...message.events);
      for (const event of message.events) fold(model, event);
      break;
  }
}

/** What comes of a run that is shown whole changes nothing until it is whole, too. */
function takeRun(model: PanelModel, { run: said, part, before }: Extract<HostMessage, { type: 'run' }>): void {
  const isShown = said !== null && said.id === model.run?.id;
  if (part === 'end' && isShown && !model.partial) return;
  const { coming } = model;
  if (part !== 'end') delete model.coming;
  const run = said && before !== undefined ? joinParts(coming?.parts ?? [], said, before) : said;
  if (run === undefined) return; // this page was not there when its first part came: it has asked for all of it
  if (!isShown) model.changes = new Map(); // else what a card shows stays: what was changed by a call is kept as it was
  model.run = run && reviveRun(run);
  model.partial = part === 'end';
  model.results = new Map();
  model.revisions = new Map();
  model.going = new Set(run ? idsOf(run) : []);
  for (const told of run?.messages ?? []) collectResults(model, told);
  for (const { messages } of run?.damage ?? []) for (const told of messages) collectResults(model, told);
  if (before !== undefined) for (const event of coming?.events ?? []) fold(model, event);
}

/** Pending calls in the order of their reply, then all others. */
const idsOf = (run: Run): string[] => [
  ...pendingCalls(run.messages).map(({ id }) => id),
  ...callsOf(run).map(([id]) => id),
];

/** What the next words of the person do not take away: it is about something else. */
const isToBeAnswered = (notice: Notice | null): boolean => notice?.offer !== undefined && notice.level !== 'info';

function fold(model: PanelModel, event: RunEvent): void {
  const { run } = model;
  if (!run || event.runId !== run.id || !isNews(run, event)) return;
  const { undos, held } = run;
  applyEvent(run, event);
  if (event.type === 'message' && event.branch === undefined) collectResults(model, event.message);
  if ('toolCallId' in event) touch(model, event.toolCallId);
  if (event.type === 'undo') for (const id of event.toolCallIds) touch(model, id);
  if (run.held !== held || isQueue(event))
    for (const id of new Set([...(held ?? []), ...(run.held ?? [])])) touch(model, id);
  if (run.undos !== undos)
    for (const { toolCallIds } of [...(undos ?? []), ...(run.undos ?? [])])
      for (const id of toolCallIds) touch(model, id);
}

/** A queued message is feedback on denied calls. */
const isQueue = ({ type }: RunEvent): boolean =>
  type === 'queued' || type === 'queued-change' || type === 'queued-remove';

function collectResults(model: PanelModel, message: Run['messages'][number]): void {
  if (message.role !== 'tool') return;
  for (const result of message.toolResults) {
    model.results.set(result.toolCallId, result);
    touch(model, result.toolCallId);
  }
}

/** The calls of the shown run that run or ask. Looks only at those that something happened to since the last time. */
export function callsAtWork({ run, going }: PanelModel): CallState[] {
  return [...going].flatMap((id) => {
    const state = run?.calls[id];
    if (state?.status === 'running' || state?.status === 'asking') return [state];
    going.delete(id);
    return [];
  });
}

/** Of the gate's questions that wait, the first: the others are asked about after it, or with it. */
export function firstAsking({ run, going }: PanelModel): string | undefined {
  for (const id of going) {
    const state = run?.calls[id];
    if (state?.status === 'asking' && !state.asked) return id;
  }
  return undefined;
}

const touch = (model: PanelModel, callId: string): void => {
  model.going.add(callId);
  model.revisions.set(callId, (model.revisions.get(callId) ?? 0) + 1);
};
