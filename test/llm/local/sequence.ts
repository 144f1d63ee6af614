import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** What the engine does with a sequence, as far as it is asked here: a file has the tokens in it, and so many bytes for each. */
export class Sequence {
  tokens: number[] = [];
  drafted = 0;
  did: string[] = [];
  refuses = false;
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
  }
  async eraseContextTokenRanges([range]: { start: number; end: number }[]) {
    assert.equal(range!.start, this.tokens.length);
    this.drafted = 0;
  }
  async takeCheckpoint() {
    if (this.needsCheckpoints) this.did.push('checkpoint');
  }
  async saveStateToFile(file: string) {
    assert.equal(this.drafted, 0, 'no drafted token is saved');
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
