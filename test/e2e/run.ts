// npm run e2e -- [mocha's arguments, e.g. -g deny]: real editors, real dialogs, driven from outside.
import { node, runCommand } from '../support/command.ts';
import { ensureChromium } from '../support/editor/chromium.ts';
import { whenToldToEnd } from '../support/editor/ending.ts';
import { ensureServer } from '../support/editor/install.ts';
import { forgetReport, mochaArguments, readReport } from '../support/report.ts';

const stopped = new AbortController();
whenToldToEnd(() => stopped.abort());
forgetReport('e2e');
ensureChromium();
ensureServer();
await runCommand(node('esbuild.mjs'));
const { code } = await runCommand(
  node(
    ...mochaArguments('e2e'),
    ...['--no-config', '--no-package', '--timeout', '120000', '--require', 'test/e2e/hooks.ts'],
    'test/e2e/**/*.test.ts',
    ...process.argv.slice(2),
  ),
  stopped.signal,
);
const counts = readReport('e2e');
if (!counts?.passed) console.error(counts ? 'No test has run.' : 'The run ended before its report.');
process.exitCode = code === 0 && counts?.passed ? 0 : 1;
