import type { ViewMessage } from '../src/protocol/panel/panelMessages.ts';
import type { MarkdownActions } from './markdown/build.ts';
import type { PanelViewModel } from './store.ts';

export type StatusStripListName = 'plan' | 'files' | 'commands' | 'waiting';

/**
 * View state of the panel that only the page knows. Keys of cards and texts are positions (`message:call`). `deleting`: run with one press
 * on its delete button. `acts`: index of the message with all actions visible. `task`: id of the task that is displayed in the place of
 * the conversation.
 */
interface PanelViewState {
  history: boolean;
  meter?: boolean;
  sendMenu?: boolean;
  query?: string;
  deleting?: string;
  cards: Set<string>;
  strip?: StatusStripListName | undefined;
  planGone?: string;
  acts?: number;
  whole: Set<string>;
  unfolded: Set<string>;
  task?: string | undefined;
}

/** State and functions for the parts of the panel. `now`: epoch ms of this rendering. */
export interface PanelContext {
  model: PanelViewModel;
  opened: PanelViewState;
  now: number;
  post(message: ViewMessage): void;
  /** Renders at the next frame; `drawNow` renders at once, if the next key depends on the result. */
  refresh(): void;
  drawNow(): void;
  toEnd(): void;
  markdown: MarkdownActions;
}

/** Retains the open state of an element across renderings. */
export const rememberOpenState =
  ({ opened }: PanelContext, place: string) =>
  ({ target }: { target: HTMLDetailsElement }): void => {
    if (target.open) opened.unfolded.add(place);
    else opened.unfolded.delete(place);
  };
