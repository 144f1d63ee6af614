// Builds the four programs into dist/: the extension host's half, the SDK of MCP, the local model's process, and the panel; and the
// demo model, a file that a program of ours writes.
import { build, context } from 'esbuild';

const watch = process.argv.includes('--watch');
const shared = { bundle: true, sourcemap: true, minify: !watch, logLevel: 'warning', legalComments: 'none' };
const node = { ...shared, platform: 'node', target: 'node20' };

/** What is reached by `import('./sdk.ts')` is a program beside: whoever configures no MCP server never loads it. */
const mcpBeside = {
  name: 'mcp-beside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/sdk\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './mcp.cjs', external: true } : undefined,
    ),
};

const programs = [
  // VS Code loads an extension as CommonJS.
  {
    ...node,
    entryPoints: ['src/extension/main.ts'],
    format: 'cjs',
    outfile: 'dist/extension.cjs',
    external: ['vscode'],
    mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
    plugins: [mcpBeside],
  },
  { ...node, entryPoints: ['src/tools/mcp/sdk.ts'], format: 'cjs', outfile: 'dist/mcp.cjs' },
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
