import type { ViewMessage } from '../src/protocol/view.ts';
import type { MarkdownActions } from './markdown/build.ts';
import type { PanelModel } from './store.ts';

/** What a person opened or is about to do in the panel; nobody else needs to know. */
export interface Opened {
  history: boolean;
  /** The words that the list of runs is searched for. */
  query?: string;
  /** The run whose delete button was pressed once. */
  deleting?: string;
  /** Cards that show their details, by place (`message:call`). */
  cards: Set<string>;
  /** Long texts that are shown whole, by place. */
  whole: Set<string>;
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
  /** Shows the end of the transcript and stays there. */
  toEnd(): void;
  markdown: MarkdownActions;
}
