import { connections, occasions, programs } from '../../../src/help/connections.ts';
import { keyHeaderOf, providers } from '../../../src/llm/models/providers.ts';
import { cell } from './workflowTables.ts';

/** The tables of the page of what leaves this machine. */
export const connectionTables: Record<string, () => string> = {
  connections: () =>
    table(
      ['connection', 'when', 'destination', 'data'],
      connections.map(({ what, when, to, carries }) => [what, when, to, carries]),
    ),
  occasions: () =>
    table(
      ['request', 'when', 'model', 'data'],
      occasions.map(({ what, when, model, carries }) => [what, when, model, carries]),
    ),
  programs: () =>
    table(
      ['program', 'when', 'connects'],
      programs.map(({ what, when, connects }) => [what, when, connects]),
    ),
  providers: () =>
    table(
      ['provider', 'default address', 'key'],
      providers.map(({ id, label, baseUrl, key }) => [
        `${label} (\`${id}\`)`,
        baseUrl ? `\`${baseUrl}\`` : 'none',
        key === 'none' ? 'none' : `in \`${keyHeaderOf(id)}\`${key === 'optional' ? ', if you store one' : ''}`,
      ]),
    ),
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
