import assert from 'node:assert/strict';
import { RunApprovalPresets } from '../../../src/extension/approvals/runPresets.ts';

/** A file of our own: what is in it outlives a window. */
function memory() {
  const all: Record<string, unknown> = {};
  return {
    all,
    get: (name: string) => all[name],
    update: (name: string, value: unknown) => {
      all[name] = JSON.parse(JSON.stringify(value));
    },
  };
}

describe('a preset for one run', () => {
  it('holds for that run and no other, and ends with the window when it is wider', () => {
    const file = memory();
    const window = new RunApprovalPresets(file);
    window.choose('one', 'autopilot', 'reads-free');
    assert.equal(window.of('one', 'reads-free'), 'autopilot');
    assert.equal(window.of('two', 'reads-free'), undefined);
    assert.equal(new RunApprovalPresets(file).of('one', 'reads-free'), undefined, 'after a reload');
  });

  it('stays when it is narrower: forgetting it would let more happen', () => {
    const file = memory();
    new RunApprovalPresets(file).choose('one', 'ask-everything', 'edits-free');
    assert.equal(new RunApprovalPresets(file).of('one', 'edits-free'), 'ask-everything');
    assert.equal(new RunApprovalPresets(file).of('one', 'autopilot'), 'ask-everything');
  });

  it('what is kept never widens what the person has become stricter about since', () => {
    const file = memory();
    new RunApprovalPresets(file).choose('one', 'edits-free', 'autopilot');
    assert.equal(new RunApprovalPresets(file).of('one', 'autopilot'), 'edits-free');
    assert.equal(new RunApprovalPresets(file).of('one', 'reads-free'), undefined);
  });

  it('choosing the own preset is no choice any more, in this window and after it', () => {
    const file = memory();
    const window = new RunApprovalPresets(file);
    window.choose('one', 'ask-everything', 'reads-free');
    window.choose('one', 'reads-free', 'reads-free');
    assert.equal(window.of('one', 'edits-free'), undefined);
    assert.equal(new RunApprovalPresets(file).of('one', 'edits-free'), undefined);
  });

  it('a wider choice takes the narrower one that was kept with it', () => {
    const file = memory();
    const window = new RunApprovalPresets(file);
    window.choose('one', 'ask-everything', 'reads-free');
    window.choose('one', 'edits-free', 'reads-free');
    assert.equal(new RunApprovalPresets(file).of('one', 'autopilot'), undefined);
  });

  it('no run goes further than a preset that the person chose for every run since; a narrower one stays', () => {
    const window = new RunApprovalPresets(memory());
    window.choose('wide', 'autopilot', 'reads-free');
    window.choose('narrow', 'ask-everything', 'reads-free');
    window.narrow('edits-free');
    assert.equal(window.of('wide', 'edits-free'), undefined);
    assert.equal(window.of('narrow', 'edits-free'), 'ask-everything');
  });

  it('a run that was deleted and comes back goes no further than others', () => {
    const window = new RunApprovalPresets(memory());
    window.choose('wide', 'autopilot', 'reads-free');
    window.choose('other', 'autopilot', 'reads-free');
    window.choose('narrow', 'ask-everything', 'reads-free');
    for (const run of ['wide', 'narrow', 'never chosen']) window.end(run, 'reads-free');
    assert.deepEqual(
      ['wide', 'other', 'narrow'].map((run) => window.of(run, 'reads-free')),
      [undefined, 'autopilot', 'ask-everything'],
    );
  });

  it('what is damaged in the file is no choice, and the file does not grow for ever', () => {
    const file = memory();
    file.all['approvals.runs'] = [['one', 'everything'], 'two', null, ['three', 'ask-everything']];
    const window = new RunApprovalPresets(file);
    assert.deepEqual(
      ['one', 'two', 'three'].map((run) => window.of(run, 'reads-free')),
      [undefined, undefined, 'ask-everything'],
    );
    for (let index = 0; index < 300; index++) window.choose(`${index}`, 'ask-everything', 'reads-free');
    assert.equal((file.all['approvals.runs'] as unknown[]).length, 200);
  });
});
