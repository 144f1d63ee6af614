import type { Row } from './row.ts';
import { tool } from './tool.ts';

/** It asks its maker whether there is a newer one whenever it starts. */
const asksForNewer = { kind: 'asks', why: 'It checks the project, and asks its maker for a newer version.' } as const;

export const machineRows: readonly Row[] = [
  ...['terraform validate', 'terraform version', 'tofu validate'].map((command) =>
    tool(command, '-no-color -json', {
      ...asksForNewer,
      oneDash: true,
      yes: [command],
      no: [`${command} -chdir=..`, 'terraform destroy', 'terraform apply'],
    }),
  ),
  ...['terraform fmt', 'tofu fmt'].map((command) =>
    tool(command, '-check -diff -recursive -list=true|false -no-color', {
      ...asksForNewer,
      oneDash: true,
      needs: ['-check'],
      operands: 'paths',
      yes: [`${command} -check -recursive`],
      no: [`${command}`, `${command} -check -write=true`],
    }),
  ),

  ...[
    'docker ps',
    'docker images',
    'docker compose ps',
    'docker compose images',
    'docker compose ls',
    'docker compose top',
    'docker version',
    'docker compose version',
  ].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It lists what runs in containers of this machine.',
      options:
        '-a --all --format= --filter= -f= -q --quiet --no-trunc -n=# --last=# -l --latest -s --size --services --status=running|exited|paused|created|dead|restarting --orphans=true|false',
      operands: /^[\w.-]+$/,
      yes: [command],
      no: [
        'docker run -v /:/h alpine',
        `${command} --context=x`,
        'docker -H tcp://x ps',
        'docker compose -f evil.yml ps',
      ],
    }),
  ),
  ...['docker logs', 'docker compose logs', 'docker port', 'docker compose port'].map(
    (command): Row => ({
      command,
      kind: 'looks',
      why: 'It shows what a container of this machine has written.',
      options: '--tail=# --tail=all -n=# -n=all --since= --until= -t --timestamps --no-color --no-log-prefix --details',
      operands: /^[\w.-]+(\/(tcp|udp))?$/,
      yes: [`${command} db`, `${command} web`],
      no: [`${command} --host=x db`, 'docker exec db sh', 'docker compose exec db sh', 'docker compose down -v'],
    }),
  ),
];
