import path from 'node:path';

/** Folder of a run with its file contents for diffs and undo, and outputs of commands. `run`: absolute path of the folder of the run. */
export const contentsFolder = (run: string): string => path.join(run, 'contents');

/** End of the names of complete outputs of commands. Outputs of earlier versions have the names of contents. */
export const outputSuffix = '.output';

/** Folder of a store with the working files of the recording of commands. */
export const snapshotsFolder = (store: string): string => path.join(store, 'snapshots');
