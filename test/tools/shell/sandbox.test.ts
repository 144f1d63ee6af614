import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import * as paths from 'node:path';
import type { ApprovalPolicy } from '../../../src/protocol/content/policy.ts';
import type { ScopedPermissionRule } from '../../../src/protocol/content/rule.ts';
import type { ToolOutcome } from '../../../src/protocol/content/tools.ts';
import type { RunEventBody } from '../../../src/protocol/run/events.ts';
import type { ApprovalAnswer, ApprovalRequest } from '../../../src/tools/core/tool.ts';
import { builtinTools } from '../../../src/tools/host/builtinTools.ts';
import { alwaysAllowRuleChoices, isProgramChoice } from '../../../src/tools/policy/rules.ts';
import { type TemporarySandbox, temporarySandbox } from '../../support/commandSandbox.ts';
import { eventually } from '../../support/eventually.ts';
import { type Listening, listen } from '../../support/listening.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from '../../support/workspace.ts';
import { conversation, data } from '../conversation.ts';

interface Ran {
  exitCode: number | null;
  output: string;
  note?: string;
}

// Holds sandboxed-changes-wait and sandbox-never-falls-back.
describe('tools: shell.run in the sandbox', () => {
  let sandbox: TemporarySandbox;
  let workspace: TemporaryWorkspace;

  before(async function () {
    const made = await temporarySandbox();
    if (!made) return this.skip();
    sandbox = made;
  });
  after(() => sandbox?.cleanup());
  beforeEach(async () => {
    workspace = await temporaryWorkspace({ 'a.txt': 'one\n', 'sub/b.txt': '' });
  });
  afterEach(() => workspace.cleanup());

  type Answer = ApprovalAnswer['decision'] | ((request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>);

  const talk = (answer: Answer = 'deny', policy: Partial<ApprovalPolicy> = {}, isRecorded = true) =>
    conversation(workspace, {
      tools: builtinTools({ shell: { sandbox, covers: async () => ({ isWhole: isRecorded }) as { isWhole: true } } }),
      policy: { preset: 'sandbox', ...policy },
      answer: typeof answer === 'function' ? async (request) => answer(request) : answer,
    });
  const placeOf = (events: readonly RunEventBody[]) =>
    events.flatMap((event) => (event.type === 'tool-start' ? [event.sandbox] : []));
  const accessesOf = (events: readonly RunEventBody[]) =>
    events.flatMap((event) => (event.type === 'access' ? [{ ...event.target, decision: event.decision }] : []));
  const run = (talking: ReturnType<typeof talk>, command: string, more: object = {}): Promise<Ran> =>
    data<Ran>(talking.call('shell.run', { command, ...more }));

  it('runs unasked; what it writes in the workspace is there when it has ended', async () => {
    const talking = talk();
    const ran = await run(talking, 'echo two >> a.txt; mkdir new; mv sub new/; rm -f nothing; cat a.txt');
    assert.deepEqual(ran, { exitCode: 0, output: 'one\ntwo\n' });
    assert.deepEqual([workspace.read('a.txt'), workspace.exists('new/sub/b.txt')], ['one\ntwo\n', true]);
    assert.deepEqual([talking.asked, placeOf(talking.events)], [[], ['inside']]);
  });

  it('does not run at all if the sandbox cannot be set up', async () => {
    const begin = () => Promise.reject(new Error('no namespaces'));
    const talking = conversation(workspace, {
      tools: builtinTools({ shell: { sandbox: { begin }, covers: async () => ({ isWhole: true }) } }),
      policy: { preset: 'sandbox' },
      answer: 'deny',
    });
    const outcome = await talking.call('shell.run', { command: 'echo two > a.txt' });
    assert.deepEqual([outcome.ok, workspace.read('a.txt'), talking.asked], [false, 'one\n', []]);
  });

  it('cannot write outside, and the model is told which path it was', async () => {
    const file = paths.join(sandbox.home, 'x');
    const ran = await run(talk(), `echo no > ${file}`);
    assert.equal(existsSync(file), false);
    assert.equal(ran.note, `Sandbox: cannot write ${file}. Ask with the reason in \`outside\`.`);
  });

  it('asks when the model wants to leave the sandbox, and runs outside only after a yes', async () => {
    const file = paths.join(sandbox.home, 'outside');
    const command = `echo yes > ${file}`;
    const denied = await talk('deny').call('shell.run', { command, outside: true });
    assert.deepEqual([denied.ok, existsSync(file)], [false, false]);
    const talking = talk('allow');
    await run(talking, command, { outside: true });
    assert.deepEqual([existsSync(file), placeOf(talking.events)], [true, ['outside']]);
    const [request] = talking.asked;
    assert.deepEqual(
      [request!.plan.sandbox, request!.plan.why.startsWith('The model asks to run it outside the sandbox.')],
      ['outside', true],
    );
  });

  const reasons: [name: string, outside: unknown, isAsked: boolean, reason?: string][] = [
    ['the reason of the model', ' It needs the ssh-agent. ', true, 'It needs the ssh-agent.'],
    ['no reason of an earlier run', true, true],
    ['no reason of a model that gives none', 'true', true],
    ['an empty reason: the command runs inside', '', false],
    ['none: the command runs inside', 'false', false],
    ['no wish of an earlier run: the command runs inside', false, false],
  ];
  for (const [name, outside, isAsked, reason] of reasons)
    it(`the request to run outside has ${name}`, async () => {
      const talking = talk('deny');
      await talking.call('shell.run', { command: 'echo 1', outside });
      assert.deepEqual(
        [talking.asked.map(({ plan }) => plan.modelReason), placeOf(talking.events)],
        [isAsked ? [reason] : [], isAsked ? [] : ['inside']],
      );
      assert.ok(!talking.events.some(({ type }) => type === 'call-arguments'));
    });

  it('names the reason of the model with what was blocked', async () => {
    const talking = talk('deny');
    const command = `echo 1 > ${paths.join(sandbox.home, 'x')}`;
    await run(talking, command);
    await talking.call('shell.run', { command, outside: 'It is a cache.' });
    const [{ plan }] = talking.asked as [ApprovalRequest];
    assert.match(plan.why, /^The sandbox blocked writing to/);
    assert.equal(plan.modelReason, 'It is a cache.');
  });

  const outside: [name: string, command: string, why: string][] = [
    ['a program that needs what is withheld', 'docker ps', '“docker” does not work in the sandbox.'],
    ['a command with an account', 'git push', '“git push” does not work in the sandbox.'],
  ];
  for (const [name, command, why] of outside)
    it(`asks to run outside: ${name}`, async () => {
      const talking = talk('deny');
      await talking.call('shell.run', { command });
      assert.ok(talking.asked[0]!.plan.why.startsWith(why), talking.asked[0]!.plan.why);
      assert.deepEqual(placeOf(talking.events), []);
    });

  describe('one answer for a program and the workspace', () => {
    const played = async (commands: readonly string[], policy: Partial<ApprovalPolicy> = {}, more: object = {}) => {
      const rules: ScopedPermissionRule[] = [...(policy.rules ?? [])];
      const started: string[] = [];
      const talking = conversation(workspace, {
        tools: builtinTools({
          shell: {
            sandbox: { begin: () => Promise.reject(new Error('no sandbox here')) },
            covers: async () => ({ isWhole: true }),
            run: async (line) => {
              started.push(line);
              return { exitCode: 0, output: '' };
            },
          },
        }),
        policy: { preset: 'sandbox', ...policy, rules },
        answer: async (request) => {
          const made = alwaysAllowRuleChoices(request).find(isProgramChoice);
          if (!made) return { decision: 'deny' };
          rules.push({ ...made[0]!, scope: 'workspace' });
          return { decision: 'allow', always: true };
        },
      });
      for (const command of commands) await talking.call('shell.run', { command, ...more });
      return { asked: talking.asked.map(({ plan }) => plan.command), started, rules, places: placeOf(talking.events) };
    };

    it('covers its other commands, with harmless steps around them, outside', async () => {
      const commands = [
        'docker compose ps',
        'cd sub && docker logs a | tail -5; docker ps -a && ls',
        'timeout 5 docker info',
      ];
      const { asked, started, rules, places } = await played(commands);
      assert.deepEqual([asked, started, places], [[commands[0]], commands, ['outside', 'outside', 'outside']]);
      assert.deepEqual(rules, [{ effect: 'allow', tool: 'shell.run', program: 'docker', scope: 'workspace' }]);
    });

    const repository = () =>
      execFileSync('bash', ['-ec', 'git init -q; git remote add origin https://git.example/a.git'], {
        cwd: workspace.root,
      });

    it('is offered for Git commands with a remote, each alone', async () => {
      repository();
      const { asked, rules } = await played(['git push', 'git push -u origin HEAD', 'git fetch', 'git push --force']);
      assert.deepEqual(asked, ['git push', 'git fetch', 'git push --force']);
      assert.deepEqual(
        rules.map(({ program }) => program),
        ['git push', 'git fetch'],
      );
    });

    it('covers no Git command that runs hooks, or another repository than a named remote', async () => {
      repository();
      const programs = ['git push', 'git fetch'];
      const rules = programs.map(
        (program) => ({ effect: 'allow', tool: 'shell.run', program, scope: 'workspace' }) as const,
      );
      const commands = [
        'git push origin',
        'git fetch origin',
        'git push sub',
        'git fetch sub HEAD',
        'cd sub && git push',
      ];
      const covered = ['git push origin', 'git fetch origin', 'cd sub && git push'];
      assert.deepEqual((await played(commands, { rules }, { outside: true })).started, covered);
      workspace.write('.git/hooks/pre-push', '');
      assert.deepEqual((await played(commands, { rules }, { outside: true })).started, ['git fetch origin']);
      execFileSync('git', ['config', 'core.hooksPath', 'hooks'], { cwd: workspace.root });
      assert.deepEqual((await played(commands, { rules }, { outside: true })).started, []);
    });

    const others = [
      'docker ps && npm run x',
      'docker ps; node x.js',
      'sudo docker ps',
      'DOCKER_HOST=tcp://x docker ps',
      'export PATH=.:$PATH; docker ps',
      'docker ps > out.txt',
      'docker() { rm x; }; docker ps',
      'alias docker=x; docker ps',
      'bash -c "docker ps"',
      'x=docker; $x ps; $y ps',
      '$DOCKER ps; docker ps',
      'docker $COMMAND',
      'docker compose down -v',
      'echo x | docker run -i a sh',
      './docker ps && docker ps',
      'docker run -v ~/.ssh:/x a',
      'docker cp a:/x .git/hooks/pre-commit',
      'docker ps & node x.js',
      'docker inspect `node x.js`',
      'docker inspect $(node x.js)',
      'if docker ps; then node x.js; fi',
      'docker ps\nnode x.js',
    ]; // biome-ignore format: a table
    const rule: ScopedPermissionRule = { effect: 'allow', tool: 'shell.run', program: 'docker', scope: 'workspace' };
    for (const command of others)
      it(`does not cover ${command}`, async () => {
        const { started } = await played([command], { rules: [rule] }, { outside: true });
        assert.deepEqual(started, []);
      });

    it('yields to rules that ask or deny', async () => {
      const ruled = { tool: 'shell.run', command: 'docker', scope: 'user' } as const;
      const asking = await played(['docker ps'], { rules: [rule, { effect: 'ask', ...ruled }] });
      assert.deepEqual(asking.asked, ['docker ps']);
      const denying = await played(['docker ps'], { rules: [rule, { effect: 'deny', ...ruled }] });
      assert.deepEqual([denying.asked, denying.started], [[], []]);
    });

    it('does not cover a program of the project with that name', async () => {
      const { PATH } = process.env;
      workspace.write('tools/docker', '');
      chmodSync(paths.join(workspace.root, 'tools/docker'), 0o755);
      try {
        for (const path of ['./tools', paths.join(workspace.root, 'tools')]) {
          process.env.PATH = `${path}:${PATH}`;
          assert.deepEqual((await played(['docker ps'], { rules: [rule] })).asked, ['docker ps']);
        }
      } finally {
        process.env.PATH = PATH;
      }
    });

    it('holds under the preset of the sandbox only', async () => {
      const { asked, started } = await played(['docker start a'], { preset: 'edits-free', rules: [rule] });
      assert.deepEqual([asked, started], [['docker start a'], []]);
    });
  });

  it('asks, and runs inside, when an undo could not restore what it changes', async () => {
    const talking = talk('allow', {}, false);
    await run(talking, 'echo 1 > c.txt');
    assert.deepEqual([talking.asked.length, placeOf(talking.events)], [1, ['inside']]);
    assert.deepEqual([talking.asked[0]!.plan.sandbox, talking.asked[0]!.plan.grant], ['inside', undefined]);
  });

  it('asks before changes of protected files are kept; the others are kept in any case', async () => {
    const command = 'mkdir .vscode && echo "{}" > .vscode/settings.json && echo two > a.txt';
    const talking = talk('deny');
    const ran = await run(talking, command);
    assert.deepEqual([workspace.exists('.vscode'), workspace.read('a.txt')], [false, 'two\n']);
    assert.equal(ran.note, 'Not kept, because they are protected: .vscode.');
    assert.deepEqual(accessesOf(talking.events), [{ paths: ['.vscode'], decision: 'deny' }]);
    const [request] = talking.asked;
    assert.deepEqual([request!.plan.what, request!.plan.where], ['Keep the changes of protected files?', '.vscode']);
    await run(talk('allow'), command);
    assert.equal(workspace.read('.vscode/settings.json'), '{}\n');
  });

  it('a file that the user changes meanwhile stays as the user left it', async () => {
    const talking = talk();
    const running = run(talking, 'echo command > a.txt; echo now; until grep -q go sub/b.txt; do sleep 0.05; done');
    await eventually('its output', () => talking.events.some((event) => event.type === 'tool-output'));
    workspace.write('a.txt', 'user\n');
    workspace.write('sub/b.txt', 'go');
    const ran = await running;
    assert.equal(workspace.read('a.txt'), 'user\n');
    assert.equal(ran.note, 'Not kept, because they changed meanwhile: a.txt.');
  });

  it('a stopped command has changed nothing', async () => {
    const talking = talk();
    const running = talking.call('shell.run', { command: 'echo two > a.txt; echo now; sleep 600' });
    await eventually('its output', () => talking.events.some((event) => event.type === 'tool-output'));
    talking.stop.abort();
    const outcome = await running;
    assert.equal(outcome.ok, false);
    assert.equal(workspace.read('a.txt'), 'one\n');
  });

  it('neither has a command whose time is over', async () => {
    const outcome: ToolOutcome = await talk().call('shell.run', {
      command: 'echo two > a.txt; sleep 600',
      timeoutSeconds: 1,
    });
    assert.deepEqual([outcome.ok ? '' : outcome.error.code, workspace.read('a.txt')], ['TOOL_TIMEOUT', 'one\n']);
  });

  it('what a command leaves behind ends with it', async () => {
    await run(talk(), `(setsid sh -c 'sleep 1; echo > later' &) ; echo started`);
    const { output } = await run(talk(), 'ps -eo args | grep -c "[e]cho > later"');
    assert.deepEqual([output.trim(), workspace.exists('later')], ['0', false]);
  });

  describe('with a server of this machine', () => {
    let server: Listening;
    before(async () => {
      server = await listen(async (_, response) => void response.end('hello'));
    });
    after(async () => server?.close());
    const fetch = () => `curl -sS --noproxy '' --max-time 60 http://127.0.0.1:${server.port}/`;

    it('holds a connection while the user is asked; the time limit stops', async () => {
      let answer = (_: ApprovalAnswer) => {};
      const answered = new Promise<ApprovalAnswer>((resolve) => {
        answer = resolve;
      });
      const talking = talk(() => answered);
      const running = run(talking, fetch(), { timeoutSeconds: 2 });
      await eventually('the question', () => talking.asked.length > 0);
      const { plan } = talking.asked[0]!;
      assert.match(plan.what, /^Allow network access to 127\.0\.0\.1:\d+\?$/);
      assert.equal(plan.why, 'The command is waiting.');
      await new Promise((resolve) => setTimeout(resolve, 2500)); // longer than its time
      answer({ decision: 'allow' });
      assert.equal((await running).output, 'hello');
      assert.deepEqual(accessesOf(talking.events).length, 1);
    });

    it('a denied host is told to the model, and asked about once for a command', async () => {
      const talking = talk('deny');
      const { output, note } = await run(talking, `${fetch()}; ${fetch()}`);
      assert.match(output, /Blocked by the sandbox: network access to 127\.0\.0\.1/);
      assert.match(note!, /^Sandbox: no network access to 127\.0\.0\.1:\d+\. Ask with the reason in `outside`\.$/);
      assert.equal(talking.asked.length, 1);
    });

    it('an answer that makes a rule decides other waiting questions again', async () => {
      const rules: ScopedPermissionRule[] = [];
      const talking = talk(
        async ({ plan }) => {
          await eventually('both questions', () => talking.asked.length > 1);
          if (!plan.site!.includes('127')) return { decision: 'deny' };
          rules.push({ effect: 'allow', tool: 'shell.network', site: plan.site!, scope: 'workspace' });
          return { decision: 'allow', always: true };
        },
        { rules },
      );
      const other = fetch().replace('127.0.0.1', 'localhost');
      const { output } = await run(talking, `${fetch()} & ${other}; wait`);
      assert.match(output, /hello[\s\S]*Blocked|Blocked[\s\S]*hello/);
      assert.ok(
        talking.events.some((event) => event.type === 'question' && event.isOver) || talking.asked.length === 2,
      );
    });

    it('a service of this machine is asked about by its port, whatever the program does about proxies', async () => {
      const connect = `exec 3<>/dev/tcp/localhost/${server.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && tail -1 <&3`;
      const talking = talk('allow');
      assert.equal((await run(talking, connect)).output, 'hello');
      assert.equal(talking.asked[0]!.plan.where, `localhost:${server.port}`);
      const denied = await run(talk('deny'), `${connect} || true`);
      assert.equal(
        denied.note,
        `Sandbox: no network access to localhost:${server.port}. Ask with the reason in \`outside\`.`,
      );
    });

    it('a port of a service of this machine is in use, as it is outside', async () => {
      const script = `require("http").createServer((q, r) => r.end("mine")).listen(${server.port}, "127.0.0.1", () => console.log("up"))`;
      const talking = talk('deny');
      const ran = await run(talking, `${JSON.stringify(process.execPath)} -e '${script}'; echo end`);
      assert.match(ran.output, /EADDRINUSE[\s\S]*end/);
    });

    it('one answer covers the package registries that were known then, and no other host', async () => {
      const site = `https://127.0.0.1:${server.port}`;
      const rules: ScopedPermissionRule[] = [];
      const tools = builtinTools({
        shell: { sandbox, covers: async () => ({ isWhole: true }), registries: async () => ['https://pypi.org', site] },
      });
      const talking = conversation(workspace, {
        tools,
        policy: { preset: 'sandbox', rules },
        answer: async (request) => {
          const offered = alwaysAllowRuleChoices(request);
          if (offered.length < 2) return { decision: 'deny' };
          for (const rule of offered[1]!) rules.push({ ...rule, scope: 'workspace' });
          return { decision: 'allow', always: true };
        },
      });
      for (const _ of [1, 2]) assert.equal((await run(talking, fetch())).output, 'hello');
      assert.equal(talking.asked.length, 1);
      assert.deepEqual(
        rules.map(({ registries }) => registries),
        [['https://pypi.org', site]],
      );
      const { output } = await run(talking, fetch().replace('127.0.0.1', 'localhost'));
      assert.match(output, /Blocked/);
      assert.equal(talking.asked.length, 2);
    });

    it('a rule for the host answers; allowed for this run, it is not asked again', async () => {
      const site = `https://127.0.0.1:${server.port}`;
      const rule: ScopedPermissionRule = { effect: 'allow', tool: 'shell.network', site, scope: 'workspace' };
      const ruled = talk('deny', { rules: [rule] });
      assert.equal((await run(ruled, fetch())).output, 'hello');
      assert.deepEqual(ruled.asked, []);
      const granted = talk('allow-run');
      await run(granted, fetch());
      await run(granted, fetch());
      assert.equal(granted.asked.length, 1);
    });
  });

  describe('rules', () => {
    const allow = (more: Partial<ScopedPermissionRule>): ScopedPermissionRule => ({
      effect: 'allow',
      tool: 'shell.run',
      scope: 'user',
      ...more,
    });

    it('for exactly a command run it as they were made: outside', async () => {
      const file = paths.join(sandbox.home, 'ruled');
      const command = `echo 1 > ${file}`;
      const talking = talk('deny', { rules: [allow({ command })] });
      await run(talking, command);
      assert.deepEqual([existsSync(file), placeOf(talking.events)], [true, ['outside']]);
    });

    it('that are wider let no command leave the sandbox, unless it does not work inside', async () => {
      const rules = (['checks', 'looks'] as const).map((kind) => allow({ kind }));
      workspace.write('package.json', '{"scripts":{"test":"x"}}');
      const places = async (command: string, more: object = {}) => {
        const started: string[] = [];
        const talking = conversation(workspace, {
          tools: builtinTools({
            shell: {
              sandbox: { begin: () => Promise.reject(new Error('no sandbox here')) },
              covers: async () => ({ isWhole: true }),
              run: async (line) => {
                started.push(line);
                return { exitCode: 0, output: '' };
              },
            },
          }),
          policy: { preset: 'sandbox', rules },
          answer: 'deny',
        });
        await talking.call('shell.run', { command, ...more });
        return [talking.asked.length, started.length];
      };
      assert.deepEqual(await places('npm test', { outside: true }), [1, 0]);
      assert.deepEqual(await places('npm test; docker ps'), [1, 0]);
      assert.deepEqual(await places('npm test', { background: true }), [0, 0]); // it runs inside
      assert.deepEqual(await places('docker ps'), [0, 1]);
      assert.deepEqual(await places('docker ps | head -5', { outside: true }), [0, 1]);
    });

    it('that are wider run a command inside', async () => {
      const talking = talk('deny', { rules: [allow({})] });
      await run(talking, 'echo 1');
      assert.deepEqual(placeOf(talking.events), ['inside']);
    });

    it('for paths that ask or deny make a command ask: they see only its names', async () => {
      const guard: ScopedPermissionRule = { effect: 'deny', tool: 'fs.*', path: 'prod/**', scope: 'user' };
      const talking = talk('allow', { rules: [guard] });
      await run(talking, 'echo 1');
      assert.deepEqual([talking.asked.length, placeOf(talking.events)], [1, ['inside']]);
    });

    it('that deny hold inside', async () => {
      const outcome = await talk('allow', { rules: [{ ...allow({ command: 'echo' }), effect: 'deny' }] }).call(
        'shell.run',
        { command: 'echo 1' },
      );
      assert.equal(outcome.ok ? '' : outcome.error.code, 'TOOL_DENIED');
    });
  });

  describe('a folder outside that a rule allows', () => {
    const data = (name: string) => paths.join(sandbox.home, name);
    const rules: ScopedPermissionRule[] = [];
    beforeEach(() => {
      rules.length = 0;
      mkdirSync(data('data'), { recursive: true });
    });
    afterEach(() => rmSync(data('data'), { recursive: true, force: true }));

    /** The model runs a command, and asks to run it outside when it was blocked; the answer is *Allow This Folder*. */
    const escapeWith = async (command: string, answer: Answer = allowFolder) => {
      const talking = talk(answer, { rules });
      const first = await run(talking, command);
      return { talking, first, again: () => talking.call('shell.run', { command, outside: true }) };
    };
    const allowFolder = ({ plan }: ApprovalRequest): ApprovalAnswer => {
      if (plan.allowableFolder === undefined) return { decision: 'deny' };
      rules.push({ effect: 'allow', tool: 'shell.folder', location: plan.allowableFolder, scope: 'workspace' });
      return { decision: 'allow', isDecidedAgain: true };
    };

    it('is asked about with what was blocked; the command then runs inside, and what it writes there is kept', async () => {
      const command = `echo two > a.txt; echo x > b.txt; echo 1 > ${data('data/x')}`;
      const { talking, first, again } = await escapeWith(command);
      assert.equal(first.note, `Sandbox: cannot write ${data('data/x')}. Ask with the reason in \`outside\`.`);
      const outcome = await again();
      assert.deepEqual([outcome.ok, existsSync(data('data/x'))], [true, true]);
      const [{ plan }] = talking.asked as [ApprovalRequest];
      assert.equal(talking.asked.length, 1);
      assert.deepEqual([plan.sandbox, plan.allowableFolder], ['outside', data('data')]);
      assert.match(
        plan.why,
        /^The sandbox blocked writing to \S+\/data\/x\. It changed 2 files before and starts again from the beginning\. In \S+\/data, Undo does not restore/,
      );
      assert.deepEqual(placeOf(talking.events), ['inside', 'inside']);
      await run(talking, `echo 2 > ${data('data/y')}`);
      assert.deepEqual([existsSync(data('data/y')), talking.asked.length], [true, 1]);
    });

    it('without a rule that was stored, the answer allows nothing', async () => {
      let answers = 0;
      const { talking, again } = await escapeWith(`echo 1 > ${data('data/x')}`, () =>
        answers++ === 0 ? { decision: 'allow', isDecidedAgain: true } : { decision: 'deny' },
      );
      const outcome = await again();
      assert.deepEqual([outcome.ok, existsSync(data('data/x')), talking.asked.length], [false, false, 2]);
    });

    it('names no folder for the home folder, for another command, and for two folders', async () => {
      const offered = async (command: string, other = command) => {
        const talking = talk('deny');
        await run(talking, command);
        await talking.call('shell.run', { command: other, outside: true });
        return talking.asked.at(-1)!.plan.allowableFolder;
      };
      assert.equal(await offered(`echo 1 > ${data('x')}`), undefined);
      assert.equal(await offered(`echo 1 > ${data('data/x')}`, `echo 2 > ${data('data/x')}`), undefined);
      mkdirSync(data('data/one'));
      mkdirSync(data('data/two'));
      assert.equal(await offered(`echo 1 > ${data('data/one/x')}; echo 1 > ${data('data/two/x')}`), undefined);
    });

    it('protected files in it ask, and a command that is stopped changes nothing there', async () => {
      rules.push({ effect: 'allow', tool: 'shell.folder', location: data('data'), scope: 'workspace' });
      const talking = talk('deny', { rules });
      await run(
        talking,
        `mkdir ${data('data/.vscode')}; echo 1 > ${data('data/.vscode/settings.json')}; echo 1 > ${data('data/z')}`,
      );
      assert.deepEqual([existsSync(data('data/.vscode')), existsSync(data('data/z'))], [false, true]);
      assert.equal(talking.asked.length, 1);
      const outcome = await talking.call('shell.run', {
        command: `rm ${data('data/z')}; sleep 600`,
        timeoutSeconds: 1,
      });
      assert.deepEqual([outcome.ok, existsSync(data('data/z'))], [false, true]);
    });

    it('a command that fails there all the same can still ask to run outside', async () => {
      rules.push({ effect: 'allow', tool: 'shell.folder', location: data('data'), scope: 'workspace' });
      renameSync(data('data'), data('moved'));
      symlinkSync(data('moved'), data('data'));
      try {
        const { talking, again } = await escapeWith(`echo 1 > ${data('data/x')}`, 'deny');
        await again();
        assert.deepEqual(
          [existsSync(data('moved/x')), talking.asked.map(({ plan }) => plan.sandbox)],
          [false, ['outside']],
        );
      } finally {
        rmSync(data('moved'), { recursive: true });
      }
    });

    for (const [name, replaced] of [
      ['gone', () => {}],
      ['a link', () => symlinkSync(data('moved'), data('data'))],
    ] as const)
      it(`that is ${name} when the command ends stays as it is; the workspace has its changes`, async () => {
        rules.push({ effect: 'allow', tool: 'shell.folder', location: data('data'), scope: 'workspace' });
        const talking = talk('deny', { rules });
        const command = `echo 1 > ${data('data/x')}; echo two > a.txt; echo now; until [ -s sub/b.txt ]; do sleep 0.05; done`;
        const running = run(talking, command);
        await eventually('its output', () => talking.events.some((event) => event.type === 'tool-output'));
        renameSync(data('data'), data('moved'));
        replaced();
        workspace.write('sub/b.txt', 'go');
        try {
          const { note } = await running;
          assert.match(note!, /Not kept, because of an error: \S+\/data\/? \(E\w+\)/);
          assert.deepEqual([existsSync(data('moved/x')), workspace.read('a.txt')], [false, 'two\n']);
        } finally {
          rmSync(data('moved'), { recursive: true });
          rmSync(data('data'), { force: true, recursive: true });
        }
      });

    it('does not hold under a rule that asks or denies, nor for the folder above or beside', async () => {
      rules.push({ effect: 'allow', tool: 'shell.folder', location: data('data'), scope: 'workspace' });
      await run(talk('deny', { rules }), `echo 1 > ${data('x')}; mkdir -p ${data('data2')}`);
      assert.deepEqual([existsSync(data('x')), existsSync(data('data2'))], [false, false]);
      const denied = [...rules, { effect: 'deny', tool: 'shell.folder', scope: 'user' } as const];
      await run(talk('deny', { rules: denied }), `echo 1 > ${data('data/x')}`);
      assert.equal(existsSync(data('data/x')), false);
    });
  });

  it('secrets of the workspace cannot be read, and installed code cannot be written', async () => {
    workspace.write('.env', 'KEY=1');
    workspace.write('node_modules/p/package.json', '{}');
    const { output } = await run(talk(), 'cat .env; echo > node_modules/p/index.js; echo end');
    assert.match(output, /\.env: Permission denied[\s\S]*Read-only file system[\s\S]*end/);
  });
});
