// npm run check-model -- provider/name [options]: checks a model as *Check This Model* does, without an editor.
//   local/<file.gguf>                  a model file on this machine; else a provider's name, as in settings
//   --address <url>                    in place of the provider's own
//   --key <NAME>                       the environment variable that holds its API key
//   --window <tokens>                  that the model keeps in view, where nobody says it
//   --json <file>, --markdown <file>   the result, for comparing
// Ctrl+C ends it; what was tried by then is told.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { visible } from '../protocol/text/escapeInvisible.ts';
import { readPlain } from '../tools/sandbox/regularFile.ts';
import { checkModel } from './checkModel.ts';
import { estimateOf, estimateText } from './estimate.ts';
import { namedModel } from './namedModel.ts';
import { checksAsJson, checksAsMarkdown } from './report.ts';
import { checkInShort } from './taskResult.ts';

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

/** 0: it was checked, whatever came of it; 2: it was not. */
async function run(id: string): Promise<number> {
  const { model, dispose } = namedModel({ id, ...values }, path.join(root, 'dist'));
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const estimate = estimateOf(id.startsWith('local/'));
  say(
    [`Checking ${id}`, ...estimateText(estimate, model.adapter.leastCost?.(model.model, estimate.prompt))].join('\n'),
  );
  try {
    const result = await checkModel({
      model,
      towpath: JSON.parse((await readPlain(path.join(root, 'package.json'), 1 << 20)).toString()).version,
      ripgrep: rgPath,
      signal: stop.signal,
      tried: ({ passed, title, why }) => say(`${passed ? '✓' : '✗'} ${title}${why === undefined ? '' : `: ${why}`}`),
    });
    say(`${checkInShort(result)}${result.ended === undefined ? '' : `\n${result.ended}`}`);
    if (values.json) writeFileSync(values.json, checksAsJson([result]));
    if (values.markdown) writeFileSync(values.markdown, checksAsMarkdown([result]));
    return result.ended === undefined ? 0 : 2;
  } finally {
    await dispose();
  }
}

function say(text: string): void {
  console.log(visible(text));
}
