import { applyEdits, findNodeAtLocation, parseTree } from 'jsonc-parser';

export function replaceCellSource(text: string, at: number, source: string): string {
  const tree = parseTree(text);
  const node = tree && findNodeAtLocation(tree, ['cells', at, 'source']);
  if (!node) throw new Error(`There is no cell ${at + 1}.`);
  const written = text.slice(node.offset, node.offset + node.length);
  const content = node.type === 'array' ? asLines(source, written) : JSON.stringify(source);
  return applyEdits(text, [{ offset: node.offset, length: node.length, content }]);
}

function asLines(source: string, written: string): string {
  const lines = source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [, lead = ''] = /^\[(\s*)"/.exec(written) ?? [];
  const [, tail = ''] = /"(\s*)\]$/.exec(written) ?? [];
  const between = /",(\s*)"/.exec(written)?.[1] ?? (lead || ' ');
  return lines.length === 0 ? '[]' : `[${lead}${lines.map((line) => JSON.stringify(line)).join(`,${between}`)}${tail}]`;
}
