import assert from 'node:assert/strict';
import { programForOutside } from '../../../src/tools/commands/unsandboxedPrograms.ts';

describe('programs that do not work in a sandbox', () => {
  const cases: [command: string, program: string | undefined][] = [
    ['docker compose ps', 'docker'],
    ['cd app && DOCKER_HOST=x docker ps', 'docker'],
    ['/usr/bin/sudo ls', 'sudo'],
    ['npm test; ssh host', 'ssh'],
    ['timeout 5 gh pr view', 'gh'],
    ['git push', 'git push'],
    ['git -C app fetch --all', 'git fetch'],
    ['git submodule update --init', 'git submodule'],
    ['git status && git commit -m "push"', undefined],
    ['echo docker', undefined],
    ['cat docker-compose.yml | grep ssh', undefined],
    ['npm run docker', undefined],
  ]; // biome-ignore format: a table
  for (const [command, program] of cases)
    it(`${command}: ${program ?? 'none'}`, () => assert.equal(programForOutside(command), program));
});
