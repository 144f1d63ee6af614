import type { TemplateResult } from 'lit-html';
import type { CallState } from '../../src/protocol/run.ts';

/** `waiting`: its turn has not come. `skipped`: the run stopped before it. `going`: its command goes on in the background. */
type CardStatus = CallState['status'] | 'writing' | 'waiting' | 'skipped' | 'going';

/** How a call stands, as the first line of its card says it. */
export interface Standing {
  status: CardStatus;
  icon: TemplateResult;
  words: string;
  /** How long it took; not shown in a narrow panel. */
  time?: string;
  title?: string;
  ok?: boolean;
  /** It ran, and said something that may not be good. */
  mark?: 'warning';
}
