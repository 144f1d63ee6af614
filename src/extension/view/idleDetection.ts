/** Milliseconds without keys, scrolls and selections after which the user counts as idle. */
export const userIdleMs = 1500;
/** Maximum of milliseconds to wait for idleness on a slow machine. */
const longestMs = 10_000;

/**
 * User activity before a dialog opens, in milliseconds; `Infinity` for never. `silent`: the visible panel gave no answer in time. `delayMs`:
 * duration of the check, in which further activity may be unreported.
 */
export interface ActivitySnapshot {
  editorMs: number;
  panel: PanelActivity | 'silent' | 'hidden';
  delayMs: number;
}

export interface PanelActivity {
  idleMs: number;
  focused: boolean;
}

/**
 * Returns milliseconds until the next check; 0: the user is idle and the dialog may open. Waits when in doubt: a waiting approval can still
 * be answered, and a dialog during typing is answered by accident.
 */
export function msUntilIdleCheck({ editorMs, panel, delayMs }: ActivitySnapshot): number {
  if (panel === 'silent') return userIdleMs;
  const idle = Math.min(editorMs, panel === 'hidden' ? Number.POSITIVE_INFINITY : panel.idleMs);
  const needed = Math.min(longestMs, userIdleMs + 2 * delayMs);
  return Math.max(0, Math.ceil(needed - idle));
}

export function activeUserLocation({ editorMs, panel }: ActivitySnapshot): 'panel' | 'editor' {
  if (typeof panel === 'string') return editorMs === Number.POSITIVE_INFINITY ? 'panel' : 'editor';
  return panel.focused || panel.idleMs <= editorMs ? 'panel' : 'editor';
}
