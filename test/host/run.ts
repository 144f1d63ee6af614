// npx tsx test/host/run.ts [pattern]: mocha inside a real extension host, in desktop VS Code or the server.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { findDesktop } from '../support/editor/desktop.ts';
import { whenToldToEnd } from '../support/editor/ending.ts';
import { projectRoot, testOut } from '../support/editor/project.ts';
import { copySample, temporaryFolder } from '../support/editor/sample.ts';
import { gatePlugins } from '../support/programs.ts';
import { forgetReport, readReport, reporter, reportFile } from '../support/report.ts';

const bundles = path.join(testOut, 'host');
const report = reportFile('host');
const temporary = temporaryFolder();
whenToldToEnd(() => {
  process.kill(process.pid, 'SIGINT'); // runTests() passes it on to the editor
  setTimeout(() => process.exit(1), 15_000).unref();
});
forgetReport('host');
await bundleTests();

const desktop = await findDesktop();
if ('missing' in desktop) console.log(`In the VS Code server; no desktop VS Code: ${desktop.missing}.`);
try {
  await runTests({
    vscodeExecutablePath:
      'executable' in desktop ? desktop.executable : path.join(import.meta.dirname, '../support/editor/code.mjs'),
    extensionDevelopmentPath: [projectRoot, path.join(import.meta.dirname, '../support/editor/model-ext')],
    extensionTestsPath: path.join(bundles, 'suite.cjs'),
    launchArgs: [
      copySample(temporary),
      `--user-data-dir=${path.join(temporary, 'user-data')}`,
      `--extensions-dir=${path.join(temporary, 'extensions')}`,
      '--disable-workspace-trust',
      '--enable-proposed-api=test.models', // to offer a model, where that is not for everybody yet
    ],
    extensionTestsEnv: {
      TOWPATH_REPORTER: reporter,
      TOWPATH_REPORT: report,
      TOWPATH_GREP: process.argv[2],
    },
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
// VS Code says 0 when its extension host crashes: the suite's own report has to be there, and clean.
const counts = readReport('host');
if (!counts) {
  console.error('There is no report of the tests: the extension host did not finish them.');
  process.exitCode = 1;
} else if (counts.failed || !counts.passed) {
  process.exitCode = 1;
}

/** One bundle a test file, as the CommonJS that VS Code and mocha load. */
async function bundleTests(): Promise<void> {
  rmSync(bundles, { recursive: true, force: true });
  const tests = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test.ts'));
  await build({
    entryPoints: ['suite.ts', ...tests].map((file) => path.join(import.meta.dirname, file)),
    outdir: bundles,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
    external: ['vscode', 'mocha', 'node-llama-cpp'],
    plugins: await gatePlugins(),
    // A bundle has no place of its own; what it takes along asks for that in `support/editor/project.ts` alone.
    define: { 'import.meta.dirname': JSON.stringify(path.join(projectRoot, 'test', 'support', 'editor')) },
  });
}
