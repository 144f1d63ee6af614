import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** Names of values that hold text for people or models. */
const isTextName = (name: string) =>
  /^(message|messageText|errorText|english|automatic)$|Message$|Sentence$/.test(name);
/** Names of values with text that is stored in runs. */
const isStoredName = (name: string) => /^(content|note|why)$/.test(name);

const textMethods = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'match', 'matchAll', 'search', 'split']);
const lookups = new Set(['has', 'get', 'includes', 'indexOf', 'hasOwn']);

/**
 * Returns the places where code decides by the words of a message, as `file:line expression`: a comparison of text with a sentence,
 * a search for words in a message, and a look-up under a message.
 */
export function messageDecisions(
  files: readonly string[],
  options: ts.CompilerOptions,
  root: string,
  readsStored: (file: string) => boolean = () => true,
): string[] {
  const program = ts.createProgram([...files], { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  const found: string[] = [];
  let isStrict = false;

  for (const file of files) {
    isStrict = readsStored(path.relative(root, file));
    const source = program.getSourceFile(file)!;
    const visit = (node: ts.Node): void => {
      if (decides(node)) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart());
        const text = node.getText().replace(/\s+/g, ' ').slice(0, 140);
        found.push(`${path.relative(root, file)}:${line + 1} ${text}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;

  function decides(node: ts.Node): boolean {
    if (ts.isBinaryExpression(node)) return isEquality(node.operatorToken.kind) && compares(node.left, node.right);
    if (ts.isCaseClause(node)) return compares(node.parent.parent.expression, node.expression);
    if (ts.isElementAccessExpression(node)) return isText(node.argumentExpression);
    if (!ts.isCallExpression(node)) return false;
    if (ts.isIdentifier(node.expression)) return isStrict && matchesSentences(node.arguments);
    if (!ts.isPropertyAccessExpression(node.expression)) return false;
    const { expression: receiver, name } = node.expression;
    const [first] = node.arguments;
    if (!first) return false;
    if (textMethods.has(name.text) && isString(receiver))
      return isText(receiver) ? hasWords(first) : isStrict && isOpen(receiver) && hasSentence(first);
    if (name.text === 'test' || name.text === 'exec')
      return isText(first) ? hasWords(receiver) : isStrict && isOpen(first) && hasSentence(receiver);
    if (!lookups.has(name.text)) return false;
    if (isText(node.arguments.at(-1)!)) return !isString(receiver) || hasWords(receiver);
    return name.text === 'includes' && !isString(receiver) && isOpen(first) && sentencesIn(elementOf(receiver));
  }

  /** Hands on a list of sentences and a text to look for among them. */
  function matchesSentences(given: readonly ts.Expression[]): boolean {
    return given.some((one) => sentencesIn(elementOf(one))) && given.some((one) => isString(one) && isOpen(one));
  }

  function compares(one: ts.Expression, other: ts.Expression): boolean {
    return [
      [one, other],
      [other, one],
    ].some(([text, words]) => {
      if (isText(text!) && hasWords(words!)) return true;
      return isOpen(text!) && sentencesIn(checker.getTypeAtLocation(words!));
    });
  }

  /** A property or a variable with the name of a text, `error.message ?? ''` and `error.message.trim()` included. */
  function isText(node: ts.Expression): boolean {
    if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
      return isText(node.expression);
    if (ts.isBinaryExpression(node)) return isText(node.left) || isText(node.right);
    if (ts.isTemplateExpression(node)) return node.templateSpans.some(({ expression }) => isText(expression));
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
      return isString(node.expression.expression) && isText(node.expression.expression);
    const name = ts.isIdentifier(node) ? node : ts.isPropertyAccessExpression(node) ? node.name : undefined;
    return (
      name !== undefined &&
      (isTextName(name.text) || (isStrict && isStoredName(name.text) && isOpen(node))) &&
      isString(node)
    );
  }

  function isString(node: ts.Node): boolean {
    const type = checker.getNonNullableType(checker.getTypeAtLocation(node));
    const parts = type.isUnion() ? type.types : [type];
    return parts.every(({ flags }) => flags & ts.TypeFlags.StringLike);
  }

  /** Any text may be in it. */
  function isOpen(node: ts.Node): boolean {
    const type = checker.getNonNullableType(checker.getTypeAtLocation(node));
    const parts = type.isUnion() ? type.types : [type];
    return parts.some(({ flags }) => flags & (ts.TypeFlags.String | ts.TypeFlags.Any | ts.TypeFlags.Unknown));
  }

  function elementOf(node: ts.Node): ts.Type | undefined {
    return checker.getIndexTypeOfType(checker.getTypeAtLocation(node), ts.IndexKind.Number);
  }

  /** One of these literal types is a sentence: three words or more. */
  function sentencesIn(type: ts.Type | undefined): boolean {
    const parts = type?.isUnion() ? type.types : type ? [type] : [];
    return parts.some((part) => part.isStringLiteral() && isSentence(part.value));
  }

  function hasSentence(node: ts.Expression): boolean {
    const pattern = ts.isRegularExpressionLiteral(node) ? node : initialPattern(node);
    return pattern ? isSentence(plainPattern(pattern.text)) : sentencesIn(checker.getTypeAtLocation(node));
  }

  function initialPattern(node: ts.Expression): ts.RegularExpressionLiteral | undefined {
    const symbol = ts.isIdentifier(node) && checker.getSymbolAtLocation(node);
    const declared = symbol ? symbol.valueDeclaration : undefined;
    const initial = declared && ts.isVariableDeclaration(declared) ? declared.initializer : undefined;
    return initial && ts.isRegularExpressionLiteral(initial) ? initial : undefined;
  }

  /** Words in a literal, a pattern, a template or a constant: two letters in a row outside of escapes, classes and groups' names. */
  function hasWords(node: ts.Expression): boolean {
    if (ts.isRegularExpressionLiteral(node)) return patternHasWords(node.text);
    if (ts.isStringLiteralLike(node)) return /\p{L}{2}/u.test(node.text);
    if (ts.isTemplateExpression(node))
      return [node.head, ...node.templateSpans.map(({ literal }) => literal)].some(({ text }) =>
        /\p{L}{2}/u.test(text),
      );
    const type = checker.getTypeAtLocation(node);
    if (type.isStringLiteral() || type.isUnion()) {
      const parts = type.isUnion() ? type.types : [type];
      return parts.some((part) => part.isStringLiteral() && /\p{L}{2}/u.test(part.value));
    }
    const pattern = initialPattern(node);
    return pattern !== undefined && patternHasWords(pattern.text);
  }
}

/**
 * Returns the sentences of errors that name a command (`*Towpath: …*`) or a setting without linking it, as `file:line`.
 * Buttons are made of links alone.
 */
export function unlinked(files: readonly string[], root: string): string[] {
  const found: string[] = [];
  for (const file of files) {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node, isLinked: boolean): void => {
      const name = ts.isCallExpression(node) ? node.expression.getText() : '';
      if (name === 'message' && !isLinked && namesOther((node as ts.CallExpression).arguments[0]!))
        found.push(`${path.relative(root, file)}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
      ts.forEachChild(node, (child) => visit(child, isLinked || name === 'withMessageLinks'));
    };
    visit(source, false);
  }
  return found;
}

const namesOther = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) && /\*Towpath: |\btowpath\.\w/.test(node.text);

const isEquality = (kind: ts.SyntaxKind): boolean =>
  kind === ts.SyntaxKind.EqualsEqualsEqualsToken || kind === ts.SyntaxKind.ExclamationEqualsEqualsToken;

/** Three words or more. */
const isSentence = (text: string): boolean => /\p{L}[\p{L}',]* [^ ]*\p{L}[^ ]* [^ ]*\p{L}/u.test(text);

const patternHasWords = (text: string): boolean => /\p{L}{2}/u.test(plainPattern(text));

/** Text of a pattern without escapes, classes and names of groups. */
const plainPattern = (text: string): string =>
  text.slice(1, text.lastIndexOf('/')).replace(/\\[pP]\{[^}]*\}|\\[a-zA-Z]|\[[^\]]*\]|\(\?<\w+>/g, ' ');
