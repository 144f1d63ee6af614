import type { Row } from './measure.ts';

/** What one benchmark said. */
export interface Told {
  name: string;
  code: number;
  rows: readonly Row[];
}

/** All of them as one table: what each measured, how much of its budget that takes, and the numbers. */
export function tableOf(all: readonly Told[]): string[] {
  const rows = all.flatMap(({ name, code, rows }) => {
    const cells = rows.map(({ what, numbers, within, taken }) => [
      name,
      within ? 'ok' : 'OVER',
      taken === undefined ? '' : `${Math.round(taken * 100)} %`,
      what,
      Object.entries(numbers)
        .map(([of, number]) => `${of} ${number.trim()}`)
        .join(', '),
    ]);
    if (code !== 0 && rows.every(({ within }) => within))
      return [...cells, [name, 'FAILED', '', 'it says above why', '']];
    return cells.length > 0 ? cells : [[name, '–', '', 'nothing could be measured here: it says above why', '']];
  });
  const table = [['benchmark', '', 'of budget', 'what', 'numbers'], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((cells) => cells[column]!.length)));
  return table.map((cells) =>
    cells
      .map((cell, column) => (column === 2 ? cell.padStart(widths[2]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
}
