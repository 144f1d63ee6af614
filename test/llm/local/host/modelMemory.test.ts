import assert from 'node:assert/strict';
import { createLoadedModelScheduler } from '../../../../src/llm/local/host/modelMemory.ts';

// Holds one-local-model-in-memory.
describe('the room for one local model', () => {
  const tenant = () => ({ unload: async () => {} });

  it('who waits can be told for whom the model inside answers, when that is nobody of Towpath', async () => {
    const room = createLoadedModelScheduler();
    const [one, other] = [tenant(), tenant()];
    const leaveRun = await room.enter(one);
    assert.equal(room.asker(), undefined);
    const leaveAsk = await room.enter(one, undefined, 'Notes (test.notes)');
    assert.equal(room.isFree(other), false);
    assert.equal(room.asker(), 'Notes (test.notes)');
    const entering = room.enter(other, undefined, 'Other');
    leaveAsk();
    assert.equal(room.asker(), undefined, 'the run is inside still');
    leaveRun();
    const leaveOther = await entering;
    assert.equal(room.asker(), 'Other');
    leaveOther();
    assert.equal(room.asker(), undefined);
  });

  it('who waits is let in, though the model inside could not be unloaded', async () => {
    const room = createLoadedModelScheduler();
    const stuck = {
      unload: async () => {
        throw new Error('it does not answer');
      },
    };
    const leave = await room.enter(stuck);
    const waiting = [tenant(), tenant()].map((one) => room.enter(one));
    leave();
    (await waiting[0]!)();
    (await waiting[1]!)();
  });
});
