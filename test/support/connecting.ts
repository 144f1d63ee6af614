import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** What of Node can neither open a connection nor start a program, and from what can, the names that cannot. */
const quietModules: Record<string, readonly string[] | 'all'> = {
  ...Object.fromEntries(
    [
      'buffer',
      'crypto',
      'events',
      'fs',
      'fs/promises',
      'os',
      'path',
      'perf_hooks',
      'readline',
      'stream',
      'stream/consumers',
      'timers/promises',
      'url',
      'util',
      'v8',
      'vm',
      'worker_threads',
      'zlib',
    ].map((name) => [`node:${name}`, 'all' as const]),
  ),
  'node:net': ['isIP'],
};

/** Packages that open no connection. Another one has to be looked at before it stands here, or in a row of the table. */
const quietPackages = new Set([
  '@huggingface/jinja',
  '@vscode/webview-ui-toolkit',
  'ajv',
  'diff',
  'eventsource-parser',
  'highlight.js',
  'html-to-text',
  'htmlparser2',
  'ipaddr.js',
  'jsonc-parser',
  'lit-html',
  'marked',
  'minisearch',
  'safe-stable-stringify',
  'tokenx',
  'vscode',
  'yaml',
  'yauzl',
  'zod',
]);

/** What every file can reach without an import. */
const globals = new Set([
  ...['fetch', 'WebSocket', 'WebSocketStream', 'WebTransport', 'EventSource', 'XMLHttpRequest', 'RTCPeerConnection'],
  ...['require', 'importScripts', 'eval', 'Function'],
]);

/** Members that connect, or lead to what does, whatever they are members of: the editor's, the browser's, Node's. */
const members = new Set([
  ...['openExternal', 'asExternalUri', 'createTelemetryLogger', 'selectChatModels', 'sendRequest', 'getSession'],
  ...['invokeTool', 'createTerminal', 'executeTask', 'startDebugging'],
  ...['sendBeacon', 'getBuiltinModule', 'createRequire', 'mainModule', 'dlopen'],
]);

/** Commands of the editor that open an address or install something. */
const commands = /^(vscode\.open|simpleBrowser\.|workbench\.extensions\.|workbench\.action\.(url|openUrl))/;

/** Our own ways to a connection: who uses one has one. */
const ways: Record<string, string> = {
  sendHttpRequest: 'llm/transport/http.ts',
  sendAnonymousRequest: 'llm/local/download/fetchRange.ts',
};

/** Why this file of `src` can open a connection or start a program, one sentence each; none: it cannot. */
export function connecting(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  const importing = (specifier: string, names?: readonly string[]) => {
    if (specifier.startsWith('.')) {
      const target = path.posix.join(path.posix.dirname(file), specifier);
      for (const [name, way] of Object.entries(ways))
        if (target === way && (names === undefined || names.includes(name))) found.add(`connects by ${way}`);
      return;
    }
    const quiet = quietModules[specifier];
    if (quiet === 'all' || quietPackages.has(packageOf(specifier))) return;
    if (quiet && names?.every((name) => quiet.includes(name))) return;
    found.add(`imports ${specifier}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const specifier = node.moduleSpecifier;
      const names = namesOf(node);
      if (specifier && ts.isStringLiteral(specifier) && names !== 'types') importing(specifier.text, names);
      return;
    }
    if (ts.isTypeNode(node) && !isExtended(node)) return;
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [what] = node.arguments;
      if (what && ts.isStringLiteral(what)) importing(what.text);
      else found.add('imports what it is told');
    }
    if (ts.isIdentifier(node) && globals.has(node.text) && isReference(node)) found.add(`uses ${node.text}`);
    if (ts.isPropertyAccessExpression(node) && members.has(node.name.text)) found.add(`uses ${node.name.text}`);
    if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
      const { text: name } = node.argumentExpression;
      if (globals.has(name) || members.has(name)) found.add(`uses ${name}`);
    }
    if (ts.isBindingElement(node)) {
      const name = (node.propertyName ?? node.name).getText(source);
      if (globals.has(name) || members.has(name)) found.add(`uses ${name}`);
    }
    if (ts.isStringLiteral(node) && commands.test(node.text)) found.add(`runs ${node.text}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

/** Which of these methods of a model a file outside of `src/llm` calls. */
export function asking(file: string, text: string): string[] {
  if (file.startsWith('llm/') || file === 'engine/core/modelCall.ts') return []; // who calls those asks
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression))
      if (node.expression.text === 'callModelAndRecord' || node.expression.text === 'askModel')
        found.add(node.expression.text);
    if (
      ts.isPropertyAccessExpression(node) &&
      ['complete', 'chatStream', 'chat', 'listModels'].includes(node.name.text)
    )
      if (ts.isCallExpression(node.parent) && node.parent.expression === node) found.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...found];
}

/** The program files below a folder, by their paths in it. */
export function programFiles(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|mjs)$/.test(name));
  return new Map(
    names.map((name) => [name.split(path.sep).join('/'), readFileSync(path.join(folder, name), 'utf8')] as const),
  );
}

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** The names that are taken, `types` when none of it is there when the program runs, undefined when all are. */
function namesOf(node: ts.ImportDeclaration | ts.ExportDeclaration): string[] | 'types' | undefined {
  const clause = ts.isImportDeclaration(node) ? node.importClause : node;
  if (!clause) return undefined;
  if (clause.isTypeOnly) return 'types';
  if (ts.isImportClause(clause) && clause.name) return undefined;
  const bindings = ts.isImportClause(clause) ? clause.namedBindings : clause.exportClause;
  if (!bindings || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return undefined;
  const values = [...bindings.elements].filter((element) => !element.isTypeOnly);
  if (bindings.elements.length > 0 && values.length === 0) return 'types';
  return values.map((element) => (element.propertyName ?? element.name).text);
}

/** Not the name of a member of something of our own, nor one that a class, an object or a type gives itself. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return !isOurs(parent.expression);
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  const names = parent as unknown as { name?: ts.Node };
  const isMember = ts.isClassElement(parent) || ts.isObjectLiteralElement(parent) || ts.isTypeElement(parent);
  return !(isMember && names.name === node);
}

/** What a class extends is there when the program runs. */
const isExtended = ({ parent }: ts.Node): boolean =>
  ts.isHeritageClause(parent) && parent.token === ts.SyntaxKind.ExtendsKeyword && ts.isClassLike(parent.parent);

/** A member of `this`, however deep. */
function isOurs(expression: ts.Expression): boolean {
  if (expression.kind === ts.SyntaxKind.ThisKeyword) return true;
  return ts.isPropertyAccessExpression(expression) && isOurs(expression.expression);
}
