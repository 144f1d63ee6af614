import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import { commandRuleKinds, type ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import { analyzeCommand } from '../../../src/tools/commands/analyzeCommand.ts';
import { secretFileReason } from '../../../src/tools/policy/secretFiles.ts';
import { headContainsSecrets } from '../../../src/tools/sandbox/secretContent.ts';
import { runArgvPipeline } from '../../../src/tools/shell/argvPipeline.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation } from '../conversation.ts';

const pem = (type: 'pkcs1' | 'pkcs8') =>
  generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type, format: 'pem' }) as string;
const letters = (count: number) =>
  [...randomBytes(count)].map((byte, at) => 'QWertzuiopASdfghjklYXcvbnm9753'[(byte + at) % 30]).join('');
const token = `ghp_${letters(36)}`;

describe('secrets in a text', () => {
  const held: [what: string, text: string | Buffer][] = [
    ['a key', pem('pkcs8')],
    ['a key of the older form', pem('pkcs1')],
    ['a key behind other text', `notes\n\n${pem('pkcs8')}`],
    ['a key in JSON', JSON.stringify({ type: 'service_account', private_key: pem('pkcs8') })],
    ['an indented key', `key: |\n${pem('pkcs8').replace(/^/gm, '    ')}`],
    ['an enciphered key', pem('pkcs1').replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n')],
    ['a key with the line ends of Windows', pem('pkcs8').replaceAll('\n', '\r\n')],
    ['a key in UTF-16', Buffer.from(pem('pkcs8'), 'utf16le')],
    ['a token', `x = ${token}`],
    ['a token in quotes', `{"token":"${token}"}`],
    ['a token of a registry', `//registry.example.com/:_authToken=${letters(36)}`],
    ['a key of a cloud', `aws_secret_access_key = ${letters(40)}`],
    ['a client key of a cluster', `    client-key-data: ${letters(80)}`],
    ['a login of a registry', `{"auths":{"x":{"auth":"${letters(30)}"}}}`],
  ]; // biome-ignore format: a table
  for (const [what, text] of held) it(`${what} is one`, () => assert.equal(headContainsSecrets(text), true));

  const none: [what: string, text: string][] = [
    ['a header alone', 'if (text.includes("-----BEGIN RSA PRIVATE KEY-----")) throw error;'],
    ['an example without a key', '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----'],
    ['an example that says so', `-----BEGIN PRIVATE KEY-----\n${'x'.repeat(64)}\n`],
    ['a public key', '-----BEGIN PUBLIC KEY-----\nMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7vbqajDw4o6gJy8UtmIbkcpnkO3Kw\n'],
    ['the form of a token', 'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'],
    ['an example of a token', 'AKIAIOSFODNN7EXAMPLE'],
    ['a variable', `//registry.npmjs.org/:_authToken=$${'{NPM_TOKEN_OF_THE_WORKFLOW}'}`],
    ['an expression for tokens', 'const form = /ghp_[A-Za-z0-9]{36}/;'],
    ['a hash', 'sha512-9lSvRZ2r0iVTsnnRBqeJ7b1vUjh0WmqQ4wJrVv4sZ0M='],
    ['a name that ends so', 'self._client_auth = ClientAuthentication2(self.query_client)'],
    ['a long name', `task-sk-${'some-long-name-of-a-test-in-a-list'}`],
  ]; // biome-ignore format: a table
  for (const [what, text] of none) it(`${what} is none`, () => assert.equal(headContainsSecrets(text), false));

  it('only the beginning of a text is looked at', () =>
    assert.equal(headContainsSecrets(`${' '.repeat(9000)}${token}`), false));
});

describe('a file with secrets in it and an ordinary name', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    workspace = await temporaryWorkspace({
      'notes/server.txt': `CANARY\n${pem('pkcs8')}`,
      'notes/free.txt': 'CANARY of nobody\n',
    });
  });
  after(() => workspace.cleanup());

  it('is read, mentioned and edited after a question only, and not searched', async () => {
    const { call, asked } = conversation(workspace, { answer: 'deny' });
    const told = [
      await call('fs.read', { path: 'notes/server.txt' }),
      await call('fs.search', { pattern: 'PRIVATE|CANARY' }),
      await call('fs.search', { pattern: 'PRIVATE', path: 'notes/server.txt' }),
      await call('fs.edit', { path: 'notes/server.txt', edits: [{ oldText: 'CANARYX\n', newText: 'x' }] }),
      await call('shell.run', { command: 'head -5 notes/server.txt' }),
      await call('shell.run', { command: 'tail -5 < notes/server.txt' }),
    ];
    const said = JSON.stringify(told);
    assert.equal(said.includes('BEGIN'), false, said);
    assert.equal(said.includes('CANARY of nobody'), true);
    assert.equal(asked.length >= 3, true);
    assert.match(asked[0]!.plan.why, /may contain secrets/);
  });

  it('is asked about as the editor holds it, too', async () => {
    workspace.openText = (path) => (path.endsWith('free.txt') ? `x = ${token}\n` : undefined);
    const { call, asked } = conversation(workspace, { answer: 'deny' });
    await call('fs.read', { path: 'notes/free.txt' });
    assert.equal(asked.length, 1);
    workspace.openText = () => undefined;
  });

  it('is left out by commands that search', async () => {
    for (const command of [
      'rg CANARY',
      'rg -A 3 CANARY notes',
      'rg -v zzz',
      'grep -r CANARY .',
      'grep -rn -A 3 CANARY notes',
    ]) {
      const { reading } = await analyzeCommand(workspace.roots, workspace.root, command);
      if (typeof reading === 'string') continue;
      let seen = '';
      await runArgvPipeline(reading, (chunk) => (seen += chunk), AbortSignal.timeout(20_000), workspace.ripgrep);
      assert.match(seen, /CANARY of nobody/, command);
      assert.doesNotMatch(seen, /PRIVATE|server/, command);
    }
  });
});

describe('names', () => {
  const secret = `AuthKey.p8 auth.json .my.cnf kubeconfig .vault_pass key.properties serviceAccountKey.json app-firebase-adminsdk-x1.json
    local.settings.json secrets.prod.yaml .cargo/credentials.toml .gem/credentials .m2/settings.xml .s3cfg .boto .dev.vars .rails_master_key
    private.asc x.keytab x.ovpn .dockerconfigjson .databrickscfg .terraform.d/credentials.tfrc.json .sentryclirc deploy_key
    config/client_secret.json certs/ca-private.key certs/privkey.pem tests/server.key prod-kubeconfig.yaml aws-credentials.csv SECRETS.JSON /proc/self/environ /proc/1/task/2/environ`;
  const free = `credentials.ts tokenizer.ts secretStorage.ts src/secrets/index.ts kubeconfig.go kubeconfig_test.py secret.md Credentials.java
    tokenizer.json tokens.json tokenizer_config.json passwords.ts reset-password/page.tsx keyboard.properties docs/secrets.md keys.txt
    tests/keys/rsa.pub.pem certs/ca.pem certs/fullchain.pem test/ec256-public.pem keys/release.pub.asc src/credentials/a.ts monkey primary_key.rb settings.xml proc/environ.ts`;
  const words = (text: string) => text.split(/\s+/).filter(Boolean);
  for (const path of words(secret))
    it(`${path}: may hold secrets`, () =>
      assert.notEqual(secretFileReason(path.split('/').filter(Boolean)), undefined));
  for (const path of words(free)) it(`${path}: free`, () => assert.equal(secretFileReason(path.split('/')), undefined));
});

describe('commands that print what is kept secret', () => {
  let workspace: TemporaryWorkspace;
  before(async () => {
    workspace = await temporaryWorkspace({
      '.env': 'S=1\n',
      'src/a.ts': 'x\n',
      'secrets.prod.yaml': 'x\n',
      'auth.json': '{}\n',
    });
  });
  after(() => workspace.cleanup());

  /** Nothing is run; every kind of command is allowed, and every command. */
  async function isAsked(
    command: string,
    rules: readonly ScopedPermissionRule[],
    preset?: ApprovalPolicy['preset'],
  ): Promise<boolean> {
    let ran = false;
    const told = conversation(workspace, {
      policy: { readOnlyCommands: true, rules: [...rules], ...(preset && { preset }) },
      answer: 'deny',
      beforeEvent(event) {
        ran ||= event.type === 'tool-start';
        if (ran) throw new Error('Nothing is run here.');
      },
    });
    await told.call('shell.run', { command }).catch(() => undefined);
    return told.asked.length > 0 || !ran;
  }
  const ofKinds = commandRuleKinds.map(
    (kind): ScopedPermissionRule => ({ scope: 'workspace', effect: 'allow', tool: 'shell.run', kind }),
  );
  const ofAll: ScopedPermissionRule[] = [{ scope: 'user', effect: 'allow', tool: 'shell.run' }];

  const printing = `cat /proc/self/environ|tr '\\0' '\\n' < /proc/1/environ|cat /proc/$PPID/environ|strings /proc/*/environ|cat /proc/se*/environ
    cd /proc/self && cat environ|cat /proc/thread-self/environ|xxd /proc/1/mem|ps eww|ps axe|ps -ef e|ps -o pid,environ|git credential fill
    git credential-store get|gpg --export-secret-keys|gpg2 --armor --export-secret-subkeys x|security find-generic-password -w -s x
    gh auth token|gh auth status --show-token|gcloud auth print-access-token|gcloud auth application-default print-access-token
    aws secretsmanager get-secret-value --secret-id x|aws configure get aws_secret_access_key|az account get-access-token
    az keyvault secret show --name x|kubectl get secret x -o yaml|kubectl get secrets|kubectl config view --raw|kubectl create token x
    pass show mail|pass mail/x|op read op://x/y|vault kv get secret/x|secret-tool lookup a b|doppler secrets|sops -d x.yaml
    docker run x && gh auth token|bash -c 'gh auth token'|env X=1 gh auth token|echo "$(gh auth token)"|rails credentials:show
    cat auth.json|cat secrets.prod.yaml`;
  for (const command of printing.split(/\||\n\s+/).flatMap((one) => one.trim() || []))
    it(`asked about every time: ${command}`, async () =>
      assert.equal(await isAsked(command, ofAll, 'autopilot'), true));

  const others = `ps aux|ps -ef|gh secret list|git log --grep token|node show-token.js|npm run print-tokens|git commit -m "get token"|kubectl get pods
    grep -rn get-token src|echo get secret|gpg --verify x.sig|cat /proc/cpuinfo|pass|git show secret-branch|python3 get_secret.py|vault status`;
  for (const command of others.split(/\||\n\s+/))
    it(`as any other: ${command}`, async () => assert.equal(await isAsked(command, ofAll, 'autopilot'), false));

  const ofGit = [
    'git show :0:.env', 'git cat-file -p :0:.env', 'git cat-file -p :2:.env', "git log -p -- '.en?'", "git grep -h '' -- '*env'",
    "git grep '' ':(glob).e*'", "git diff HEAD -- '.e[n]v'", "git show HEAD -- ':(icase).ENV'", "git log -p -- ':/.env'",
    "git log -p -- '*.pem'", 'git diff HEAD~1:.env..HEAD:.env', 'git show HEAD:old/.env', "git log -p -- 'secret?.yaml'",
    "git log -p -- '.s*'", "git log -p -- ':(attr:x)'", "git log -p -- ':(top).env'", "git show 'HEAD:old/id_rsa'",
    "git log -p -- 'conf*/.env'", "git log -p -- '.[!a-d]nv'", "git log -p -- '.\\env'", 'git show HEAD:src/../.env',
    "git log -p -- ':(literal).env'", "git diff main -- '*ecret*'",
  ]; // biome-ignore format: a table
  for (const command of ofGit)
    it(`asked about under every rule for Git: ${command}`, async () =>
      assert.equal(await isAsked(command, ofKinds), true));

  const ofGitToo = [
    "git diff HEAD -- '*.snap'", "git log -p -- 'src/*.ts'", "git grep foo -- '*.yaml' ':!*_test.yaml'", 'git show HEAD:src/a.ts', 'git show :0:src/a.ts',
    'git diff main..HEAD', 'git log main...topic -- src', "git grep -n foo -- ':(exclude)dist' src", "git log -p -- '*'", "git diff HEAD -- ':(glob)src/**/*.ts'",
    'git diff HEAD~1:src/a.ts HEAD:src/a.ts', 'git diff v1.0..v1.1', "git diff -- 'src/**'",
  ]; // biome-ignore format: a table
  for (const command of ofGitToo)
    it(`covered by a rule for Git: ${command}`, async () => assert.equal(await isAsked(command, ofKinds), false));
});
