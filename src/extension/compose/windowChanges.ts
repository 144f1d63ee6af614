import { IsolatedListeners } from '../../protocol/values/listeners.ts';

/** Changes within the window. A component reports changes without knowledge of the components that display them. */
interface WindowChanges {
  /** Running runs, approvals, questions, presets or background commands, for the status bar and the badge. */
  status: IsolatedListeners;
  /** State of the panel around the conversation. */
  state: IsolatedListeners;
  /** Rows of the run list. */
  runList: IsolatedListeners;
  /** Selection, deletion or restoration of a run. */
  runs: IsolatedListeners;
}

export function createWindowChangeEvents(onError: (error: unknown) => void): WindowChanges {
  const listeners = () => new IsolatedListeners(onError);
  return { status: listeners(), state: listeners(), runList: listeners(), runs: listeners() };
}
