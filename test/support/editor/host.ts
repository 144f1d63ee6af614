import http from 'node:http';
import type * as vscodeApi from 'vscode';
import { patienceMs } from '../eventually.ts';

/** A way into the extension host of a running editor. */
export interface ExtensionHost {
  /**
   * Runs a function in the extension host and gives its result. It travels as text: it sees its parameters and globals,
   * nothing of the module it was written in. Argument and result are JSON.
   */
  evaluate<Result, Argument = undefined>(
    work: (vscode: typeof vscodeApi, argument: Argument, require: NodeJS.Require) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result>;
  /** The host answers; after `previous` (a process id) was the host, a new one does. Gives its process id. */
  ready(previous?: number): Promise<number>;
}

/** Talks to the driver extension that listens on `socketPath`. */
export function connectHost(socketPath: string): ExtensionHost {
  const host: ExtensionHost = {
    async evaluate(work, argument) {
      const answer = await post(socketPath, { code: String(work), argument });
      if (answer.error !== undefined) throw new Error(`In the extension host: ${answer.error}`);
      return answer.value as never;
    },
    async ready(previous) {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const pid = await host.evaluate(() => process.pid).catch(() => undefined);
        if (pid !== undefined && pid !== previous) return pid;
        if (Date.now() > deadline) throw new Error(`The extension host did not answer within ${patienceMs / 1000} s.`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
  return host;
}

function post(socketPath: string, body: unknown): Promise<{ value?: unknown; error?: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, method: 'POST' }, async (response) => {
      try {
        let text = '';
        for await (const piece of response.setEncoding('utf8')) text += piece;
        resolve(JSON.parse(text));
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}
