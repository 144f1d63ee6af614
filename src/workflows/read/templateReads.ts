import { childrenOf, functions, identifierName, type Node } from '../template/language.ts';

/** Literal parts of a name in a template: `state.result.text`. */
export type TemplateRead = readonly string[];

export function readsOf(tree: Node): TemplateRead[] {
  const reads: TemplateRead[] = [];
  const bound = boundIn(tree);
  const look = (node: Node | undefined): void => {
    if (!node) return;
    const { type, filter, callee, args = [] } = node;
    if (type === 'TestExpression') inside(node.operand);
    else if (type === 'FilterExpression') {
      (identifierName(filter) === 'default' ? inside : look)(node.operand);
      for (const one of filter?.args ?? []) look(one);
    } else if (type === 'CallExpression') {
      if (callee?.type === 'MemberExpression') look(callee.object);
      for (const one of args) look(one);
    } else if (type === 'KeywordArgumentExpression') look((node as unknown as { value: Node }).value);
    else if (type === 'Identifier' || type === 'MemberExpression') {
      add(node);
      inside(node);
    } else for (const child of childrenOf(node)) look(child);
  };
  const inside = (node: Node | undefined): void => {
    if (node?.type === 'MemberExpression') {
      if (node.computed) look(node.property);
      inside(node.object);
    } else if (node && node.type !== 'Identifier') look(node);
  };
  const add = (node: Node): void => {
    const path = pathOf(node);
    if (path && !bound.has(path[0]!)) reads.push(path);
  };
  look(tree);
  return reads;
}

function pathOf(node: Node): string[] | undefined {
  if (node.type === 'Identifier') return [String(node.value)];
  if (node.type !== 'MemberExpression') return undefined;
  const before = pathOf(node.object!);
  if (!before || isOpen(node.object!)) return before;
  return isOpen(node) ? before : [...before, String(node.property?.value)];
}

const isOpen = (node: Node): boolean =>
  node.type === 'MemberExpression' &&
  (isOpen(node.object!) ||
    node.property?.type === 'IntegerLiteral' ||
    (!!node.computed && node.property?.type !== 'StringLiteral'));

function boundIn(tree: Node): Set<string> {
  const names = new Set([...language, ...Object.keys(functions)]);
  for (const open = [tree]; open.length > 0; ) {
    const node = open.pop()! as Node &
      Record<'loopvar' | 'assignee' | 'key', Node | undefined> & { callerArgs?: Node[] };
    const named = [node.loopvar, node.assignee, ...(node.type === 'Macro' ? [node.name, ...(node.args ?? [])] : [])];
    for (const one of [...named, ...(node.callerArgs ?? [])]) for (const name of namesIn(one)) names.add(name);
    open.push(...childrenOf(node));
  }
  return names;
}

function namesIn(target: Node | undefined): string[] {
  if (target?.type === 'Identifier') return [String(target.value)];
  if (target?.type === 'TupleLiteral') return [...childrenOf(target)].flatMap(namesIn);
  if (target?.type === 'KeywordArgumentExpression') return namesIn((target as unknown as { key: Node }).key);
  return [];
}

const language = 'true false none True False None loop caller varargs kwargs namespace'.split(' ');
