import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { WorkflowContext } from '../../../src/engine/core/workflow.ts';
import { AgentConsent } from '../../../src/extension/agents/agentConsent.ts';
import type { LoadedAgent } from '../../../src/extension/agents/loadedAgent.ts';
import type { DialogQuestion } from '../../../src/extension/dialogs/dialogs.ts';
import { DecisionFile } from '../../../src/extension/settings/decisionFile.ts';
import { createTaskOptions } from '../../../src/extension/tasks/delegationOptions.ts';
import { TaskAgentList, taskAgentWord } from '../../../src/extension/tasks/taskAgentList.ts';
import { repositoryAgent } from './repositoryAgent.ts';

const looker = repositoryAgent('.claude/agents/looker.md', 'name: looker\ntools: Read, Grep');
const editor = repositoryAgent('.github/agents/editor.agent.md', 'description: Edits\ntools: [edit]');
const runner = repositoryAgent('.github/agents/runner.agent.md', 'description: Runs\ntools: [execute]');
const online = repositoryAgent('.claude/agents/online.md', 'name: online\ntools: WebFetch');
const served = repositoryAgent('.claude/agents/served.md', 'name: served\ntools: Read, mcp__docs__search');
const everything = repositoryAgent('.claude/agents/everything.md', 'name: everything');
const reviewer = repositoryAgent('.claude/agents/reviewer.md', 'name: reviewer\ntools: Read, Bash');
const twin = repositoryAgent('.github/agents/twin.agent.md', 'name: twin\ntools: [read]');
const otherTwin = repositoryAgent('.opencode/agent/twin.md', 'description: Another');
const broken = repositoryAgent('.claude/agents/broken.md', 'name: broken', 'It has no instructions.');
const all = [looker, editor, runner, online, served, everything, reviewer, twin, otherTwin, broken];

describe('The agents that receive tasks', () => {
  let folder: string;
  let seen: string[];
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-tasks-'));
    seen = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const create = (listed: readonly LoadedAgent[] = all, answer: string | undefined = 'Use Agent') => {
    const ask = (kind: string) => async (question: DialogQuestion) => {
      seen.push(`${kind}: ${question.text} ${question.detail}`);
      return answer;
    };
    const dialogs = { ask: ask('now'), askWhenQuiet: ask('quiet') };
    const consent = new AgentConsent({
      memory: new DecisionFile(path.join(folder, 'approvals.json')),
      dialogs,
      allowModel: () => {},
      detailOf: ({ id }) => id,
      openFile: async () => {},
    });
    const list = new TaskAgentList({ agents: async () => ({ agents: { list: async () => [...listed] }, consent }) });
    return createTaskOptions({
      today: async () => undefined,
      parallel: () => 4,
      list,
      dialogs,
      otherRun: () => undefined,
    });
  };

  it('are Explorer without a name, and the built-in ones by theirs; nobody is asked', async () => {
    const { agent } = create();
    for (const [asked, id, mayChange] of [
      [undefined, 'explorer', false],
      ['explorer', 'explorer', false],
      ['worker', 'worker', true],
      ['Reviewer', 'reviewer', false],
    ] as const) {
      const found = await agent(asked);
      assert.deepEqual([found.id, found.mayChange], [id, mayChange]);
    }
    assert.deepEqual(seen, []);
  });

  it('are those of the repository by name, file name or path, after one consent; they may change what their tools can', async () => {
    const { agent } = create();
    for (const [asked, id, mayChange] of [
      ['looker', looker.id, false],
      [looker.id, looker.id, false],
      ['editor', editor.id, true],
      ['runner', runner.id, true],
      ['online', online.id, false],
      ['served', served.id, true],
      ['everything', everything.id, true],
    ] as const) {
      const found = await agent(asked);
      assert.deepEqual([found.id, found.mayChange], [id, mayChange], asked);
    }
    assert.equal(seen.length, 6);
    assert.equal(seen[0], `quiet: Use the agent “looker” of this repository? ${looker.id}`);
  });

  it('are narrowed by their files in the run', async () => {
    const run = { maxTurns: 20, reads: () => true } as unknown as WorkflowContext;
    const { agent, allows } = (await create().agent('looker')).turnOptions(run);
    const mayUse = (name: string) => allows!({ name, description: '', parameters: {} });
    assert.deepEqual([mayUse('fs.read'), mayUse('fs.edit'), mayUse('shell.run')], [true, false, false]);
    assert.match(agent.instructions, /Look at it\./);
  });

  it('never are a file with the name of a built-in one: its path names it, and the consent shows the path', async () => {
    const { agent } = create();
    assert.deepEqual((await agent('reviewer')).mayChange, false);
    assert.deepEqual(seen, []);
    assert.deepEqual((await agent(reviewer.id)).mayChange, true);
    assert.deepEqual(seen, [`quiet: Use the agent “reviewer” of this repository? ${reviewer.id}`]);
    assert.equal(taskAgentWord(reviewer, all), reviewer.id);
  });

  it('are named by an error for an unknown name, each by the word that finds it', async () => {
    await assert.rejects(create().agent('nobody'), {
      code: 'TOOL_ARGS_INVALID',
      message: `There is no agent nobody. Agents: explorer, worker, reviewer, looker, editor, runner, online, served, everything, ${reviewer.id}, ${twin.id}, ${otherTwin.id}`,
    });
    await assert.rejects(create([]).agent('no\u202ebody'), {
      message: 'There is no agent no⟨U+202E⟩body. Agents: explorer, worker, reviewer',
    });
    const many = Array.from({ length: 30 }, (_, at) => repositoryAgent(`.claude/agents/a${at}.md`, 'tools: Read'));
    await assert.rejects(create(many).agent('nobody'), { message: /a16 and 13 more$/ });
  });

  it('are refused if several have the name, if the file cannot be used, or if the user does not agree', async () => {
    await assert.rejects(create().agent('twin'), {
      message: `Several agents are named twin: ${twin.id}, ${otherTwin.id}. Use the path.`,
    });
    await assert.rejects(create().agent('broken'), { message: `${broken.id}: It has no instructions.` });
    await assert.rejects(create(all, 'Open File').agent('looker'), {
      code: 'TOOL_DENIED',
      message: `The user did not agree to the agent ${looker.id}.`,
    });
  });
});
