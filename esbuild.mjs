// Builds the programs into dist/: the entry point, the extension host, its parser and snapshot threads, the forwarder of the command sandbox,
// the process of the local model, the panel, and the highlighting of its code; also the demo model and the JSON schemas of workflow files, which programs of ours write.
//   --watch                            builds again whenever a file changes
//   --outdir <folder>                  another folder below this one, without source maps
//   --metafile <file>                  what esbuild says of what went into each program
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build, context, transform } from 'esbuild';

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

const sourcemap = values.outdir === undefined;

/**
 * esbuild takes programs apart, so that what is behind an `import()` is loaded when that is reached and no module is there twice, only as ES
 * modules. Each of the files becomes CommonJS here.
 */
const chunked = {
  name: 'chunked',
  setup({ initialOptions, onEnd }) {
    const { write = true, outdir: folder, chunkNames } = initialOptions;
    const chunks = path.dirname(chunkNames);
    initialOptions.write = false;
    onEnd(async (result) => {
      if (!result.outputFiles) return; // it has mistakes, and they are told
      result.outputFiles = (await Promise.all(result.outputFiles.map(toCommonJs))).flat();
      if (!write) return;
      mkdirSync(path.join(folder, chunks), { recursive: true });
      const now = new Set(result.outputFiles.map((file) => file.path));
      for (const name of readdirSync(path.join(folder, chunks)))
        if (!now.has(path.join(folder, chunks, name))) rmSync(path.join(folder, chunks, name)); // of what was built before
      for (const file of result.outputFiles) writeFileSync(file.path, file.text);
    });
  },
};

/** The file, and its source map beside it. */
async function toCommonJs({ path: file, text }) {
  const { code, map } = await transform(text, {
    ...cjs,
    platform: node.platform,
    target: node.target,
    minify: node.minify,
    sourcemap: sourcemap && 'external',
    sourcefile: path.basename(file),
    logLevel: 'warning',
  });
  if (!map) return [{ path: file, text: code }];
  return [
    { path: file, text: `${code}//# sourceMappingURL=${path.basename(file)}.map\n` },
    { path: `${file}.map`, text: map },
  ];
}

/** `import()` of what another program begins with loads that program, when it is reached: nobody pays for it before. */
const beside = {
  name: 'beside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ kind, resolveDir, path: asked }) => {
      const file = path.resolve(resolveDir, asked);
      const isOf = ({ entryPoints }) => Object.values(entryPoints)[0] === file;
      const program = kind === 'dynamic-import' && programs.find(isOf);
      if (!program) return undefined;
      const [name] = Object.keys(program.entryPoints);
      return { path: `./${name}${program.outExtension['.js']}`, external: true };
    }),
};

/** Works out the tables of commands: a program has them as data, without the reasons in them, and without their parser. */
export const tables = {
  name: 'tables',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]commands[\\/]grants[\\/]tables\.ts$/ }, async ({ path: file }) => {
      const folder = path.dirname(file);
      const define = { 'import.meta.dirname': JSON.stringify(folder) };
      const { outputFiles } = await build({ ...node, entryPoints: [file], format: 'esm', define, write: false });
      const { grantTables } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`).catch(
        ({ message }) => Promise.reject(new Error(message)), // its stack has all of the module in it
      );
      const text = JSON.stringify(grantTables, (key, value) => (key === 'why' ? undefined : value));
      const files = readdirSync(path.join(folder, 'tables')).map((name) => path.join(folder, 'tables', name));
      return {
        contents: `export const grantTables = JSON.parse(${JSON.stringify(text)});`,
        watchFiles: [file, ...files],
        watchDirs: [path.join(folder, 'tables')],
      };
    }),
};

/** The MCP client brings a copy of the schema validator along. It is given ours, so the copy is left out. */
const withoutCopies = {
  name: 'withoutCopies',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]@modelcontextprotocol[\\/]client[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: 'export const CORS_IS_POSSIBLE = false; export class DefaultJsonSchemaValidator {}',
    })),
};

/** The panel makes nodes of the tokens of `marked`. The renderer to HTML stays out: statements at the end of the module would retain it. */
const markedLexer = {
  name: 'markedLexer',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]marked[\\/]lib[\\/]marked\.esm\.js$/ }, async ({ path: file }) => {
      const { default: ts } = await import('typescript');
      const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
      const all = statements.findLast(ts.isExportDeclaration).exportClause.elements;
      const local = (exported) => all.find(({ name }) => name.text === exported).propertyName.text;
      const instance = `new ${local('Marked')}`;
      const end = statements.findIndex((one) => ts.isVariableStatement(one) && one.getText().includes(instance));
      if (end < 0) throw new Error('marked has no instance of its own.');
      const exports = ['Lexer', 'Tokenizer', 'getDefaults'].map((name) => `${local(name)} as ${name}`);
      const kept = statements.slice(0, end).map((one) => one.getFullText());
      return { contents: `${kept.join('')};export{${exports}};` };
    }),
};

/** The toolkit uses the names of keys, and not the table of their former codes that the same module fills. */
const withoutKeyCodes = {
  name: 'withoutKeyCodes',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]fast-web-utilities[\\/]dist[\\/]key-codes\.js$/ }, ({ path: file }) => {
      const contents = readFileSync(file, 'utf8').replace(/^export var KeyCodes;\s*\(function .*?^\}\).*?;$/ms, '');
      return { contents };
    }),
};

/** The indentation of templates, those of the toolkit too, is for readers of the code: the page does without it. A line end stays, which separates as a blank does. */
const templates = {
  name: 'templates',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/](?:webview|webview-ui-toolkit|fast-foundation)[\\/].*\.[jt]s$/ }, async ({ path: file }) => {
      const { default: ts } = await import('typescript');
      const text = readFileSync(file, 'utf8');
      const spans = [];
      const look = (node) => {
        if (ts.isTaggedTemplateExpression(node) && ['html', 'svg', 'css'].includes(node.tag.getText())) {
          const { template } = node;
          const parts = template.head
            ? [template.head, ...template.templateSpans.map((one) => one.literal)]
            : [template];
          for (const part of parts) spans.push([part.getStart(), part.getEnd()]);
        }
        ts.forEachChild(node, look);
      };
      look(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
      let contents = text;
      for (const [start, end] of spans.sort(([one], [other]) => other - one))
        contents =
          contents.slice(0, start) + contents.slice(start, end).replace(/\n[ \t]+/g, '\n') + contents.slice(end);
      return { contents, loader: path.extname(file) === '.ts' ? 'ts' : 'js' };
    }),
};

const shared = {
  bundle: true,
  sourcemap,
  minify: !watch,
  logLevel: 'warning',
  legalComments: 'none',
  metafile: true,
};
const node = {
  ...shared,
  platform: 'node',
  target: 'node20',
  mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
};
/** VS Code loads an extension as CommonJS, and gives its own modules to all that is required then: so `import()` is `require`, too. */
const cjs = { format: 'cjs', supported: { 'dynamic-import': false } };
const host = { ...node, external: ['vscode'] };
/** Options of a program whose parts are loaded from files in a folder of their own. */
const inParts = (folder) => ({
  format: 'esm',
  splitting: true,
  chunkNames: `${folder}/[name]-[hash]`,
  sourcemap: sourcemap && 'inline', // until it is CommonJS
  plugins: [tables, withoutCopies, chunked],
});
const page = { ...shared, platform: 'browser', target: 'es2022', format: 'esm', charset: 'utf8' };

export const programs = [
  program({ ...host, ...cjs, plugins: [beside] }, 'src/extension/start.ts', 'extension.cjs'),
  program({ ...host, ...inParts('chunks') }, 'src/extension/main.ts', 'main.cjs'),
  program({ ...node, ...inParts('parser') }, 'src/extension/worker/parserMain.ts', 'parser.cjs'),
  program({ ...node, ...cjs }, 'src/extension/worker/snapshotMain.ts', 'snapshots.cjs'),
  program({ ...node, ...cjs }, 'src/tools/commandSandbox/network/forwarder.ts', 'sandboxForwarder.cjs'),
  // node-llama-cpp stays outside: it finds its binaries beside itself and is only ever reached by import().
  program({ ...node, format: 'esm', external: ['node-llama-cpp'] }, 'src/llm/local/worker/worker.ts', 'worker.mjs'),
  program({ ...page, plugins: [beside, templates, markedLexer, withoutKeyCodes] }, 'webview/main.ts', 'panel.js'),
  program(page, 'webview/markdown/highlight.ts', 'highlight.js'),
  program(page, 'webview/insights.ts', 'insights.js'),
];

function program(options, entry, file) {
  const { name, ext } = path.parse(file);
  return {
    ...options,
    entryPoints: { [name]: path.join(root, entry) },
    outdir: path.join(root, outdir),
    outExtension: { '.js': ext },
  };
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

  const { createWorkflowJsonSchemas } = await load('src/workflows/write/jsonSchema.ts');
  mkdirSync(`${outdir}/schemas`, { recursive: true });
  for (const [name, schema] of Object.entries(createWorkflowJsonSchemas()))
    writeFileSync(`${outdir}/schemas/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
}

/** What a module of ours exports, for files that are made from it. Beside the project, so that its packages are found. */
async function load(entryPoint) {
  const outfile = path.resolve(outdir, `${path.basename(entryPoint, '.ts')}.build.mjs`);
  await build({
    ...node,
    entryPoints: [entryPoint],
    format: 'esm',
    packages: 'external',
    outfile,
    sourcemap: false,
    plugins: [tables],
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}
