import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv } from 'ajv';
import { RunApprovalPresets } from '../src/extension/approvals/runPresets.ts';
import { planFormerSettingsMove } from '../src/extension/providers/formerSettingsMove.ts';
import { providerSettings, type RawProviderSettings } from '../src/extension/providers/providerSettings.ts';
import { DecisionFile } from '../src/extension/settings/decisionFile.ts';
import {
  type FormerSettings,
  formerSettingNames,
  isValidFormerSetting,
} from '../src/extension/settings/formerSettings.ts';
import type { ProviderId } from '../src/llm/models/providers.ts';
import { runToMarkdown } from '../src/protocol/run/exportMarkdown.ts';
import { interruptedWork } from '../src/protocol/run/interruptions.ts';
import { pendingApprovalIds, pendingCalls } from '../src/protocol/run/pending.ts';
import { planItemsOfRun } from '../src/protocol/run/plan.ts';
import { isRunHeldByDenial } from '../src/protocol/run/resumable.ts';
import type { Run } from '../src/protocol/run/run.ts';
import { newestRedoableUndo } from '../src/protocol/run/runFiles.ts';
import { RunStore } from '../src/runs/store.ts';
import { allowedFolderLocations, decideCallByPolicy } from '../src/tools/policy/policy.ts';
import { parsePolicyRules } from '../src/tools/policy/rules.ts';
import { packageRunId } from '../src/workflows/package/ids.ts';
import { PackageRegistry } from '../src/workflows/package/packageRegistry.ts';
import { readWorkflowPackage } from '../src/workflows/package/readPackage.ts';
import { createWorkflowOfPackageRun } from '../src/workflows/package/workflowOf.ts';
import { Conversation } from './engine/conversation.ts';
import { knownTo } from './support/knownTo.ts';
import { manifestSettings } from './support/manifestSettings.ts';
import { reply } from './support/provider.ts';
import { routedClient } from './support/routedClient.ts';
import { call } from './support/scriptedClient.ts';
import { noSettings } from './support/settings.ts';
import { type TemporaryWorkspace, temporaryWorkspace } from './support/workspace.ts';
import { conversation } from './tools/conversation.ts';
import { Stage } from './workflows/stage.ts';

/**
 * Runs, rules and settings as an earlier Towpath left them: written by it, with what it made of them beside. `run.json` is how it
 * read a run, `files.json` the workspace at its end, `verdicts.json` what its gate did. None of these files changes ever again.
 */
const kept = path.join(import.meta.dirname, 'fixtures/kept');
const json = (file: string) => JSON.parse(readFileSync(path.join(kept, file), 'utf8'));
const runs = [
  'approval',
  'asked',
  'background',
  'chat',
  'collected',
  'denied',
  'effort',
  'interrupted',
  'killed',
  'package',
  'recorded',
  'sandbox',
  'shortened',
  'tasks',
  'understood',
  'workflow',
] as const;
type Name = (typeof runs)[number];
const runOf = (name: Name) => json(`runs/${name}/run.json`) as Run;

/** Into a folder of runs, as it lay in one. */
function put(name: Name, folder: string): string {
  const { id } = runOf(name);
  cpSync(path.join(kept, 'runs', name), path.join(folder, 'runs', id), {
    recursive: true,
    filter: (file) => !/(?:run|files)\.json$|flow\.yaml$|[/\\]state\b/.test(path.relative(kept, file)),
  });
  return id;
}

describe('a run of an earlier Towpath', () => {
  it('all of them are here', () => assert.deepEqual(readdirSync(path.join(kept, 'runs')).sort(), runs));

  for (const name of runs)
    it(`${name}: is the run that it was, with all that it changed`, async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'towpath-kept-'));
      try {
        const id = put(name, folder);
        const [was, store] = [runOf(name), new RunStore(folder)];
        const read = JSON.parse(JSON.stringify(await store.read(id)));
        assert.deepEqual(knownTo(was, read), was);
        assert.deepEqual(
          (await store.list()).map(({ phase, damaged }) => [phase, damaged]),
          [[was.phase, undefined]],
        );
        for (const { before, after } of Object.values(was.calls).flatMap(({ changes = [] }) => changes))
          for (const content of [before, after]) if (content) await store.contents.readBytes(id, content);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

  let talk: Conversation;
  let workspace: TemporaryWorkspace;
  const begin = async (name: Name, ...replies: ConstructorParameters<typeof Conversation>[1]) => {
    workspace = await temporaryWorkspace(json(`runs/${name}/files.json`));
    talk = new Conversation(workspace, replies);
    return put(name, talk.folder);
  };
  const told = (at: number) => JSON.stringify(talk.client.requests[at]!.messages);

  it('recorded: what its commands did to files can be undone and redone', async () => {
    const runId = await begin('recorded');
    try {
      const request = { toolCallIds: ['call-format'] };
      const undone = await talk.engine.undo(runId, request, workspace, async () => 'all');
      assert.deepEqual((undone as { left: unknown[] }).left, []);
      assert.deepEqual(
        ['src/a.ts', 'src/b.ts', 'notes.md'].map((name) => workspace.read(name)),
        ['let  x = 1\n', 'let  y = 2\n', 'Mine\n'],
      );
      assert.ok(!workspace.exists('new.md'));
      const [undo] = (await talk.store.read(runId)).undos!;
      await talk.engine.undo(runId, { undo: undo!.seq }, workspace, async () => 'none');
      assert.deepEqual([workspace.read('src/a.ts'), workspace.exists('notes.md')], ['let x = 1\n', false]);
    } finally {
      await talk.end();
    }
  });

  it('background: what its command did after its call can be undone and redone', async () => {
    const runId = await begin('background');
    const files = () => ['a', 'b', 'c'].map((name) => (workspace.exists(name) ? workspace.read(name) : undefined));
    try {
      await talk.engine.undo(runId, { toolCallIds: ['c1'] }, workspace, async () => 'all');
      assert.deepEqual(files(), ['A\n', 'B\n', undefined]);
      const [undo] = (await talk.store.read(runId)).undos!;
      await talk.engine.undo(runId, { undo: undo!.seq }, workspace, async () => 'none');
      assert.deepEqual(files(), ['2\n', undefined, 'c\n']);
    } finally {
      await talk.end();
    }
  });

  it('sandbox: shows where its commands ran and what was blocked, and can be undone', async () => {
    const runId = await begin('sandbox');
    try {
      const { calls } = await talk.store.read(runId);
      assert.deepEqual(
        ['call-inside', 'call-outside'].map((id) => [calls[id]!.sandbox, calls[id]!.blocked, calls[id]!.status]),
        [
          ['inside', ['registry.example:80'], 'done'],
          ['outside', undefined, 'done'],
        ],
      );
      const request = { toolCallIds: ['call-inside', 'call-outside'] };
      await talk.engine.undo(runId, request, workspace, async () => 'all');
      assert.deepEqual([workspace.read('a.txt'), workspace.exists('page.html')], ['one\n', false]);
    } finally {
      await talk.end();
    }
  });

  it('asked: what a server asked is over, and the call has the result of the server', async () => {
    const runId = await begin('asked');
    try {
      const { calls, asking } = await talk.store.read(runId);
      const { status, ok, asked, answer } = calls['call-asks']!;
      assert.deepEqual([status, ok, asked, answer, asking], ['done', true, undefined, undefined, []]);
    } finally {
      await talk.end();
    }
  });

  it('chat: goes on, and what was not undone yet can be', async () => {
    const runId = await begin('chat', { text: 'Here I am again.' });
    try {
      assert.equal(workspace.read('src/cli.ts'), 'print(rows)\n', 'the edit had been undone');
      const { assistantText } = await talk.engine.continue({ runId, userInput: 'and now?' });
      assert.equal(assistantText, 'Here I am again.');
      assert.match(told(0), /Postgres/);
      assert.match(told(0), /TOOL_DENIED/);
      const undone = await talk.engine.undo(runId, { toolCallIds: ['call-write'] }, workspace, async () => 'all');
      assert.deepEqual((undone as { undone: string[] }).undone, ['notes.txt']);
      assert.equal(workspace.read('notes.txt'), 'äöü: old notes\n');
      assert.equal((await talk.store.read(runId)).damage, undefined);
    } finally {
      await talk.end();
    }
  });

  it('killed: the model is told what was broken off, and the file from before can be undone', async () => {
    const runId = await begin('killed', { text: 'I see.' });
    try {
      assert.equal((await talk.engine.continue({ runId, userInput: 'go on' })).assistantText, 'I see.');
      assert.match(told(0), /TOOL_INTERRUPTED/);
      assert.deepEqual(pendingCalls((await talk.store.read(runId)).messages), []);
      await talk.engine.undo(runId, { toolCallIds: ['call-write'] }, workspace, async () => 'all');
      assert.equal(workspace.read('a.txt'), 'old\n');
    } finally {
      await talk.end();
    }
  });

  it('understood: has its plan and its change, and the model is sent the calls as it wrote them', async () => {
    const runId = await begin('understood', { text: 'Yes.' });
    try {
      assert.deepEqual(planItemsOfRun(runOf('understood')), [{ text: 'Edit a', status: 'active' }]);
      assert.match(
        runToMarkdown(runOf('understood'), (text) => text),
        /- `fs\.read` `src\/a\.ts`[\s\S]*- `fs\.edit` `src\/a\.ts`/,
      );
      await talk.engine.continue({ runId, userInput: 'sure?' });
      assert.match(told(0), /"path":"\/src\/a\.ts ","offset":null/);
      await talk.engine.undo(runId, { toolCallIds: ['call-edit'] }, workspace, async () => 'all');
      assert.equal(workspace.read('src/a.ts'), 'const a = 1;\n');
    } finally {
      await talk.end();
    }
  });

  it('shortened: what was left out stays left out', async () => {
    const runId = await begin('shortened', { text: 'Yes.' });
    try {
      await talk.engine.continue({ runId, userInput: 'sure?' });
      assert.match(told(0), /characters left out/);
      assert.equal(runOf('shortened').messages.length, (await talk.store.read(runId)).messages.length - 2);
    } finally {
      await talk.end();
    }
  });

  it('tasks: those that were at work go on, with what they were told, and their calls are asked about again', async () => {
    const runId = await begin('tasks');
    const client = routedClient({
      'Give it to three.': [{}, { text: 'All three are done.' }],
      'Change the list.': [{}, { text: 'Bread is missing.' }],
    });
    talk.model = client;
    const agent = { id: 'worker', name: 'Worker', mayChange: true };
    const turnOptions = () => ({ agent: { id: 'worker', name: 'Worker', instructions: '' } });
    talk.tasks = {
      parallel: () => 4,
      agent: async () => ({ ...agent, turnOptions }),
      confirmSpending: async () => true,
    };
    talk.build();
    try {
      assert.deepEqual(pendingApprovalIds(await talk.store.read(runId)), ['change:w2']);
      assert.equal((await talk.engine.continue({ runId })).assistantText, 'All three are done.');
      assert.deepEqual([talk.questions, workspace.read('list.txt')], [['Replace list.txt'], 'oat milk\n']);
      const run = await talk.store.read(runId);
      assert.deepEqual(
        Object.values(run.tasks!).map(({ status, waiting }) => [status, waiting]),
        [
          ['done', []],
          ['done', []],
          ['done', []],
        ],
      );
      assert.equal(client.requests.length, 2);
      assert.ok(JSON.stringify(client.requests[0]!.messages).includes('And bread.'));
      await talk.engine.undo(runId, { toolCallIds: ['note:w1', 'change:w2'] }, workspace, async () => 'all');
      assert.deepEqual([workspace.read('list.txt'), workspace.exists('note.txt')], ['milk\n', false]);
    } finally {
      await talk.end();
    }
  });

  it('effort: goes on with what was chosen last in the run, whatever its model has had since', async () => {
    const runId = await begin('effort', { text: 'So it is.' });
    talk.efforts.set('scripted/one', 'off');
    talk.build();
    try {
      assert.deepEqual(
        (await talk.store.read(runId)).models!.map(({ effort }) => effort),
        ['low', 'high'],
      );
      await talk.engine.continue({ runId, userInput: 'And now?' });
      assert.deepEqual(
        [talk.client.requests[0]!.thinkingBudget, talk.client.requests[0]!.thinkingOff],
        [24_576, undefined],
      );
    } finally {
      await talk.end();
    }
  });

  it('workflow: goes on at the node where it failed, with its values', async () => {
    const yaml = readFileSync(path.join(kept, 'runs/workflow/flow.yaml'), 'utf8');
    const files = { ...json('runs/workflow/files.json'), 'late.txt': 'here\n' };
    const stage = await Stage.of(yaml, [], { files });
    try {
      const runId = put('workflow', stage.folder);
      assert.equal((await stage.engine.continue({ runId })).phase, 'Completed');
      assert.deepEqual(stage.steps, ['start look', 'end look']);
      const { state } = (await stage.store.read(runId)).graph!.main;
      assert.deepEqual([state.count, (state.late as { text?: string }).text], [1, 'here']);
      await stage.engine.undo(runId, { toolCallIds: ['write:1:0'] }, stage.workspace, async () => 'all');
      assert.equal(stage.workspace.exists('town.txt'), false);
    } finally {
      await stage.end();
    }
  });

  it('package: goes on at its node, by its state document', async () => {
    const state = (frontmatter: object) => call('fs.apply_patch', { path: '@state/workflow.md', frontmatter });
    const runId = await begin(
      'package',
      { calls: [state({ currentNodeId: 'done', stepsCompleted: ['ask', 'judge'] })] },
      { calls: [call('fs.write', { path: '@project/letter.md', content: 'Dear Ada' })] },
      { calls: [state({ stepsCompleted: ['ask', 'judge', 'done'] })] },
      { text: 'It is written.' },
    );
    const folder = mkdtempSync(path.join(tmpdir(), 'towpath-kept-'));
    try {
      cpSync(path.join(kept, 'runs/package/state'), path.join(folder, 'state'), { recursive: true });
      const shelf = new PackageRegistry({
        project: workspace,
        storage: path.join(folder, 'unpacked'),
        openedFile: path.join(folder, 'opened.json'),
        stateFolder: () => path.join(folder, 'state'),
        autopilot: () => false,
        now: () => new Date('2026-01-02T00:00:00Z'),
        read: readWorkflowPackage,
        follow: createWorkflowOfPackageRun,
      });
      const [shelved] = await shelf.list();
      talk.workflow = (await shelf.workflow(packageRunId({ key: shelved!.key, workflowId: 'write' })))!;
      talk.build();
      const { phase, assistantText } = await talk.engine.continue({ runId, userInput: 'It is good.' });
      assert.deepEqual([phase, assistantText], ['Completed', 'It is written.']);
      assert.equal(workspace.read('letter.md'), 'Dear Ada');
    } finally {
      await talk.end();
      rmSync(folder, { recursive: true });
    }
  });

  it('approval: the call still needs it, and nothing is sent before it is answered', async () => {
    const runId = await begin('approval', { text: 'It is oat milk now.' });
    try {
      assert.deepEqual(pendingApprovalIds(await talk.store.read(runId)), ['8']);
      talk.answers = ['wait'];
      const going = talk.engine.continue({ runId, onlyApprovals: true });
      await talk.seen('question');
      assert.deepEqual([talk.client.requests.length, workspace.read('list.txt')], [0, 'milk\n']);
      talk.allowWaiting();
      assert.equal((await going).assistantText, 'It is oat milk now.');
      assert.deepEqual([talk.questions, workspace.read('list.txt')], [['Edit list.txt'], 'oat milk\n']);
      const [name] = readdirSync(path.join(kept, 'runs/approval/images'));
      const image = readFileSync(path.join(kept, 'runs/approval/images', name!)).toString('base64');
      assert.ok(told(0).includes(image), 'the stored image is sent as it was');
    } finally {
      await talk.end();
    }
  });

  it('approval: what was undone can be redone, and what was redone can be undone', async () => {
    const runId = await begin('approval');
    const nobody = () => assert.fail('nobody is asked');
    const redo = async (id: string) => {
      const { seq } = newestRedoableUndo(await talk.store.read(runId), ({ toolCallIds }) => toolCallIds.includes(id))!;
      return talk.engine.undo(runId, { undo: seq }, workspace, nobody);
    };
    try {
      await redo('9');
      assert.equal(workspace.read('picture.txt'), 'a square\n');
      await talk.engine.undo(runId, { toolCallIds: ['10'] }, workspace, async () => 'all');
      assert.equal(workspace.read('notes.txt'), 'äöü: old notes\n');
      await redo('10');
      assert.equal(workspace.read('notes.txt'), 'äöü: new notes\n');
      assert.deepEqual(pendingApprovalIds(await talk.store.read(runId)), ['8'], 'it still needs its approval');
    } finally {
      await talk.end();
    }
  });

  it('denied: still waits for instructions, and has those that were given', async () => {
    const runId = await begin('denied', { text: 'Then I leave it.' });
    try {
      const run = await talk.store.read(runId);
      assert.deepEqual(
        ['1', '2', '3'].map((id) => run.calls[id]!.feedback),
        ['The plan comes first.', undefined, undefined],
      );
      assert.deepEqual([isRunHeldByDenial(run), run.held], [true, ['3']]);
      await talk.engine.continue({ runId, onlyApprovals: true });
      assert.equal(talk.client.requests.length, 0);
      await talk.engine.continue({ runId, userInput: 'Leave the list.' });
      assert.equal((await talk.store.read(runId)).calls['3']!.feedback, 'Leave the list.');
      await talk.engine.undo(runId, { toolCallIds: ['4'] }, workspace, async () => 'all');
      assert.equal(workspace.read('plan.txt'), 'buy milk\n');
    } finally {
      await talk.end();
    }
  });

  it('collected: goes on with the lists that had grown', async () => {
    const yaml = readFileSync(path.join(kept, 'runs/collected/flow.yaml'), 'utf8');
    const stage = await Stage.of(yaml);
    try {
      Object.assign(stage, { runId: put('collected', stage.folder) });
      assert.equal((await stage.continue()).phase, 'Completed');
      assert.equal(stage.workspace.read('acc.json'), '["start", 1, 2, 3]');
      assert.deepEqual((await stage.state()).report, { items: [1, 2, 3], last: 3 });
    } finally {
      await stage.end();
    }
  });

  it('interrupted: goes on with the conversation of its node, and runs no command again', async () => {
    const yaml = readFileSync(path.join(kept, 'runs/interrupted/flow.yaml'), 'utf8');
    const files = json('runs/interrupted/files.json');
    const stage = await Stage.of(yaml, [reply.text('They know.')], { files });
    try {
      Object.assign(stage, { runId: put('interrupted', stage.folder) });
      assert.equal((await stage.continue()).error?.code, 'TOOL_INTERRUPTED');
      assert.deepEqual(
        interruptedWork(await stage.kept()).map(({ node, calls }) => [node, calls]),
        [['work', ['work:1:0:call_0_shell_run']]],
      );
      assert.equal((await stage.choose('after', { exitCode: 0 })).phase, 'Completed');
      const { d, said } = await stage.state();
      assert.deepEqual([d, said], [{ version: 'v2' }, 'They know.']);
      assert.deepEqual([stage.questions, stage.workspace.read('log.txt')], [[], files['log.txt']]);
      const [request] = stage.provider.requests;
      assert.deepEqual(
        request!.body.messages.map(({ role }) => role),
        ['user', 'assistant', 'tool'],
      );
    } finally {
      await stage.end();
    }
  });
});

describe('what an earlier Towpath remembered', () => {
  const memory = new DecisionFile(path.join(kept, 'approvals.json'));
  const { rules, problems } = parsePolicyRules(memory.get('approvals.rules'), 'workspace');
  const expected = json('verdicts.json') as {
    problems: string[];
    verdicts: { name: string; args: Record<string, unknown>; verdict: string }[];
  };

  it('leaves out no rule that it took', () => assert.equal(problems.length, expected.problems.length));

  for (const { name, args, verdict } of expected.verdicts)
    it(`${name} ${args.command ?? args.path} ${args.cwd ?? ''}: ${verdict}`, async () => {
      const workspace = await temporaryWorkspace({
        'docs/a.md': 'a\n',
        'private/a.txt': '',
        'package.json': '{}',
        'packages/api/package.json': '{}',
        'src/cli.js': '',
      });
      try {
        let ran = false;
        const told = conversation(workspace, {
          policy: { preset: 'reads-free', readOnlyCommands: true, rules },
          answer: 'deny',
          beforeEvent(event) {
            ran ||= event.type === 'tool-start';
            if (ran && name === 'shell.run') throw new Error('Nothing is run here.');
          },
        });
        const outcome = await told.call(name, args);
        const is = told.asked.length > 0 ? 'asked' : ran || outcome.ok ? 'ran' : outcome.error.code;
        assert.equal(is, verdict);
      } finally {
        workspace.cleanup();
      }
    });

  it('a narrower choice for a run still holds, a wider one has ended with its window', () => {
    const presets = new RunApprovalPresets(memory);
    assert.equal(presets.of('run-narrow', 'edits-free'), 'ask-everything');
    assert.equal(presets.of('run-wide', 'edits-free'), undefined);
    assert.equal(memory.get('approvals.autopilot'), 'yes');
    assert.equal((memory.get('models.agreed') as unknown[]).length, 1);
  });
});

describe('what an earlier Towpath remembered about the sandbox', () => {
  const memory = new DecisionFile(path.join(kept, 'sandboxRules.json'));
  const { rules, problems } = parsePolicyRules(memory.get('approvals.rules'), 'workspace');
  const network = (site: string) =>
    decideCallByPolicy(
      { preset: 'sandbox', readOnlyCommands: true, rules },
      { tool: 'shell.network', risk: 'execute', paths: [], site, readsOnly: false, always: false, trusted: true },
    ).effect;

  it('covers the hosts, the program and the folder that it did, and no others', () => {
    assert.deepEqual(problems, []);
    const sites = ['https://api.example', 'https://registry.npmjs.org', 'https://npm.corp.example:8443'];
    assert.deepEqual(sites.map(network), ['allow', 'allow', 'allow']);
    assert.deepEqual(['https://pypi.org', 'https://npm.corp.example'].map(network), ['ask', 'ask']);
    assert.deepEqual(rules.map(({ program }) => program).filter(Boolean), ['docker']);
    const policy = { preset: 'sandbox', readOnlyCommands: true, rules } as const;
    assert.deepEqual(allowedFolderLocations(policy), ['/home/user/.cache/tool']);
    assert.deepEqual(allowedFolderLocations({ ...policy, preset: 'edits-free' }), []);
  });
});

describe('the settings of an earlier Towpath', () => {
  const settings = json('settings.json') as Record<string, unknown>;
  const ajv = new Ajv({ strict: false });

  for (const [name, value] of Object.entries(settings))
    it(`${name} is there, and takes what it took`, () => {
      const former = formerSettingNames.find((one) => name === `towpath.${one}`);
      if (former) return assert.ok(isValidFormerSetting(former, value));
      assert.ok(manifestSettings[name], 'there is no such setting');
      // An entry that no provider takes was written on purpose.
      const { mistral: _, ...taken } = Object(value);
      const given = name === 'towpath.providers' ? taken : value;
      assert.ok(ajv.validate(manifestSettings[name]!, given), ajv.errorsText());
    });

  const superseded = Object.fromEntries(formerSettingNames.map((name) => [name, settings[`towpath.${name}`]]));
  const written = settings['towpath.providers'];
  const move = planFormerSettingsMove(superseded, written);
  const cases: [when: string, now: RawProviderSettings][] = [
    ['as it was', { ...(superseded as FormerSettings), providers: written }],
    ['as it was, after all is moved to one setting', { ...noSettings, providers: move.providers }],
  ];
  it('all of those that have been superseded can be moved', () => assert.deepEqual(move.staying, []));

  for (const [when, now] of cases)
    for (const [id, expected] of Object.entries(json('providers.json')))
      it(`${id} is asked where and ${when}`, () => {
        const { priceOf, windowOf, ...rest } = providerSettings(now, id as ProviderId);
        const read = { ...rest, price: priceOf('big-1') ?? null, window: windowOf('big-1') ?? null };
        assert.deepEqual(JSON.parse(JSON.stringify(read)), expected);
      });
});
