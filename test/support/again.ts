import { failuresOf, readReport, replaceInReport } from './report.ts';

/** More files than this with a failure are no bad luck. */
export const maxFilesAgain = 8;

/**
 * A browser, an editor, a loaded machine: the few files of `part` in which something failed run once more, alone, as `<part>-again`, and are named.
 * What they say then counts. Gives whether all has passed; `clean` is whether it has so far.
 */
export async function onceMore(
  part: string,
  clean: boolean,
  run: (again: string, files: string[]) => Promise<boolean>,
): Promise<boolean> {
  const { files, failures } = failuresOf(part);
  if (files.length > 0 && files.length <= maxFilesAgain) {
    console.log(`\n── again, alone ──\n${failures.join('\n')}\n`);
    clean = await run(`${part}-again`, files);
    replaceInReport(part, `${part}-again`, files);
  }
  const counts = readReport(part);
  if (!counts?.passed) console.error(counts ? 'No test has run.' : 'The run ended before its report.');
  return clean && counts !== undefined && counts.passed > 0 && counts.failed === 0;
}
