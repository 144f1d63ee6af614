// Which sentences the code has for people: `npx tsx test/l10n/keys.ts [part of a path …]` prints those that the German bundle lacks.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../..');

/** English sentences with the places they stand at; and places where what is told is not known from the code. */
export interface Keys {
  keys: Map<string, string[]>;
  unknown: string[];
}

/** Of `src` and `webview`. A key is whatever the type of what is told allows, so that tables (`as const`) need no marks. */
export function keysOf(program: ts.Program): Keys {
  const checker = program.getTypeChecker();
  const found: Keys = { keys: new Map(), unknown: [] };
  for (const [name, file] of ownFiles(program)) {
    const place = (node: ts.Node) => `${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    const look = (node: ts.Node): void => {
      if (ts.isCallExpression(node)) {
        const told = toldBy(checker, node);
        if (told) {
          for (const key of told.keys) found.keys.set(key, [...(found.keys.get(key) ?? []), place(node)]);
          if (!told.all) found.unknown.push(`${place(node)} ${node.getText().slice(0, 80)}`);
        }
      }
      ts.forEachChild(node, look);
    };
    look(file);
  }
  return found;
}

/** Each by its name, without the one that all are told by. */
const ownFiles = (program: ts.Program): [string, ts.SourceFile][] =>
  program
    .getSourceFiles()
    .map((file): [string, ts.SourceFile] => [path.relative(root, file.fileName), file])
    .filter(([name]) => /^(src|webview)\//.test(name) && name !== 'src/protocol/text/l10n.ts');

function toldBy(checker: ts.TypeChecker, call: ts.CallExpression): { keys: string[]; all: boolean } | undefined {
  const name = l10nName(checker, call.expression);
  if (name === 't' || name === 'message') return literals(checker, call.arguments[0]);
  if (name !== 'localizedCount') return undefined;
  const [one, many] = [literals(checker, call.arguments[1]), call.arguments[2] && literals(checker, call.arguments[2])];
  const nouns = [...one.keys, ...(many ? many.keys : one.keys.map((noun) => `${noun}s`))];
  return { keys: nouns.map((noun) => `{0} ${noun}`), all: one.all && (many?.all ?? true) };
}

/** The files that tell people something by themselves. */
export function tellersOf(program: ts.Program): string[] {
  const checker = program.getTypeChecker();
  const tells = (node: ts.Node): boolean =>
    (ts.isCallExpression(node) && l10nName(checker, node.expression) === 't') || !!ts.forEachChild(node, tells);
  return ownFiles(program).flatMap(([name, file]) => (tells(file) ? [name] : []));
}

/** The places of values in a sentence, in the order of their numbers. */
export const placeholdersOf = (words: string): string[] => (words.match(/\{\d+\}/g) ?? []).sort();

/** What it is called in `protocol/text/l10n.ts`, whatever it is called here. */
export function l10nName(checker: ts.TypeChecker, callee: ts.Expression): string | undefined {
  if (!ts.isIdentifier(callee)) return undefined;
  let symbol = checker.getSymbolAtLocation(callee);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  const from = symbol?.declarations?.[0]?.getSourceFile().fileName;
  return from?.endsWith('/src/protocol/text/l10n.ts') ? symbol!.name : undefined;
}

function literals(checker: ts.TypeChecker, node: ts.Expression | undefined): { keys: string[]; all: boolean } {
  if (!node) return { keys: [], all: false };
  const type = checker.getTypeAtLocation(node);
  const parts = type.isUnion() ? type.types : [type];
  const keys = parts.flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
  // A `LocalizedMessage` was made by a call of its own, and is looked at there.
  return { keys, all: parts.every((part) => part.isStringLiteral() || !(part.flags & ts.TypeFlags.StringLike)) };
}

export function programOf(): ts.Program {
  const files = ['src', 'webview'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.join(root, folder, name)),
  );
  const { config } = ts.readConfigFile(path.join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...config.compilerOptions,
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      incremental: false,
      tsBuildInfoFile: undefined,
    },
    root,
  );
  return ts.createProgram(files, options);
}

export const germanFile = path.join(root, 'src/l10n/bundle.l10n.de.json');
export const formerFile = path.join(root, 'src/l10n/former.json');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const parts = process.argv.slice(2);
  const { keys, unknown } = keysOf(programOf());
  const german = JSON.parse(readFileSync(germanFile, 'utf8')) as Record<string, string>;
  const isAsked = (place: string) => parts.length === 0 || parts.some((part) => place.includes(part));
  const lacking = [...keys].filter(([key, places]) => !Object.hasOwn(german, key) && places.some(isAsked));
  console.log(JSON.stringify(Object.fromEntries(lacking.map(([key, places]) => [key, places[0]])), null, 2));
  for (const place of unknown.filter(isAsked)) console.error('not known from the code:', place);
}
