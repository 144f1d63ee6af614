export interface SequenceStateCacheOptions {
  folder: string;
  folders: readonly string[];
  /** Folder with a folder per run; a state without its run is obsolete. */
  runs: string;
  bytes: number;
  restMs?: number;
  /** Maximum share of the prefill time that a restore may take. */
  share?: number;
}
