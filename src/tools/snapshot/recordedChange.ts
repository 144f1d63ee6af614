import type { RemovedFileKind } from '../../protocol/run/events.ts';

/** State of a path before or after a call. `id` is the SHA-256 of the content or of the link's target; a folder is empty. */
export interface RecordedState {
  kind: RemovedFileKind;
  id: string;
  mode: number;
  /** Length in bytes; absent for links and folders. */
  size?: number;
  /** UTF-8 without a byte order mark. */
  isText?: true;
}

/** Change of a path between a snapshot and now; `path` is absolute, `null`: nothing exists. */
export interface RecordedChange {
  path: string;
  before: RecordedState | null;
  after: RecordedState | null;
}
