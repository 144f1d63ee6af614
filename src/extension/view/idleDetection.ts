/** Milliseconds without a key, a scroll or a selection after which a person counts as doing nothing. */
export const idleMs = 1500;
/** A machine on which a look takes long tells late of what a person does; it is waited for longer, but not for ever. */
const longestMs = 10_000;

/** What is known of a person right before a question would come up. Milliseconds; `Infinity` for never. */
export interface Look {
  /** Since the last key, scroll or selection in an editor. */
  editorMs: number;
  /** What the panel says of itself, by its own clock; `silent` when it is in view and gave no answer in time. */
  panel: PanelLook | 'silent' | 'hidden';
  /** How long it took to learn this: what happened meanwhile may not be told yet. */
  tookMs: number;
}

export interface PanelLook {
  idleMs: number;
  /** Keys land in it. */
  focused: boolean;
}

/**
 * Milliseconds to wait before looking again; 0: the person does nothing, the question may come up. In doubt it waits, for a
 * question that waits can be answered all the same, and a dialog under somebody's fingers is answered by accident.
 */
export function quietIn({ editorMs, panel, tookMs }: Look): number {
  if (panel === 'silent') return idleMs;
  const idle = Math.min(editorMs, panel === 'hidden' ? Number.POSITIVE_INFINITY : panel.idleMs);
  const needed = Math.min(longestMs, idleMs + 2 * tookMs);
  return Math.max(0, Math.ceil(needed - idle));
}

/** Where a person was last: the place that the focus goes back to once a dialog is over. */
export function focusOf({ editorMs, panel }: Look): 'panel' | 'editor' {
  if (typeof panel === 'string') return editorMs === Number.POSITIVE_INFINITY ? 'panel' : 'editor';
  return panel.focused || panel.idleMs <= editorMs ? 'panel' : 'editor';
}
