import { connections, occasions, programs } from '../../../src/help/connections.ts';
import { keyHeaderOf, providers } from '../../../src/llm/providers.ts';
import { cell } from './workflowTables.ts';

/** The tables of the page of what leaves this machine. */
export const connectionTables: Record<string, () => string> = {
  connections: () =>
    table(
      ['what', 'when', 'to where', 'with what'],
      connections.map(({ what, when, to, carries }) => [what, when, to, carries]),
    ),
  occasions: () =>
    table(
      ['what', 'when', 'which model', 'with what'],
      occasions.map(({ what, when, model, carries }) => [what, when, model, carries]),
    ),
  programs: () =>
    table(
      ['what', 'when', 'connects'],
      programs.map(({ what, when, connects }) => [what, when, connects]),
    ),
  providers: () =>
    table(
      ['provider', 'its address, unless you say another', 'its key'],
      providers.map(({ id, label, baseUrl, key }) => [
        `${label} (\`${id}\`)`,
        baseUrl ? `\`${baseUrl}\`` : 'you say where',
        key === 'none' ? 'none' : `in \`${keyHeaderOf(id)}\`${key === 'optional' ? ', when you save one' : ''}`,
      ]),
    ),
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
