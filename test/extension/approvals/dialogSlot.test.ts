import assert from 'node:assert/strict';
import { DialogLock } from '../../../src/extension/approvals/dialogSlot.ts';

/** A dialog that ends when the test says so, or never. */
function dialog() {
  let end: (button?: string) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const shown = new Promise<string | undefined>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  return { shown, end, fail };
}

/** Asks by a dialog, and writes down what came of it. */
function asking() {
  const told: string[] = [];
  const front = new DialogLock(() => told.push('found'));
  const ask = (name: string, shown: Promise<string | undefined>) =>
    front.take(async (over) => {
      told.push(`${name} ${await front.ended(shown, over)}`);
    });
  return { told, front, ask };
}

describe('one thing at a time asks the person', () => {
  it('a dialog that ends gives its button, and the place is free', async () => {
    const { told, front, ask } = asking();
    const { shown, end } = dialog();
    const done = ask('first', shown);
    assert.equal(front.isTaken, true);
    end('Allow');
    await done;
    assert.deepEqual([told, front.isTaken, front.isBlocked], [['first Allow'], false, false]);
  });

  it('a dialog that never ends is given up: what asks next does not wait for it', async () => {
    const { told, front, ask } = asking();
    const lost = ask('lost', dialog().shown);
    front.giveUp();
    assert.deepEqual([front.isTaken, front.isBlocked], [false, true]);
    await lost;
    const { shown, end } = dialog();
    end('Allow');
    await ask('next', shown);
    assert.deepEqual([told, front.isBlocked], [['next Allow'], true]);
  });

  it('its late answer counts for nothing, and dialogs can be trusted again', async () => {
    const { told, front, ask } = asking();
    const { shown, end } = dialog();
    const lost = ask('lost', shown);
    front.giveUp();
    await lost;
    end('Allow');
    await shown;
    assert.deepEqual([told, front.isBlocked], [['found'], false]);
  });

  it('so are two that were lost, once both are found; one of them by an error', async () => {
    const { told, front, ask } = asking();
    const [one, other] = [dialog(), dialog()];
    const first = ask('one', one.shown);
    const second = ask('other', other.shown); // takes the place of the first
    front.giveUp();
    await Promise.all([first, second]);
    one.end('Allow');
    await one.shown;
    assert.deepEqual([told, front.isBlocked], [[], true]);
    other.fail(new Error('gone'));
    await assert.rejects(other.shown);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([told, front.isBlocked], [['found'], false]);
  });

  it('an answer that comes with its being given up counts for nothing either', async () => {
    const { told, front } = asking();
    const { shown, end } = dialog();
    const done = front.take(async (over) => {
      const button = await front.ended(shown, over);
      over.throwIfAborted();
      told.push(`${button}`);
    });
    end('Allow');
    front.giveUp();
    await done;
    assert.deepEqual(told, ['found']);
  });

  it('a dialog that was only just asked for is not given up by who asks for it twice; one that stays away is', async () => {
    let time = 0;
    const front = new DialogLock(
      () => {},
      () => time,
    );
    const { shown, end } = dialog();
    const done = front.take(async (over) => void (await front.ended(shown, over)));
    assert.equal(front.isComingUp, true);
    time = 2999;
    assert.equal(front.isComingUp, true);
    time = 3000;
    assert.equal(front.isComingUp, false);
    time = 0;
    end();
    await done;
    assert.equal(front.isComingUp, false);
  });

  it('a dialog that cannot be shown is an error of who asked, not a lost one', async () => {
    const { front, ask } = asking();
    await assert.rejects(ask('bad', Promise.reject(new Error('no window'))), /no window/);
    assert.deepEqual([front.isTaken, front.isBlocked], [false, false]);
  });
});
