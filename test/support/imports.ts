import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { productFiles } from './sourceFiles.ts';

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
  'src/build': ['src/llm'],
};

/** Files that a folder may hold. Tables of data, styles and tests are not counted. */
const maxFiles = 25;

/** Lines of a file. */
const maxLines = 450;

/** Packages that only some places may know. */
export const packages: Record<string, (file: string) => boolean> = {
  vscode: (file) => file.startsWith('src/extension/'),
  'node-llama-cpp': (file) => /^src\/llm\/local\/worker\/(worker|context)\.ts$/.test(file),
  '@modelcontextprotocol/client': (file) => file.startsWith('src/tools/mcp/'),
  '@modelcontextprotocol/core': (file) => file === 'src/tools/mcp/sdk.ts',
  ajv: (file) => file === 'src/tools/mcp/sdk.ts',
  'cross-spawn': (file) => file === 'src/tools/mcp/sdk.ts',
  'jsonc-parser': (file) => file.startsWith('src/tools/mcp/') || file.startsWith('src/tools/notebook/'),
  minisearch: (file) => file.startsWith('src/tools/mcp/'),
  '@vscode/webview-ui-toolkit': (file) => file === 'webview/elements.ts',
  'lit-html': (file) => file.startsWith('webview/'),
  '@huggingface/jinja': (file) => file.startsWith('src/workflows/'),
  marked: (file) => file.startsWith('webview/'),
  'highlight.js': (file) => file.startsWith('webview/'),
};

/**
 * Breaches of the import rules below `root`, one sentence each: between layers, cycles of files, and cycles of the folders beside each
 * other at any level; then folders and files that are too large.
 */
export function breaches(root: string): string[] {
  const files = productFiles(root).filter((file) => file.endsWith('.ts'));
  const graph = new Map(files.map((file) => [file, importsOf(root, file)]));
  return [
    ...[...graph].flatMap(([file, imports]) => imports.flatMap((to) => breach(file, to))),
    ...cycles(graph),
    ...[...levels(graph).values()].flatMap(cycles),
    ...largeFolders(files),
    ...files
      .map((file) => [file, readFileSync(path.join(root, file), 'utf8').split('\n').length - 1] as const)
      .filter(([, lines]) => lines > maxLines)
      .map(([file, lines]) => `${file} has ${lines} lines`),
  ];
}

/** The graph of what stands in each folder: its files and folders import each other as the files in them do. */
function levels(graph: ReadonlyMap<string, readonly string[]>): Map<string, Map<string, string[]>> {
  const found = new Map<string, Map<string, string[]>>();
  for (const [file, imports] of graph)
    for (const to of imports.filter((one) => graph.has(one))) {
      const [own, other] = [file.split('/'), to.split('/')];
      const at = own.findIndex((part, index) => part !== other[index]);
      const upTo = (parts: readonly string[]) => parts.slice(0, at + 1).join('/');
      if (at < 0 || (at === own.length - 1 && at === other.length - 1)) continue; // cycles of files are found as such
      const level = own.slice(0, at).join('/');
      const edges = found.get(level) ?? new Map<string, string[]>();
      found.set(level, edges.set(upTo(own), [...(edges.get(upTo(own)) ?? []), upTo(other)]));
    }
  return found;
}

function largeFolders(files: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const file of files) counts.set(path.posix.dirname(file), (counts.get(path.posix.dirname(file)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > maxFiles).map(([folder, count]) => `${folder} holds ${count} files`);
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
  if (target === from) return [];
  if (target) return layers[from]!.includes(target) ? [] : [`${file} imports ${to}`];
  if (to.startsWith('src/') || to.startsWith('test/') || to.startsWith('..')) return [`${file} imports ${to}`];
  const name = to.startsWith('@') ? to.split('/', 2).join('/') : to.split('/', 1)[0]!;
  if (file.startsWith('webview/') && to.startsWith('node:')) return [`${file} imports ${to}`];
  if (file.startsWith('src/protocol/') && name !== 'zod') return [`${file} imports ${to}`];
  return packages[name] === undefined || packages[name](file) ? [] : [`${file} imports ${to}`];
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
