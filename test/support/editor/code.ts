// Understands the arguments that runTests() of `@vscode/test-electron` gives to desktop VS Code, runs the tests in the server
// and Chromium instead, and exits with their code.
import { format, parseArgs } from 'node:util';
import { openWorkbench, type Workbench } from './workbench.ts';

const limitMs = 20 * 60_000; // of something that hangs: the tests themselves need half a minute

// VS Code forwards the extension host's console, and its own log with it. These lines say nothing about the tests.
const noise =
  /^(Creating a socket|Resolv(ing|ed) connection token|Updating additional builtin|Ignoring fetching additional|ChatSessionStore|\[Service Worker\] registration|Settings Sync|\[reconnection-grace-time\]|Error while fetching the extension under development|\[AgentHost|\[AccountPolicyGate\]|\[CHAT\] (extension )?request (ERRORED|FAILED))/;

const { values, positionals } = parseArgs({
  strict: false, // --no-sandbox, --disable-updates, … mean nothing here
  allowPositionals: true,
  options: {
    extensionDevelopmentPath: { type: 'string', multiple: true },
    extensionTestsPath: { type: 'string' },
    'user-data-dir': { type: 'string' },
    'extensions-dir': { type: 'string' },
  },
});

let workbench: Workbench | undefined;
let report: (code: number, why?: string) => void;
const result = new Promise<number>((resolve) => {
  let reported = false;
  report = (code, why) => {
    if (why && !reported) console.error(why); // what follows the result is only our own tidying up
    reported = true;
    resolve(code);
  };
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => report(130));
setTimeout(() => report(124, `No result within ${limitMs / 60_000} minutes.`), limitMs).unref();

try {
  workbench = await openWorkbench({
    folder: positionals[0],
    developmentPaths: values.extensionDevelopmentPath as string[],
    testsPath: values.extensionTestsPath as string,
    userDataDir: values['user-data-dir'] as string,
    extensionsDir: values['extensions-dir'] as string,
    async prepare(page, server) {
      await page.exposeFunction('codeAutomationExit', (code: unknown) => {
        // A crash that VS Code takes for an ordinary end reaches the server's log a moment later.
        setTimeout(() => report(Number.isInteger(code) ? Number(code) : 1), 250);
      });
      await page.exposeFunction('codeAutomationLog', (type: string, words: unknown[]) => {
        const line = format(...words);
        if (!noise.test(line)) (type === 'error' || type === 'warn' ? console.error : console.log)(line);
      });
      page.once('crash', () => report(70, 'The workbench page crashed.'));
      page.once('close', () => report(71, 'The workbench page was closed.'));
      server.process.once('exit', (code) => report(72, `The VS Code server ended (${code}):\n${server.log()}`));
      // When a native module takes the extension host down, VS Code says 0 or nothing at all. The server's log knows.
      const watch = () => {
        const death = /Extension Host Process exited with code: (\S+), signal: (\w+)/.exec(server.log());
        if (death && (death[1] !== '0' || death[2] !== 'null')) report(73, `The extension host died: ${death[0]}`);
      };
      server.process.stdout?.on('data', watch);
      server.process.stderr?.on('data', watch);
    },
  });
  process.exitCode = await result;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
await workbench?.stop();
process.exit();
