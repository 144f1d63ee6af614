import assert from 'node:assert/strict';
import type { WorkflowContext } from '../../../src/engine/core/workflow.ts';
import type { TaskAgent } from '../../../src/engine/tasks/taskOptions.ts';
import { toolNames } from '../../../src/tools/definitions/definitions.ts';
import {
  type BuiltInTaskAgentId,
  builtInTaskAgentId,
  builtInTaskAgents,
} from '../../../src/workflows/agents/taskAgents.ts';

/** Run in which tools that begin so have no effect. */
const run = { onlyReads: (tool: string) => /^(fs\.(read|list|find|search)|code\.)/.test(tool) } as WorkflowContext;
const allowedOf = (id: BuiltInTaskAgentId) => {
  const { turnOptions }: TaskAgent = builtInTaskAgents[id];
  const { allows = () => true } = turnOptions(run);
  return toolNames().filter((name) => allows({ name, description: '', parameters: {} }));
};
const effects = ['fs.write', 'fs.edit', 'fs.delete', 'shell.run', 'web.fetch'];

describe('The built-in agents of tasks', () => {
  for (const id of ['explorer', 'reviewer'] as const)
    it(`${id}: gets only tools without effects`, () => {
      assert.deepEqual(
        allowedOf(id),
        toolNames().filter((name) => run.onlyReads(name)),
      );
      assert.equal(builtInTaskAgents[id].mayChange, false);
    });

  it('worker: gets the tools of the run', () => {
    assert.deepEqual(allowedOf('worker'), toolNames());
    assert.ok(effects.every((name) => allowedOf('worker').includes(name)));
    assert.equal(builtInTaskAgents.worker.mayChange, true);
  });

  it('know that nobody answers, and end with a report of paths and lines', () => {
    for (const { id, name, turnOptions } of Object.values(builtInTaskAgents)) {
      const { agent } = turnOptions(run);
      assert.deepEqual([agent.id, agent.name], [id, name]);
      assert.match(
        agent.instructions,
        /You have one task.*Nobody can answer questions.*End with a (report.*path.*lines|list.*:12)/s,
      );
    }
  });

  it('are found by id and by displayed name, and by nothing else', () => {
    assert.deepEqual(
      ['reviewer', 'Reviewer', ' worker ', 'EXPLORER', 'work', '', 'toString', '__proto__'].map(builtInTaskAgentId),
      ['reviewer', 'reviewer', 'worker', 'explorer', undefined, undefined, undefined, undefined],
    );
  });
});
