import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the engine does with a sequence, as far as it is asked here: a file has the tokens in it, and so many bytes for each. */
export class Sequence {
  tokens: number[] = [];
  drafted = 0;
  checkpoints: number[] = [];
  did: string[] = [];
  refuses = false;
  /** Milliseconds that a save takes at least. */
  saveMs = 0;
  constructor(
    readonly needsCheckpoints = false,
    readonly bytesPerToken = 4,
    readonly contextSize = 8192,
  ) {}
  get contextTokens() {
    return [...this.tokens];
  }
  get stateCellsStartIndex() {
    return this.needsCheckpoints ? this.tokens.length - 1 : 0;
  }
  get nextTokenIndex() {
    return this.tokens.length;
  }
  compareContextTokens(prompt: number[]) {
    const at = this.tokens.findIndex((token, index) => token !== prompt[index]);
    return { firstDifferentIndex: at < 0 ? this.tokens.length : at };
  }
  async adaptStateToTokens(prompt: number[]) {
    this.tokens.length = this.compareContextTokens(prompt).firstDifferentIndex;
  }
  async clearHistory() {
    this.did.push('clear');
    this.tokens = [];
    this.checkpoints = [];
  }
  async eraseContextTokenRanges([range]: { start: number; end: number }[]) {
    this.drafted = 0;
    const { start } = range!;
    if (start === this.tokens.length) return;
    this.did.push(`cut to ${start}`);
    const length = this.needsCheckpoints ? (this.checkpoints.findLast((one) => one <= start) ?? 0) : start;
    this.tokens.length = length;
    this.checkpoints = this.checkpoints.filter((one) => one <= length);
  }
  async takeCheckpoint() {
    if (!this.needsCheckpoints) return;
    this.did.push('checkpoint');
    if (!this.checkpoints.includes(this.tokens.length)) this.checkpoints.push(this.tokens.length);
  }
  async saveStateToFile(file: string) {
    assert.equal(this.drafted, 0, 'no drafted token is saved');
    if (this.saveMs > 0) await sleep(this.saveMs);
    writeFileSync(file, JSON.stringify(this.tokens).padEnd(this.tokens.length * this.bytesPerToken));
    this.did.push('save');
  }
  async loadStateFromFile(file: string) {
    this.did.push('load');
    if (this.refuses) throw new Error('the engine refuses it');
    this.tokens = JSON.parse(readFileSync(file, 'utf8'));
  }
}

export const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);
