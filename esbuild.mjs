// Builds the five programs into dist/: the extension host's half, its thread aside, the SDK of MCP, the local model's process, and the
// panel; and the demo model and the JSON schemas of workflow files, which programs of ours write.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
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
  { ...node, entryPoints: ['src/extension/aside/asideThread.ts'], format: 'cjs', outfile: 'dist/aside.cjs' },
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

/** What a module of ours exports, for files that are made from it. Beside the project, so that its packages are found. */
async function load(entryPoint) {
  const outfile = path.resolve(`dist/${path.basename(entryPoint, '.ts')}.build.mjs`);
  await build({ ...node, entryPoints: [entryPoint], format: 'esm', packages: 'external', outfile, sourcemap: false });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}

const { writeDemoModel } = await load('src/llm/local/demo/demoModel.ts');
writeDemoModel('dist/demo.gguf');

const { jsonSchemas } = await load('src/workflows/jsonSchema.ts');
mkdirSync('dist/schemas', { recursive: true });
for (const [name, schema] of Object.entries(jsonSchemas()))
  writeFileSync(`dist/schemas/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
