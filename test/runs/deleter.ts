/** A window that deletes the runs of a folder and brings them back, again and again, until it is killed. */
import { RunStore } from '../../src/runs/store.ts';

const store = new RunStore(process.argv[2]!);
for (;;) {
  for (const { id } of await store.list()) {
    await store.delete(id);
    process.stdout.write('deleted\n');
  }
  for (const { name } of await store.deleted.list()) {
    await store.deleted.restore(name);
    process.stdout.write('restored\n');
  }
}
