import assert from 'node:assert/strict';
import {
  type ActivitySnapshot,
  activeUserLocation,
  msUntilIdleCheck,
} from '../../../src/extension/view/idleDetection.ts';

const never = Number.POSITIVE_INFINITY;
const look = (more: Partial<ActivitySnapshot> = {}): ActivitySnapshot => ({
  editorMs: never,
  panel: 'hidden',
  delayMs: 0,
  ...more,
});
const panel = (idleMs: number, focused = false) => ({ panel: { idleMs, focused } });

describe('a question comes up', () => {
  const cases: [when: string, seen: ActivitySnapshot, waits: number][] = [
    ['at once, when nobody does anything', look(), 0],
    ['at once, when the last key in the panel is long ago', look(panel(60_000, true)), 0],
    ['later, under typing in the panel', look(panel(0, true)), 1500],
    ['later, under typing in an editor', look({ editorMs: 200, ...panel(60_000) }), 1300],
    ['later, under scrolling in the panel while an editor has the focus', look({ editorMs: 9000, ...panel(1000) }), 500],
    ['later, when the machine is so busy that a key may not be told yet', look({ ...panel(2000), delayMs: 800 }), 1100],
    ['at once on a busy machine, too, when nobody has done anything for long enough', look({ ...panel(3200), delayMs: 800 }), 0],
    ['some time, however busy the machine is', look({ ...panel(10_000), delayMs: 60_000 }), 0],
    ['later, when the panel is in view and does not answer: somebody may type in it', look({ panel: 'silent', delayMs: 2000 }), 1500],
    ['in whole milliseconds', look({ editorMs: 1499.5 }), 1],
  ]; // biome-ignore format: a table
  for (const [when, seen, waits] of cases) it(when, () => assert.equal(msUntilIdleCheck(seen), waits));
});

describe('after a dialog the focus goes back to', () => {
  const cases: [place: 'panel' | 'editor', when: string, seen: ActivitySnapshot][] = [
    ['panel', 'keys landed there', look({ editorMs: 10, ...panel(60_000, true) })],
    ['panel', 'the person did something there last', look({ editorMs: 5000, ...panel(3000) })],
    ['editor', 'the person wrote there last', look({ editorMs: 3000, ...panel(5000) })],
    ['editor', 'the panel is out of view and somebody wrote', look({ editorMs: 3000 })],
    ['editor', 'the panel does not answer', look({ editorMs: 3000, panel: 'silent' })],
    ['panel', 'nobody has done anything yet', look(panel(1e9))],
    ['panel', 'nothing is known', look({ panel: 'silent' })],
  ]; // biome-ignore format: a table
  for (const [place, when, seen] of cases)
    it(`the ${place}, when ${when}`, () => assert.equal(activeUserLocation(seen), place));
});
