// Builds the three programs into dist/: the extension host's half, the local model's process, and the panel; and the
// demo model, a file that a program of ours writes.
import { build, context } from 'esbuild';

const watch = process.argv.includes('--watch');
const shared = { bundle: true, sourcemap: true, minify: !watch, logLevel: 'warning', legalComments: 'none' };
const node = { ...shared, platform: 'node', target: 'node20' };

const programs = [
  // VS Code loads an extension as CommonJS.
  {
    ...node,
    entryPoints: ['src/extension/main.ts'],
    format: 'cjs',
    outfile: 'dist/extension.cjs',
    external: ['vscode'],
  },
  // node-llama-cpp stays outside: it finds its binaries beside itself and is only ever reached by import().
  {
    ...node,
    entryPoints: ['src/llm/local/worker.ts'],
    format: 'esm',
    outfile: 'dist/worker.mjs',
    external: ['node-llama-cpp'],
  },
  {
    ...shared,
    entryPoints: ['webview/main.ts'],
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    outfile: 'dist/panel.js',
  },
];

const contexts = await Promise.all(programs.map((program) => context(program)));
if (watch) await Promise.all(contexts.map((one) => one.watch()));
else {
  await Promise.all(contexts.map((one) => one.rebuild()));
  await Promise.all(contexts.map((one) => one.dispose()));
}

const demo = await build({
  ...node,
  entryPoints: ['src/llm/local/demo/demoModel.ts'],
  format: 'esm',
  write: false,
  sourcemap: false,
});
const { writeDemoModel } = await import(`data:text/javascript,${encodeURIComponent(demo.outputFiles[0].text)}`);
writeDemoModel('dist/demo.gguf');
