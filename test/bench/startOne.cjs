// node startOne.cjs <program> [activate|show]: prints the milliseconds of CPU time that loading an extension's program costs this process,
// where `vscode` has every name and does nothing; with `activate`, its activation as well; with `show`, what comes after that, from when
// its panel is shown until it is told what it shows.
const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const Module = require('node:module');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

/** Can be read, called and made, and is the same again. */
const anything = () => {
  const known = new Map();
  const get = (target, name) => {
    if (name === Symbol.toPrimitive) return () => '';
    if (name === 'prototype') return target.prototype;
    if (name === 'then' || name === '__esModule' || typeof name === 'symbol') return undefined;
    if (!known.has(name)) known.set(name, anything());
    return known.get(name);
  };
  return new Proxy(function Anything() {}, { get, set: () => true, apply: anything, construct: anything });
};

const types = readFileSync(require.resolve('@types/vscode/index.d.ts'), 'utf8');
const names = [...types.matchAll(/^\texport (?:namespace|class|enum|const|function|let) (\w+)/gm)].map(
  ([, name]) => name,
);
const declared = Object.fromEntries(names.map((name) => [name, anything()]));
declared.l10n = { t: String }; // in English
const rest = anything(); // names that only the editor's own extensions know
const vscode = new Proxy(declared, { get: (_, name) => declared[name] ?? rest[name] });

/** The editor has loaded these before any extension. */
for (const name of [
  'child_process',
  'crypto',
  'fs/promises',
  'http',
  'https',
  'net',
  'os',
  'stream',
  'url',
  'util',
  'worker_threads',
  'zlib',
])
  require(`node:${name}`);

const load = Module._load;
Module._load = function (request, ...others) {
  return request === 'vscode' ? vscode : load.call(this, request, ...others);
};

const program = path.resolve(process.argv[2]);
const root = path.join(path.dirname(program), '..');
const packageJSON = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const context = { extensionUri: anything(), extension: { packageJSON }, subscriptions: [] };
const showing = process.argv[3] === 'show' ? anEditorWithAPanel() : undefined;

let before = process.cpuUsage();
const extension = require(program);
if (['activate', 'show'].includes(process.argv[3])) extension.activate(context);
if (showing) {
  before = process.cpuUsage();
  showing(end);
} else end();

function end() {
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
  process.exit();
}

/** A window with an empty folder, and settings as they are when nobody has set any; shows the panel, and is told when that has its state. */
function anEditorWithAPanel() {
  const folder = mkdtempSync(path.join(tmpdir(), 'towpath-start-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = (fsPath) => ({
    fsPath,
    path: fsPath,
    scheme: 'file',
    toString: () => pathToFileURL(fsPath).href,
  });
  declared.Uri = { file, joinPath: ({ fsPath }, ...names) => file(path.join(fsPath, ...names)), parse: anything() };
  const settings = Object.assign({}, ...[packageJSON.contributes.configuration].flat().map((one) => one.properties));
  const inspect = (section) => (name) => ({ defaultValue: settings[`${section}.${name}`]?.default });
  const listening = () => ({ dispose() {} });
  declared.workspace = new Proxy(
    {
      workspaceFolders: [{ uri: file(folder), name: 'empty', index: 0 }],
      name: 'empty',
      isTrusted: true,
      textDocuments: [],
      getConfiguration: (section) => ({
        inspect: inspect(section),
        get: (name) => inspect(section)(name).defaultValue,
      }),
      findFiles: async () => [],
    },
    { get: (known, name) => known[name] ?? (/^on[A-Z]/.test(name) ? listening : anything()) },
  );
  let provider;
  declared.window = new Proxy(
    { registerWebviewViewProvider: (_, made) => (provider = made), visibleTextEditors: [], terminals: [] },
    { get: (known, name) => known[name] ?? (/^on[A-Z]/.test(name) ? listening : anything()) },
  );
  declared.env = { appRoot: folder, appName: 'an editor', language: 'en' };
  const kept = () => ({ get: (_, other) => other, update: async () => {}, keys: () => [], onDidChange: listening });
  Object.assign(context, {
    extensionUri: file(root),
    extensionPath: root,
    storageUri: file(path.join(folder, 'storage')),
    globalStorageUri: file(path.join(folder, 'global')),
    globalState: kept(),
    workspaceState: kept(),
    secrets: { ...kept(), get: async () => undefined },
  });
  return (shown) => {
    const webview = {
      asWebviewUri: (uri) => uri,
      onDidReceiveMessage: (say) => setImmediate(say, { type: 'ready' }),
      postMessage: (said) => JSON.parse(said).type === 'state' && shown(),
    };
    const told = { onDidDispose: listening, onDidChangeVisibility: listening };
    provider.resolveWebviewView({ webview, visible: true, ...told });
  };
}
