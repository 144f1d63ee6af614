// What VS Code calls inside the extension host.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import Mocha from 'mocha';
import { patienceMs } from '../support/eventually.ts';

/** Runs the tests bundled beside this file. Rejects when one fails, which VS Code turns into its exit code. */
export async function run(): Promise<void> {
  const mocha = new Mocha({
    timeout: 4 * patienceMs,
    forbidOnly: true,
    reporter: process.env.TOWPATH_REPORTER,
    reporterOptions: { output: process.env.TOWPATH_REPORT },
    grep: process.env.TOWPATH_GREP,
  });
  for (const file of readdirSync(__dirname).sort()) {
    if (file.endsWith('.test.cjs')) mocha.addFile(path.join(__dirname, file));
  }
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures) throw new Error(`${failures} failed.`);
}
