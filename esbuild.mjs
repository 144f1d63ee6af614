// Builds the five programs into dist/: the extension host's half, its thread aside, the SDK of MCP, the local model's process, and the
// panel; and the demo model and the JSON schemas of workflow files, which programs of ours write.
//   --watch                            builds again whenever a file changes
//   --outdir <folder>                  another folder below this one, without source maps
//   --metafile <file>                  what esbuild says of what went into each program
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build, context } from 'esbuild';

const { values } = parseArgs({
  options: {
    watch: { type: 'boolean', default: false },
    outdir: { type: 'string' },
    metafile: { type: 'string' },
  },
});
const { watch, outdir = 'dist' } = values;
const sourcemap = values.outdir === undefined;
const shared = { bundle: true, sourcemap, minify: !watch, logLevel: 'warning', legalComments: 'none', metafile: true };
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
    outfile: `${outdir}/extension.cjs`,
    external: ['vscode'],
    mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
    plugins: [mcpBeside],
  },
  { ...node, entryPoints: ['src/extension/aside/asideThread.ts'], format: 'cjs', outfile: `${outdir}/aside.cjs` },
  { ...node, entryPoints: ['src/tools/mcp/sdk.ts'], format: 'cjs', outfile: `${outdir}/mcp.cjs` },
  // node-llama-cpp stays outside: it finds its binaries beside itself and is only ever reached by import().
  {
    ...node,
    entryPoints: ['src/llm/local/worker.ts'],
    format: 'esm',
    outfile: `${outdir}/worker.mjs`,
    external: ['node-llama-cpp'],
  },
  {
    ...shared,
    entryPoints: ['webview/main.ts'],
    platform: 'browser',
    target: 'es2022',
    format: 'esm',
    outfile: `${outdir}/panel.js`,
  },
];

const contexts = await Promise.all(programs.map((program) => context(program)));
if (watch) await Promise.all(contexts.map((one) => one.watch()));
else {
  const built = await Promise.all(contexts.map((one) => one.rebuild()));
  await Promise.all(contexts.map((one) => one.dispose()));
  if (values.metafile) writeFileSync(values.metafile, JSON.stringify(built.map(({ metafile }) => metafile)));
}

/** What a module of ours exports, for files that are made from it. Beside the project, so that its packages are found. */
async function load(entryPoint) {
  const outfile = path.resolve(outdir, `${path.basename(entryPoint, '.ts')}.build.mjs`);
  await build({ ...node, entryPoints: [entryPoint], format: 'esm', packages: 'external', outfile, sourcemap: false });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}

const { writeDemoModel } = await load('src/llm/local/demo/demoModel.ts');
writeDemoModel(`${outdir}/demo.gguf`);

const { jsonSchemas } = await load('src/workflows/write/jsonSchema.ts');
mkdirSync(`${outdir}/schemas`, { recursive: true });
for (const [name, schema] of Object.entries(jsonSchemas()))
  writeFileSync(`${outdir}/schemas/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
