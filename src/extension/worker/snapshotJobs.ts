import { compareSnapshot } from '../../tools/snapshot/compareSnapshot.ts';
import { removeSnapshot } from '../../tools/snapshot/snapshotFile.ts';
import { boundSnapshots, takeSnapshot } from '../../tools/snapshot/takeSnapshot.ts';

/** Jobs of the worker that records the files of the open folders before and after a call. */
export const snapshotJobs = {
  takeSnapshot: async () => takeSnapshot,
  compareSnapshot: async () => compareSnapshot,
  boundSnapshots: async () => boundSnapshots,
  discardSnapshot:
    async () =>
    ({ store, id }: { store: string; id: string }) =>
      removeSnapshot(store, id),
};
