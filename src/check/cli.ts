// npm run check-model -- provider/name [options]: checks a model like *Check This Model*, without an editor.
// local/<file.gguf> a model file on this machine; else a provider name of the settings
// --address <url> overrides the address of the provider
// --key <NAME> environment variable with the API key
// --window <tokens> context window, if unknown
// --json <file>, --markdown <file> result files, for comparison
// Ctrl+C stops the check and reports the finished tasks.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { escapeInvisible } from '../protocol/text/escapeInvisible.ts';
import { readRegularFile } from '../tools/sandbox/regularFile.ts';
import { runModelCheckTasks } from './checkModel.ts';
import { estimateModelCheck, modelCheckEstimateText } from './estimate.ts';
import { createModelCheckClient } from './namedModel.ts';
import { checksAsJson, checksAsMarkdown } from './report.ts';
import { shortCheckResult } from './taskResult.ts';

const root = path.resolve(import.meta.dirname, '../..');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    address: { type: 'string' },
    key: { type: 'string' },
    window: { type: 'string' },
    json: { type: 'string' },
    markdown: { type: 'string' },
  },
});

try {
  process.exitCode = await run(positionals[0] ?? '');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

/** Exit code 0: the check ran, whatever the result; 2: it did not run. */
async function run(id: string): Promise<number> {
  const { model, dispose } = createModelCheckClient({ id, ...values }, path.join(root, 'dist'));
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const estimate = estimateModelCheck(id.startsWith('local/'));
  print(
    [
      `Checking ${id}`,
      ...modelCheckEstimateText(estimate, model.adapter.leastCost?.(model.model, estimate.prompt)),
    ].join('\n'),
  );
  try {
    const result = await runModelCheckTasks({
      model,
      towpath: JSON.parse((await readRegularFile(path.join(root, 'package.json'), 1 << 20)).toString()).version,
      ripgrep: rgPath,
      signal: stop.signal,
      tried: ({ passed, title, why }) => print(`${passed ? '✓' : '✗'} ${title}${why === undefined ? '' : `: ${why}`}`),
    });
    print(`${shortCheckResult(result)}${result.ended === undefined ? '' : `\n${result.ended}`}`);
    if (values.json) writeFileSync(values.json, checksAsJson([result]));
    if (values.markdown) writeFileSync(values.markdown, checksAsMarkdown([result]));
    return result.ended === undefined ? 0 : 2;
  } finally {
    await dispose();
  }
}

function print(text: string): void {
  console.log(escapeInvisible(text));
}
