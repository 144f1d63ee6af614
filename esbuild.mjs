// Builds the programs into dist/: what the editor starts, all the rest of the extension host's half, its thread aside, the SDK of MCP,
// the local model's process, the panel, and the colours of its code; and the demo model and the JSON schemas of workflow files, which programs of ours write.
//   --watch                            builds again whenever a file changes
//   --outdir <folder>                  another folder below this one, without source maps
//   --metafile <file>                  what esbuild says of what went into each program
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build, context } from 'esbuild';

/** Tests take the table of programs from here, and build what they need by themselves. */
const isRun = process.argv[1] === fileURLToPath(import.meta.url);
const { values } = parseArgs({
  args: isRun ? process.argv.slice(2) : [],
  options: {
    watch: { type: 'boolean', default: false },
    outdir: { type: 'string' },
    metafile: { type: 'string' },
  },
});
const root = import.meta.dirname;
const { watch, outdir = 'dist' } = values;

/** `import()` of what another program begins with loads that program, when it is reached: nobody pays for it before. */
const beside = {
  name: 'beside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ kind, resolveDir, path: asked }) => {
      const file = path.resolve(resolveDir, asked);
      const program = kind === 'dynamic-import' && programs.find(({ entryPoints: [entry] }) => entry === file);
      return program ? { path: `./${path.basename(program.outfile)}`, external: true } : undefined;
    }),
};

const sourcemap = values.outdir === undefined;
const shared = {
  bundle: true,
  sourcemap,
  minify: !watch,
  logLevel: 'warning',
  legalComments: 'none',
  metafile: true,
  plugins: [beside],
};
const node = { ...shared, platform: 'node', target: 'node20' };
/** VS Code loads an extension as CommonJS and gives its own modules to all that is required then: so `import()` is `require`, too. */
const host = {
  ...node,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  external: ['vscode'],
  mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
};
const page = { ...shared, platform: 'browser', target: 'es2022', format: 'esm' };

export const programs = [
  program(host, 'src/extension/start.ts', 'extension.cjs'),
  program(host, 'src/extension/main.ts', 'main.cjs'),
  program(host, 'src/tools/mcp/sdk.ts', 'mcp.cjs'),
  program({ ...node, format: 'cjs' }, 'src/extension/aside/asideThread.ts', 'aside.cjs'),
  // node-llama-cpp stays outside: it finds its binaries beside itself and is only ever reached by import().
  program({ ...node, format: 'esm', external: ['node-llama-cpp'] }, 'src/llm/local/worker.ts', 'worker.mjs'),
  program(page, 'webview/main.ts', 'panel.js'),
  program(page, 'webview/markdown/highlight.ts', 'highlight.js'),
  program(page, 'webview/insights.ts', 'insights.js'),
];

function program(options, entry, file) {
  return { ...options, entryPoints: [path.join(root, entry)], outfile: path.join(root, outdir, file) };
}

if (isRun) await buildAll();

async function buildAll() {
  const contexts = await Promise.all(programs.map((program) => context(program)));
  if (watch) await Promise.all(contexts.map((one) => one.watch()));
  else {
    const built = await Promise.all(contexts.map((one) => one.rebuild()));
    await Promise.all(contexts.map((one) => one.dispose()));
    if (values.metafile) writeFileSync(values.metafile, JSON.stringify(built.map(({ metafile }) => metafile)));
  }

  const { writeDemoModel } = await load('src/llm/local/demo/demoModel.ts');
  writeDemoModel(`${outdir}/demo.gguf`);

  const { jsonSchemas } = await load('src/workflows/write/jsonSchema.ts');
  mkdirSync(`${outdir}/schemas`, { recursive: true });
  for (const [name, schema] of Object.entries(jsonSchemas()))
    writeFileSync(`${outdir}/schemas/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
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
