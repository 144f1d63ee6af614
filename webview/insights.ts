// Script of the Insights page: sorts its tables and forwards actions to the host.

declare function acquireVsCodeApi(): { postMessage(message: unknown): void };
const editor = acquireVsCodeApi();

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  if (!button) return;
  const { scope } = button.dataset;
  if (scope !== undefined) editor.postMessage({ type: 'scope', scope });
  else if (button.hasAttribute('data-csv')) editor.postMessage({ type: 'csv' });
  else if (button.hasAttribute('data-by')) sortBy(button.closest('th')!);
});

/** Sorts a table: numbers descending, texts ascending, reversed by a second press. Unknown values are last. */
function sortBy(head: HTMLTableCellElement): void {
  const table = head.closest('table')!;
  const body = table.tBodies[0]!;
  const column = head.cellIndex;
  const rows = [...body.rows];
  const sortedBy = (row: HTMLTableRowElement) => row.cells[column]!.dataset.sort;
  const isNumber = rows.some((row) => row.cells[column]!.classList.contains('number'));
  const before = head.getAttribute('aria-sort');
  const isDown = before === 'none' ? isNumber : before === 'ascending';
  rows.sort((one, other) => {
    const [own, its] = [sortedBy(one), sortedBy(other)];
    if (own === undefined || its === undefined) return Number(own === undefined) - Number(its === undefined);
    const order = isNumber ? Number(own) - Number(its) : own.localeCompare(its);
    return isDown ? -order : order;
  });
  body.append(...rows);
  for (const one of table.querySelectorAll('th')) one.setAttribute('aria-sort', 'none');
  head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
}
