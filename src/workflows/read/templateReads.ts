import { identifierName, type TemplateNode, templateFunctions, templateNodeChildren } from '../template/language.ts';

/** Literal parts of a name in a template: `state.result.text`. */
export type TemplateVariablePath = readonly string[];

export function variablesReadByTree(tree: TemplateNode): TemplateVariablePath[] {
  const reads: TemplateVariablePath[] = [];
  const bound = boundIn(tree);
  const look = (node: TemplateNode | undefined): void => {
    if (!node) return;
    const { type, filter, callee, args = [] } = node;
    if (type === 'TestExpression') inside(node.operand);
    else if (type === 'FilterExpression') {
      (identifierName(filter) === 'default' ? inside : look)(node.operand);
      for (const one of filter?.args ?? []) look(one);
    } else if (type === 'CallExpression') {
      if (callee?.type === 'MemberExpression') look(callee.object);
      for (const one of args) look(one);
    } else if (type === 'KeywordArgumentExpression') look((node as unknown as { value: TemplateNode }).value);
    else if (type === 'Identifier' || type === 'MemberExpression') {
      add(node);
      inside(node);
    } else for (const child of templateNodeChildren(node)) look(child);
  };
  const inside = (node: TemplateNode | undefined): void => {
    if (node?.type === 'MemberExpression') {
      if (node.computed) look(node.property);
      inside(node.object);
    } else if (node && node.type !== 'Identifier') look(node);
  };
  const add = (node: TemplateNode): void => {
    const path = pathOf(node);
    if (path && !bound.has(path[0]!)) reads.push(path);
  };
  look(tree);
  return reads;
}

function pathOf(node: TemplateNode): string[] | undefined {
  if (node.type === 'Identifier') return [String(node.value)];
  if (node.type !== 'MemberExpression') return undefined;
  const before = pathOf(node.object!);
  if (!before || isOpen(node.object!)) return before;
  return isOpen(node) ? before : [...before, String(node.property?.value)];
}

const isOpen = (node: TemplateNode): boolean =>
  node.type === 'MemberExpression' &&
  (isOpen(node.object!) ||
    node.property?.type === 'IntegerLiteral' ||
    (!!node.computed && node.property?.type !== 'StringLiteral'));

function boundIn(tree: TemplateNode): Set<string> {
  const names = new Set([...language, ...Object.keys(templateFunctions)]);
  for (const open = [tree]; open.length > 0; ) {
    const node = open.pop()! as TemplateNode &
      Record<'loopvar' | 'assignee' | 'key', TemplateNode | undefined> & { callerArgs?: TemplateNode[] };
    const named = [node.loopvar, node.assignee, ...(node.type === 'Macro' ? [node.name, ...(node.args ?? [])] : [])];
    for (const one of [...named, ...(node.callerArgs ?? [])]) for (const name of namesIn(one)) names.add(name);
    open.push(...templateNodeChildren(node));
  }
  return names;
}

function namesIn(target: TemplateNode | undefined): string[] {
  if (target?.type === 'Identifier') return [String(target.value)];
  if (target?.type === 'TupleLiteral') return [...templateNodeChildren(target)].flatMap(namesIn);
  if (target?.type === 'KeywordArgumentExpression') return namesIn((target as unknown as { key: TemplateNode }).key);
  return [];
}

const language = 'true false none True False None loop caller varargs kwargs namespace'.split(' ');
