import type { ViewMessage } from '../src/protocol/panel/panelMessages.ts';
import type { MarkdownActions } from './markdown/build.ts';
import type { PanelModel } from './store.ts';

export type StripList = 'plan' | 'files' | 'commands' | 'waiting';

/** What a person opened or is about to do in the panel; nobody else needs to know. */
export interface Opened {
  history: boolean;
  /** What fills the model's window. */
  meter?: boolean;
  /** The ways to send a message to a run at work. */
  sendMenu?: boolean;
  /** The words that the list of runs is searched for. */
  query?: string;
  /** The run whose delete button was pressed once. */
  deleting?: string;
  /** Cards that show their details, by place (`message:call`). */
  cards: Set<string>;
  /** The list above the composer. */
  strip?: StripList | undefined;
  /** A plan that was put away. */
  planGone?: string;
  /** The message all of whose acts are shown, by its place. */
  acts?: number;
  /** Long texts that are shown whole, by place. */
  whole: Set<string>;
  /** What is unfolded of thinking, briefs and damage, by place. */
  unfolded: Set<string>;
}

/** Everything a part of the panel needs to draw itself and to act. */
export interface PanelContext {
  model: PanelModel;
  opened: Opened;
  /** The wall clock of this drawing, epoch ms. */
  now: number;
  post(message: ViewMessage): void;
  /** Draws again at the next frame. */
  refresh(): void;
  /** For what the very next key is meant for. */
  drawNow(): void;
  /** Shows the end of the transcript and stays there. */
  toEnd(): void;
  markdown: MarkdownActions;
}

/** What the person unfolds stays so, also when it is drawn anew. */
export const keepsOpen =
  ({ opened }: PanelContext, place: string) =>
  ({ target }: { target: HTMLDetailsElement }): void => {
    if (target.open) opened.unfolded.add(place);
    else opened.unfolded.delete(place);
  };
