/** Milliseconds without keys, scrolls and selections after which the user counts as idle. */
export const idleMs = 1500;
/** Maximum of milliseconds to wait for idleness on a slow machine. */
const longestMs = 10_000;

/**
 * User activity before a dialog opens, in milliseconds; `Infinity` for never. `silent`: the visible panel gave no answer in time. `tookMs`:
 * duration of the check, in which further activity may be unreported.
 */
export interface Look {
  editorMs: number;
  panel: PanelLook | 'silent' | 'hidden';
  tookMs: number;
}

export interface PanelLook {
  idleMs: number;
  focused: boolean;
}

/**
 * Returns milliseconds until the next check; 0: the user is idle and the dialog may open. Waits when in doubt: a waiting approval can still
 * be answered, and a dialog during typing is answered by accident.
 */
export function quietIn({ editorMs, panel, tookMs }: Look): number {
  if (panel === 'silent') return idleMs;
  const idle = Math.min(editorMs, panel === 'hidden' ? Number.POSITIVE_INFINITY : panel.idleMs);
  const needed = Math.min(longestMs, idleMs + 2 * tookMs);
  return Math.max(0, Math.ceil(needed - idle));
}

/** Returns the location of the user, which regains the focus after a dialog. */
export function focusOf({ editorMs, panel }: Look): 'panel' | 'editor' {
  if (typeof panel === 'string') return editorMs === Number.POSITIVE_INFINITY ? 'panel' : 'editor';
  return panel.focused || panel.idleMs <= editorMs ? 'panel' : 'editor';
}
