import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TurnOptions, WorkflowContext } from '../../../src/engine/core/workflow.ts';
import { AgentConsent, repositoryAgentWorkflow } from '../../../src/extension/agents/agentConsent.ts';
import type { AgentDefinition, LoadedAgent } from '../../../src/extension/agents/loadedAgent.ts';
import type { DialogQuestion } from '../../../src/extension/dialogs/dialogs.ts';
import { DecisionFile } from '../../../src/extension/settings/decisionFile.ts';

type Usable = LoadedAgent & { definition: AgentDefinition };

const agent = { id: 'reviewer', name: 'reviewer', instructions: 'Look.' };
const file = (hash: string, name = 'reviewer', model?: string): Usable =>
  ({
    id: `.claude/agents/${name}.md`,
    uri: `file:///projects/.claude/agents/${name}.md`,
    name,
    description: '',
    hash,
    definition: {
      abilities: ['read'],
      asks: false,
      unknownTools: [],
      notes: [],
      ...(model !== undefined && { model }),
      agent,
      turnOptions: (): TurnOptions => ({ agent }),
    },
  }) as unknown as Usable;

// Holds agents-need-consent.
describe('the consent to an agent of the repository', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'towpath-consent-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A user who gives these answers; questions, opened files and allowed models are recorded. */
  const create = (...answers: (string | undefined)[]) => {
    const seen: string[] = [];
    const ask = (kind: string) => async (question: DialogQuestion) => {
      assert.equal(question.buttons[0], 'Open File', 'what Enter presses');
      assert.equal(question.opens, 'Open File');
      seen.push(`${kind}: ${question.text}`);
      return answers.shift();
    };
    const consent = new AgentConsent({
      memory: new DecisionFile(path.join(folder, 'approvals.json')),
      dialogs: { ask: ask('now'), askWhenQuiet: ask('quiet') },
      allowModel: (id, model) => void seen.push(`${id} may use ${model}`),
      detailOf: () => 'It can read and search.',
      openFile: async ({ id }) => seen.push(`opened ${id}`),
    });
    return { consent, seen };
  };
  const first = 'Use the agent “reviewer” of this repository?';
  const changed = 'The agent “reviewer” has changed. Use it as it is now?';

  it('is given once for a file and its content, and survives the window', async () => {
    const { consent, seen } = create('Use Agent');
    assert.equal(await consent.agree(file('1'), 'asked'), true);
    assert.equal(await consent.agree(file('1'), 'running'), true);
    assert.equal(await create().consent.agree(file('1'), 'running'), true);
    assert.deepEqual(seen, [`now: ${first}`]);
  });

  it('is requested again for a changed content, also for one that was agreed to before', async () => {
    const { consent, seen } = create('Use Agent', 'Use Agent', 'Use Agent');
    for (const hash of ['1', '2', '1']) await consent.agree(file(hash), 'running');
    assert.deepEqual(seen, [`quiet: ${first}`, `quiet: ${changed}`, `quiet: ${changed}`]);
    assert.equal(consent.isAgreed(file('2')), false);
  });

  it('is not given by a closed dialog, nor by Open File', async () => {
    const { consent, seen } = create(undefined, 'Open File', 'Use Agent');
    assert.equal(await consent.agree(file('1', 'reviewer', 'vllm/other'), 'asked'), false);
    assert.equal(await consent.agree(file('1', 'reviewer', 'vllm/other'), 'asked'), false);
    assert.deepEqual(seen.at(-1), 'opened .claude/agents/reviewer.md');
    assert.deepEqual(consent.agreed(), []);
    assert.equal(await consent.agree(file('1', 'reviewer', 'vllm/other'), 'asked'), true);
    assert.deepEqual(seen.at(-1), '.claude/agents/reviewer.md may use vllm/other');
  });

  it('is one question for several requests at a time', async () => {
    const { consent, seen } = create('Use Agent');
    const both = await Promise.all([consent.agree(file('1'), 'asked'), consent.agree(file('1'), 'running')]);
    assert.deepEqual([both, seen.length], [[true, true], 1]);
  });

  it('covers no other file of the same content, and can be taken back', async () => {
    const { consent } = create('Use Agent');
    await consent.agree(file('1'), 'asked');
    assert.equal(consent.isAgreed(file('1', 'other')), false);
    consent.forget(consent.agreed()[0]!);
    assert.equal(consent.isAgreed(file('1')), false);
  });

  it('comes before any turn of a run, and before the instructions are part of a summary', async () => {
    const { consent } = create(undefined, 'Use Agent');
    const turns: TurnOptions[] = [];
    const run = {
      turns: async (options: TurnOptions) => {
        turns.push(options);
        return { phase: 'WaitingUser' };
      },
    } as unknown as WorkflowContext;
    const load = () => repositoryAgentWorkflow({ load: async () => file('1') }, consent, '.claude/agents/reviewer.md');
    const before = await load();
    assert.equal(before.agent.instructions, '');
    await assert.rejects(before.advance(run), {
      message: 'You did not agree to the agent .claude/agents/reviewer.md. Retry to decide again.',
    });
    assert.deepEqual(turns, []);
    await before.advance(run);
    assert.deepEqual(turns, [{ agent }]);
    assert.equal((await load()).agent.instructions, 'Look.');
  });
});
