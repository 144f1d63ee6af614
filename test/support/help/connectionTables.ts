import { apiKeyHeaderName, providers } from '../../../src/llm/models/providers.ts';
import { networkConnections, networkOccasions, startedPrograms } from './connections.ts';
import { cell } from './workflowTables.ts';

/** The tables of the page of what leaves this machine. */
export const connectionTables: Record<string, () => string> = {
  connections: () =>
    table(
      ['connection', 'when', 'destination', 'data'],
      networkConnections.map(({ what, when, to, carries }) => [what, when, to, carries]),
    ),
  occasions: () =>
    table(
      ['request', 'when', 'model', 'data'],
      networkOccasions.map(({ what, when, model, carries }) => [what, when, model, carries]),
    ),
  programs: () =>
    table(
      ['program', 'when', 'connects'],
      startedPrograms.map(({ what, when, connects }) => [what, when, connects]),
    ),
  providers: () =>
    table(
      ['provider', 'default address', 'key'],
      providers.map(({ id, label, baseUrl, key }) => [
        `${label} (\`${id}\`)`,
        baseUrl ? `\`${baseUrl}\`` : 'none',
        key === 'none' ? 'none' : `in \`${apiKeyHeaderName(id)}\`${key === 'optional' ? ', if you store one' : ''}`,
      ]),
    ),
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
