export interface KeepOptions {
  /** Absolute: where the states of this workspace are. */
  folder: string;
  /** The folders of all workspaces: together they are limited. */
  folders: readonly string[];
  /** The folder that holds a folder per run, by which a state is known to be of one that is there. */
  runs: string;
  /** Bytes on the disk for all states together. */
  bytes: number;
  /** Milliseconds without a job after which a run has rested. */
  restMs?: number;
  /** Of the time of reading, what restoring may take. */
  share?: number;
}
