import type { RunEvent } from '../src/protocol/events.ts';
import { applyEvent, isNews } from '../src/protocol/fold.ts';
import type { ToolResult } from '../src/protocol/messages.ts';
import type { Run } from '../src/protocol/run.ts';
import type { BranchPoint, HostMessage, Notice, PanelState } from '../src/protocol/view.ts';

/** What the panel knows. The run is folded here from the same events, by the same function, as in the host. */
export interface PanelModel {
  state?: PanelState;
  run: Run | null;
  notice: Notice | null;
  /** The list of runs, as long as it is open. */
  runs?: Extract<HostMessage, { type: 'runs' }>;
  /** Of the run with this id. */
  branches?: { runId: string; points: BranchPoint[] };
  /** What the model was told about each call, by call id. */
  results: Map<string, ToolResult>;
  /** How often each call changed: a card is drawn anew only when its number moved. */
  revisions: Map<string, number>;
}

export const newModel = (): PanelModel => ({ run: null, notice: null, results: new Map(), revisions: new Map() });

/** Takes in what the host said. `focus` is for the composer, not for the model. */
export function receive(model: PanelModel, message: HostMessage): void {
  switch (message.type) {
    case 'state':
      model.state = message.state;
      break;
    case 'notice':
      model.notice = message.notice;
      break;
    case 'runs':
      model.runs = message;
      break;
    case 'branches':
      model.branches = message;
      break;
    case 'run':
      model.run = message.run;
      model.results = new Map();
      model.revisions = new Map();
      for (const told of message.run?.messages ?? []) collectResults(model, told);
      for (const { messages } of message.run?.damage ?? []) for (const told of messages) collectResults(model, told);
      break;
    case 'events':
      for (const event of message.events) fold(model, event);
      break;
  }
}

function fold(model: PanelModel, event: RunEvent): void {
  const { run } = model;
  if (!run || event.runId !== run.id || !isNews(run, event)) return;
  applyEvent(run, event);
  if (event.type === 'message' && event.branch === undefined) collectResults(model, event.message);
  if ('toolCallId' in event) touch(model, event.toolCallId);
  if (event.type === 'undo') for (const id of event.toolCallIds) touch(model, id);
}

function collectResults(model: PanelModel, message: Run['messages'][number]): void {
  if (message.role !== 'tool') return;
  for (const result of message.toolResults) {
    model.results.set(result.toolCallId, result);
    touch(model, result.toolCallId);
  }
}

const touch = (model: PanelModel, callId: string): void => {
  model.revisions.set(callId, (model.revisions.get(callId) ?? 0) + 1);
};
