import { randomUUID } from 'node:crypto';
import { type ImportedRun, parseExportedRuns } from '../../protocol/run/exchange.ts';
import { message } from '../../protocol/text/l10n.ts';
import { type LocalizableText, messageOf } from '../../protocol/text/localized.ts';
import { parseLimitedJson } from '../../tools/core/parseLimits.ts';
import { readRegularFile } from '../../tools/sandbox/regularFile.ts';

const maxBytes = 64 * 1024 * 1024;

/** Reads runs of an untrusted file with new ids, or returns the error as a sentence. */
export async function readRunsFile(file: string): Promise<{ runs: ImportedRun[] } | { trouble: LocalizableText }> {
  try {
    const content = parseLimitedJson((await readRegularFile(file, maxBytes)).toString('utf8'), maxBytes);
    return { runs: parseExportedRuns(content, () => `run-${randomUUID()}`) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'too large')
      return { trouble: message('The file is larger than {0} MiB.', String(maxBytes / 1024 / 1024)) };
    const why = messageOf(error);
    if (typeof why !== 'string' || /\.$/.test(why)) return { trouble: why };
    return { trouble: message('This is not a file of exported runs: {0}.', why) };
  }
}
