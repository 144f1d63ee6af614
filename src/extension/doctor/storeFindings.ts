import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { byteSizeText } from '../../protocol/text/byteSizes.ts';
import { localizedCount, message } from '../../protocol/text/l10n.ts';
import { mapLimit } from '../../protocol/values/concurrency.ts';
import { bytesBelowFolder } from '../../runs/storage/folderSize.ts';
import { createDoctorFinding, type DoctorFinding } from './doctorReport.ts';

/** Low free disk space for runs in bytes. */
const little = 200e6;

/**
 * Checks if runs can be stored, and returns the size of stored runs. Rejects if storage fails.
 * @param storage absolute path of the workspace storage
 */
export async function doctorStoreFindings(storage: string, signal: AbortSignal): Promise<DoctorFinding[]> {
  const probe = path.join(storage, `doctor-${randomUUID()}`);
  await fs.mkdir(storage, { recursive: true });
  await fs.writeFile(probe, 'towpath');
  await fs.rm(probe);
  const { bavail, bsize } = await fs.statfs(storage);
  const free = bavail * bsize;
  const freeSpace = message('Runs can be stored in {0}, {1} are free', storage, byteSizeText(free));
  const [runs, deleted] = await Promise.all(
    ['runs', 'deleted'].map((name) => held(path.join(storage, 'store', name), signal)),
  );
  const amounts = [localizedCount(runs!.count, 'run is', 'runs are'), byteSizeText(runs!.bytes)] as const;
  const gone = [localizedCount(deleted!.count, 'deleted one'), byteSizeText(deleted!.bytes)] as const;
  return [
    free < little
      ? createDoctorFinding('warning', message('{0}. That is little.', freeSpace))
      : createDoctorFinding('ok', freeSpace),
    createDoctorFinding(
      'fact',
      deleted!.count > 0
        ? message('{0} stored, {1}, and {2}, {3}', ...amounts, ...gone)
        : message('{0} stored, {1}', ...amounts),
    ),
  ];
}

async function held(folder: string, signal: AbortSignal): Promise<{ count: number; bytes: number }> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []); // nothing stored yet
  const runs = entries.filter((entry) => entry.isDirectory());
  const bytes = await mapLimit(runs, 4, ({ name }) =>
    signal.aborted ? Promise.resolve(0) : bytesBelowFolder(path.join(folder, name)),
  );
  return { count: runs.length, bytes: bytes.reduce((sum, one) => sum + one, 0) };
}
