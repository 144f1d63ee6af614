import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** What each layer may import from the others: the direction is one way. */
export const layers: Record<string, readonly string[]> = {
  'src/help': [],
  'src/protocol': [],
  'src/llm': ['src/protocol'],
  'src/tools': ['src/protocol'],
  'src/runs': ['src/protocol'],
  'src/engine': ['src/protocol', 'src/llm', 'src/tools', 'src/runs'],
  'src/workflows': ['src/protocol', 'src/llm', 'src/tools', 'src/runs', 'src/engine'],
  'src/check': ['src/protocol', 'src/llm', 'src/tools', 'src/runs', 'src/engine', 'src/workflows'],
  'src/extension': [
    'src/help',
    'src/protocol',
    'src/llm',
    'src/tools',
    'src/runs',
    'src/engine',
    'src/workflows',
    'src/check',
  ],
  webview: ['src/protocol'],
  'src/vsix': ['src/llm'],
};

/** The rooms of a layer that has them: each imports only from those before it, and every folder is one. */
export const rooms: Record<string, readonly string[]> = {
  'src/extension': [
    'help',
    'view',
    'dialogs',
    'settings',
    'aside',
    'language',
    'models',
    'gate',
    'records',
    'commit',
    'mcp',
    'instructions',
    'runs',
    'panel',
    'workflows',
    'doctor',
    'editor',
    'mentions',
  ],
  'src/workflows': ['template', 'plan', 'action', 'read', 'write', 'run', 'package'],
  webview: ['markdown', 'composer', 'cards', 'transcript'],
};

/** Packages that only some places may know. */
export const packages: Record<string, (file: string) => boolean> = {
  vscode: (file) => file.startsWith('src/extension/'),
  'node-llama-cpp': (file) => /^src\/llm\/local\/(worker|context)\.ts$/.test(file),
  '@modelcontextprotocol/sdk': (file) => file.startsWith('src/tools/mcp/'),
  ajv: (file) => file === 'src/tools/mcp/sdk.ts',
  'cross-spawn': (file) => file === 'src/tools/mcp/sdk.ts',
  'jsonc-parser': (file) =>
    file.startsWith('src/tools/mcp/') ||
    file.startsWith('src/tools/notebook/') ||
    file === 'src/extension/settings/formerValues.ts',
  minisearch: (file) => file.startsWith('src/tools/mcp/'),
  '@vscode/webview-ui-toolkit': (file) => file === 'webview/elements.ts',
  'lit-html': (file) => file.startsWith('webview/'),
  '@huggingface/jinja': (file) => file.startsWith('src/workflows/'),
  marked: (file) => file.startsWith('webview/'),
  'highlight.js': (file) => file.startsWith('webview/'),
};

/** Breaches of the import rules and import cycles below `root`, one sentence each. */
export function breaches(root: string): string[] {
  const graph = new Map(sources(root).map((file) => [file, importsOf(root, file)]));
  return [...graph].flatMap(([file, imports]) => imports.flatMap((to) => breach(file, to))).concat(cycles(graph));
}

function sources(root: string): string[] {
  return ['src', 'webview'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.posix.join(folder, name.split(path.sep).join('/'))),
  );
}

function importsOf(root: string, file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path.join(root, file), 'utf8'), true, true);
  return importedFiles.map(({ fileName }) =>
    fileName.startsWith('.') ? path.posix.join(path.posix.dirname(file), fileName) : fileName,
  );
}

function breach(file: string, to: string): string[] {
  const from = layerOf(file);
  if (!from) return [`${file} is in no layer`];
  const target = layerOf(to);
  if (target === from) return breachOfRooms(from, file, to);
  if (target) return layers[from]!.includes(target) ? [] : [`${file} imports ${to}`];
  if (to.startsWith('src/') || to.startsWith('test/') || to.startsWith('..')) return [`${file} imports ${to}`];
  const name = to.startsWith('@') ? to.split('/', 2).join('/') : to.split('/', 1)[0]!;
  if (file.startsWith('webview/') && to.startsWith('node:')) return [`${file} imports ${to}`];
  if (file.startsWith('src/protocol/') && name !== 'zod') return [`${file} imports ${to}`];
  return packages[name] === undefined || packages[name](file) ? [] : [`${file} imports ${to}`];
}

function breachOfRooms(layer: string, file: string, to: string): string[] {
  const order = rooms[layer];
  const [own, other] = [file, to].map((one) => one.slice(layer.length + 1).split('/'));
  if (!order || own!.length === 1) return []; // what stands before the rooms knows all of them
  if (!order.includes(own![0]!)) return [`${file} is in no room`];
  return other!.length === 1 || order.indexOf(other![0]!) <= order.indexOf(own![0]!) ? [] : [`${file} imports ${to}`];
}

function layerOf(file: string): string | undefined {
  return Object.keys(layers).find((layer) => file.startsWith(`${layer}/`));
}

/** Every import cycle once, type-only imports included: a cycle of types is a cycle of ideas. */
function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) {
      const cycle = trail.slice(at);
      const first = cycle.indexOf([...cycle].sort()[0]!);
      found.add(`cycle: ${[...cycle.slice(first), ...cycle.slice(0, first)].join(' → ')}`);
      return;
    }
    if (done.has(file)) return;
    for (const next of graph.get(file) ?? []) if (graph.has(next)) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return [...found];
}
