import { randomUUID } from 'node:crypto';
import { type ImportedRun, parseExportedRuns } from '../../protocol/run/exchange.ts';
import { parseLimitedJson } from '../../tools/core/parseLimits.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';

const maxBytes = 64 * 1024 * 1024;

/** Reads runs of an untrusted file with new ids, or returns the error as a sentence. */
export async function readRunsFile(file: string): Promise<{ runs: ImportedRun[] } | { trouble: string }> {
  try {
    const said = parseLimitedJson((await readRegularFile(file, maxBytes)).toString('utf8'), maxBytes);
    return { runs: parseExportedRuns(said, () => `run-${randomUUID()}`) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (code === 'too large') return { trouble: `The file is larger than ${maxBytes / 1024 / 1024} MiB.` };
    return { trouble: /\.$/.test(message) ? message : `This is not a file of exported runs: ${message}.` };
  }
}
