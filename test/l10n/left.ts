// Sentences for people that nothing translates: `npx tsx test/l10n/left.ts [part of a path …]`.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { keysOf, l10nName, programOf } from './keys.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Two words, or one that begins like the words on a button; without what is the same in every language. */
const readsLikeWords = (text: string): boolean => {
  const own = text.replace(sameEverywhere, '');
  return /\p{L}{2,}[,;:.!?…]? +[\p{L}{(“]/u.test(own) || /^[A-Z][a-z]{2,}…?[.!?]?$/.test(own.trim());
};

/** Names, units after a value, and the keys of the keyboard. */
const sameEverywhere = /\b(?:Towpath|Markdown|Tab, [A-Z])\b:?|\{\d*\} ?(?:ms|s|min|h|[kMG]i?B)\b/g;

const isPage = /<\/?[a-z]\w*[ >]/;

/** Attributes that are read or shown. */
const spoken = /\b(?:title|aria-label|aria-description|placeholder|label|alt)="([^"]*)"/g;

/** What of the page's text between two values a person reads. */
function ofPage(html: string): string[] {
  const attributes = [...html.matchAll(spoken)].map(([, text]) => text!);
  const texts = html
    .replace(/<!--.*?-->/gs, '')
    .replace(/<[^>]*>?/g, '\n')
    .replace(/^[^<>\n]*>/, '')
    .split('\n');
  return [...attributes, ...texts]
    .map((text) => text.trim())
    .filter((text) => /\p{L}{2}/u.test(text) && !/^&\w+;$/.test(text));
}

const isLog = /(?:^|\.)(?:log|console)\??\.\w+$|^log$|^this\.log$|RegExp$/;

/** Each as `file:line words`. `isOurs`: which files speak to people alone. */
export function leftOf(program: ts.Program, isOurs: (file: string) => boolean): string[] {
  const checker = program.getTypeChecker();
  const { keys } = keysOf(program);
  const left: string[] = [];
  for (const file of program.getSourceFiles()) {
    const name = path.relative(root, file.fileName);
    if (!isOurs(name)) continue;
    const tell = (node: ts.Node, words: string) =>
      left.push(
        `${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${words.replaceAll('\n', '\\n')}`,
      );
    const look = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && isLog.test(node.expression.getText())) return;
      if (isKey(checker, node) || isCompared(node)) return;
      if (ts.isTaggedTemplateExpression(node)) {
        const { template } = node;
        const parts = ts.isNoSubstitutionTemplateLiteral(template)
          ? [template.text]
          : [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)];
        if (/^(html|svg)$/.test(node.tag.getText())) for (const words of parts.flatMap(pageWords())) tell(node, words);
        if (!ts.isNoSubstitutionTemplateLiteral(template))
          for (const [nth, span] of template.templateSpans.entries())
            if (!/(?:class|\.style)="?[^"]*$/.test(parts[nth]!.split('>').at(-1)!)) look(span.expression);
        return;
      }
      if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
        const isToldSo = keys.has(node.text) || keys.has(`{0} ${node.text}`); // also behind what it is said of
        if (readsLikeWords(node.text) && !isToldSo && !isName(checker, node)) tell(node, node.text);
      } else if (ts.isTemplateExpression(node) && !isOf(keys, checker.getTypeAtLocation(node))) {
        const words = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('{}');
        const told = isPage.test(words) ? ofPage(words.replaceAll('{}', '')) : [words];
        for (const one of told)
          if (readsLikeWords(one) || / \p{L}{2,}|\p{L}{2,} /u.test(one.replace(sameEverywhere, ''))) tell(node, one);
      }
      ts.forEachChild(node, look);
    };
    ts.forEachChild(file, look);
  }
  return left;
}

/** Text of a page goes on behind a value: whether it is within a tag is known from what came before. */
function pageWords(): (part: string) => string[] {
  let inTag = false;
  return (part) => {
    const text = inTag ? `<${part}` : part;
    const [opened, closed] = [text.lastIndexOf('<'), text.lastIndexOf('>')];
    inTag = opened > closed;
    return ofPage(text);
  };
}

/** A template of literals alone, which the compiler knows as one. */
const isOf = (keys: ReadonlyMap<string, unknown>, type: ts.Type): boolean =>
  type.isStringLiteral() && (keys.has(type.value) || keys.has(`{0} ${type.value}`));

/** It is told, or its English is kept to be told. */
function isKey(checker: ts.TypeChecker, node: ts.Node): boolean {
  const told = ts.isAsExpression(node.parent) ? node.parent : node;
  return (
    (ts.isStringLiteral(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)) &&
    ts.isCallExpression(told.parent) &&
    told.parent.arguments.some((one) => one === told) &&
    /^(?:t|message|localizedCount)$/.test(l10nName(checker, told.parent.expression) ?? '')
  );
}

/** Something is held to it, or looked for by it. */
function isCompared(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isArrayLiteralExpression(node))
    return ts.isPropertyAccessExpression(parent) && parent.expression === node && parent.name.text === 'includes';
  return (
    ts.isCallExpression(parent) &&
    ts.isPropertyAccessExpression(parent.expression) &&
    parent.arguments[0] === node &&
    /^(?:startsWith|endsWith|includes|replace|replaceAll|split|indexOf|has|closest|matches|querySelector(?:All)?)$/.test(
      parent.expression.name.text,
    )
  );
}

/** It names something of ours: one of the strings of its type, or of another program. */
function isName(checker: ts.TypeChecker, node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral): boolean {
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isLiteralTypeNode(parent) || ts.isExportDeclaration(parent)) return true;
  if (ts.isCaseClause(parent) || (ts.isBinaryExpression(parent) && /^[=!]==/.test(parent.operatorToken.getText())))
    return true;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return true;
  const type = checker.getContextualType(node);
  const parts = type ? (type.isUnion() ? type.types : [type]) : [];
  return parts.some((part) => part.isStringLiteral()) && !parts.some((part) => part.flags & ts.TypeFlags.String);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const parts = process.argv.slice(2);
  const isOurs = (file: string) =>
    (parts.length > 0 ? parts : ['src/extension/', 'webview/']).some((part) => file.includes(part)) &&
    /^(src|webview)\//.test(file);
  const left = leftOf(programOf(), isOurs);
  for (const line of left) console.log(line);
  console.error(left.length);
}
