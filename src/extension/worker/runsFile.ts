import { randomUUID } from 'node:crypto';
import { type Imported, importedRuns } from '../../protocol/run/exchange.ts';
import { parseLimitedJson } from '../../tools/core/parseLimits.ts';
import { readPlain } from '../../tools/sandbox/regularFile.ts';

/** Bytes of a file of runs; pictures are most of a large one. */
const mostBytes = 64 * 1024 * 1024;

/** The runs of a file that somebody else may have written, each with a new id, or why there are none, as a sentence. */
export async function readRunsFile(file: string): Promise<{ runs: Imported[] } | { trouble: string }> {
  try {
    const said = parseLimitedJson((await readPlain(file, mostBytes)).toString('utf8'), mostBytes);
    return { runs: importedRuns(said, () => `run-${randomUUID()}`) };
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (code === 'too large') return { trouble: `The file is larger than ${mostBytes / 1024 / 1024} MiB.` };
    return { trouble: /\.$/.test(message) ? message : `This is not a file of exported runs: ${message}.` };
  }
}
