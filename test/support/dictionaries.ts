import path from 'node:path';
import ts from 'typescript';

/**
 * Places where the keys of an object are taken for an order, or for a set of anybody's names: a write under a computed key into a record
 * that is no `Dictionary`, a `Dictionary` that is listed in the order of its keys, and one that is made with a prototype.
 * @param files absolute; their types decide, so that no place has to be named here
 */
export function keyBreaches(files: readonly string[], options: ts.CompilerOptions, root: string): string[] {
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const breaches: string[] = [];

  const isDictionary = (type: ts.Type): boolean =>
    type.isUnion()
      ? type.types.some(isDictionary)
      : checker.getPropertiesOfType(type).some(({ name }) => /^__@arbitraryKeys@/.test(name));
  const isOpen = (type: ts.Type): boolean =>
    type.isUnion()
      ? type.types.some(isOpen)
      : (type.flags & ts.TypeFlags.Object) !== 0 && checker.getIndexInfoOfType(type, ts.IndexKind.String) !== undefined;
  const isAnyName = (key: ts.Expression): boolean =>
    !ts.isStringLiteralLike(key) && (checker.getTypeAtLocation(key).flags & ts.TypeFlags.String) !== 0;
  const isWritten = (node: ts.Expression): boolean => {
    const { parent } = node;
    if (!ts.isBinaryExpression(parent) || parent.left !== node) return ts.isDeleteExpression(parent);
    const { kind } = parent.operatorToken;
    return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
  };
  const lists = (node: ts.Node): ts.Expression | undefined => {
    if (ts.isForInStatement(node)) return node.expression;
    const isListing = ts.isCallExpression(node) && /^Object\.(entries|keys|values)$/.test(node.expression.getText());
    return isListing ? node.arguments[0] : undefined;
  };

  const look = (node: ts.Node): void => {
    const listed = lists(node);
    if (listed && isDictionary(checker.getTypeAtLocation(listed))) breach(node, 'goes by the order of keys');
    if (ts.isElementAccessExpression(node) && isWritten(node) && isAnyName(node.argumentExpression)) {
      const type = checker.getTypeAtLocation(node.expression);
      if (isOpen(type) && !isDictionary(type)) breach(node, 'writes any name into a record that is no Dictionary');
    }
    if (ts.isObjectLiteralExpression(node)) {
      const wanted = checker.getContextualType(node);
      if (wanted && isDictionary(wanted)) breach(node, 'makes a Dictionary with a prototype');
    }
    ts.forEachChild(node, look);
  };
  const breach = (node: ts.Node, what: string): void => {
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const text = node.getText().replace(/\s+/g, ' ').slice(0, 60);
    breaches.push(`${path.relative(root, file.fileName)}:${line + 1} ${what}: ${text}`);
  };
  const own = new Set(files);
  for (const file of program.getSourceFiles())
    if (own.has(file.fileName) && !file.fileName.endsWith('/protocol/values/dictionary.ts')) look(file);
  return breaches;
}
