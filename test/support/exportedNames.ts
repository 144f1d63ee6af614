import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { codeBelow, productFiles } from './sourceFiles.ts';

export interface ExportedName {
  name: string;
  /** File relative to the root. */
  file: string;
}

/** Words that projects of this field hardly use in names, or with another meaning; each with the term to use. */
export const privateWords: Readonly<Record<string, string>> = {
  told: 'notified, sent',
  hear: 'receive',
  heed: 'obey',
  lent: 'provided by the editor',
  aside: 'worker',
  took: 'duration, usage',
  kept: 'stored',
  said: 'text, message',
  words: 'text, label, message',
  place: 'path, location, position',
};

/** A limit is `max…`; `most` may only stand at the end of a name. */
const isPrivate = (word: string, index: number, all: readonly string[]): boolean =>
  /^(told|hears?|heard|hearing|heed(s|ing)?|lent|asides?|took|kept|said|words|place[sd]?)$/i.test(word) ||
  (/^most$/i.test(word) && index < all.length - 1);

/** Folders with one file of a kind for each provider, whose names repeat. */
const isOfProvider = (file: string): boolean => /\/(anthropic|google|ollama|openai)\//.test(file);

/** Words of a name in camel case or capitals. */
export const wordsIn = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[\s_]+/);

/** All names that source files export, by declaration. */
export function exportedNames(root: string): ExportedName[] {
  return productFiles(root).flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    return source.statements
      .filter(
        (one) =>
          ts.canHaveModifiers(one) && ts.getModifiers(one)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
      )
      .flatMap((one) => declaredIn(one).map((name) => ({ name, file })));
  });
}

const declaredIn = (statement: ts.Statement): string[] => {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) => boundIn(name));
  const { name } = statement as ts.Statement & { name?: ts.Node };
  return name && ts.isIdentifier(name) ? [name.text] : [];
};

const boundIn = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundIn(element.name) : []));

/** Names with a private word, as `file name`. */
export const privateNames = (names: readonly ExportedName[]): string[] =>
  names.filter(({ name }) => wordsIn(name).some(isPrivate)).map(({ name, file }) => `${file} ${name}`);

/** Names that two files export outside of the folders of providers. */
export function repeatedNames(names: readonly ExportedName[]): string[] {
  const files = new Map<string, Set<string>>();
  for (const { name, file } of names)
    if (!isOfProvider(file)) files.set(name, (files.get(name) ?? new Set()).add(file));
  return [...files].filter(([, all]) => all.size > 1).map(([name, all]) => `${name}: ${[...all].join(', ')}`);
}

/** Exports that no other file of the sources, the tests or the build names. */
export function unusedNames(root: string, names: readonly ExportedName[]): string[] {
  const users = new Map<string, Set<string>>();
  for (const file of [...productFiles(root), ...codeBelow(root, 'test'), 'esbuild.mjs'])
    for (const word of new Set(readFileSync(path.join(root, file), 'utf8').match(/[A-Za-z_$][\w$]*/g) ?? []))
      users.set(word, (users.get(word) ?? new Set()).add(file));
  return names
    .filter(({ name, file }) => ![...(users.get(name) ?? [])].some((user) => user !== file))
    .map(({ name, file }) => `${file} ${name}`);
}

/** Files that share their name with another source file. */
export function sharedFileNames(root: string): string[] {
  const byName = new Map<string, string[]>();
  for (const file of productFiles(root))
    byName.set(path.basename(file), [...(byName.get(path.basename(file)) ?? []), file]);
  return [...byName.values()].filter((all) => all.length > 1).flat();
}
