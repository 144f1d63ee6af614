const window = 8192;
/** Length of the pattern before an expected token. */
const pattern = 3;
const most = { places: 16, same: 64 };
/** Sample sizes: steps of one token, expectations, and trial steps of two tokens. */
const known = { alone: 4, expected: 4, tried: 3 };
/** Hit rate above which a step of two tokens is tried. */
const sure = 0.9;
/** Maximum duration of a two-token step relative to two single steps; more is no gain. */
const gain = 0.9;
/** Tokens without drafts after a failed trial. */
const rest = 512;

/** Minimum step duration, since other load only slows a step; the minimum may rise slowly. */
class Least {
  count = 0;
  value = 0;

  add(value: number): void {
    this.value = this.count++ === 0 ? value : Math.min(this.value * 1.02, value);
  }
}

class Mean {
  count = 0;
  value = 0;

  add(value: number): void {
    this.value += (value - this.value) / Math.min(++this.count, 16);
  }
}

interface PromptLookupCounts {
  expected: number;
  right: number;
  drafts: number;
  accepted: number;
}

/**
 * Predictor of draft tokens by earlier occurrences of the same text. An answer that repeats a file (an edit) then arrives in steps of two
 * tokens, with the same result. The gain exists if the engine is limited by memory bandwidth, mostly on a GPU. The hit rate is measured for
 * free; a step of two tokens is tried only at a high hit rate. Drafts have one token, because the library (3.22.1) compares each further
 * token with nothing. The library's own predictor searches only the newest user message.
 *
 * Implements `TokenPredictor` of node-llama-cpp: `predictTokens` is called before each step, `pushTokens` with the result.
 */
export class PromptLookupTokenPredictor<Token extends number> {
  private tokens: Token[] = [];
  private indexed = 0;
  private readonly last = new Map<number, number>();
  private before = new Int32Array(0);
  private readonly alone = new Least();
  private both = new Least();
  private readonly right = new Mean();
  private untried = 0;
  private counts: PromptLookupCounts = { expected: 0, right: 0, drafts: 0, accepted: 0 };
  private isFirst = true;
  /** Current step; undefined for the first token, whose step may include the end of the prompt. */
  private step: { began: number; at: number; expected: Token | undefined; tried: boolean } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  reset({ stateTokens }: { stateTokens: readonly Token[] }): void {
    this.tokens = stateTokens.slice(-window);
    this.last.clear();
    this.indexed = 0;
    this.stop();
  }

  pushTokens(tokens: readonly Token[]): void {
    for (const token of tokens) this.tokens.push(token);
  }

  predictTokens(): Token[] {
    const began = this.now();
    this.learn(began);
    this.index();
    if (this.isFirst) {
      this.isFirst = false;
      return [];
    }
    const position = this.position();
    const expected = position === undefined ? undefined : this.tokens[position];
    const tried = expected !== undefined && this.isWorth();
    this.step = { began, at: this.tokens.length, expected, tried };
    return tried ? [expected] : [];
  }

  stop(): void {
    this.step = undefined;
    this.isFirst = true;
  }

  /** Returns the counts since the last call: tokens with an expectation, right ones, and drafts among them. */
  takeCounts(): PromptLookupCounts {
    const { counts } = this;
    this.counts = { expected: 0, right: 0, drafts: 0, accepted: 0 };
    return counts;
  }

  updateInputTokens(): void {}
  dispose(): void {}
  [Symbol.dispose](): void {}

  private learn(now: number): void {
    const { tokens } = this;
    const step = this.step;
    if (!step || tokens.length === step.at) return;
    (step.tried ? this.both : this.alone).add(now - step.began);
    if (step.expected !== undefined) {
      const isRight = tokens[step.at] === step.expected ? 1 : 0;
      this.right.add(isRight);
      this.counts.expected++;
      this.counts.right += isRight;
      if (step.tried) {
        this.counts.drafts++;
        this.counts.accepted += isRight;
      }
    }
    this.untried = step.tried ? 0 : this.untried + 1;
  }

  private isWorth(): boolean {
    const { alone, right } = this;
    if (alone.count < known.alone || right.count < known.expected) return false;
    if (this.untried >= rest) this.both = new Least();
    if (this.both.count < known.tried) return right.value >= sure;
    return this.both.value <= (1 + right.value) * alone.value * gain;
  }

  private index(): void {
    const { tokens, last } = this;
    if (this.before.length < tokens.length) {
      const grown = new Int32Array(tokens.length * 2);
      grown.set(this.before);
      this.before = grown;
    }
    for (let end = Math.max(pattern, this.indexed); end < tokens.length; end++) {
      const key = this.key(end);
      this.before[end] = last.get(key) ?? 0;
      last.set(key, end);
    }
    this.indexed = tokens.length;
  }

  private key(end: number): number {
    const { tokens } = this;
    return Math.imul(Math.imul(tokens[end - 3]!, 0x9e3779b1) ^ tokens[end - 2]!, 0x85ebca6b) ^ tokens[end - 1]!;
  }

  private position(): number | undefined {
    const { tokens } = this;
    const end = tokens.length;
    if (end < pattern) return undefined;
    let best: number | undefined;
    let longest = pattern - 1;
    let at = this.last.get(this.key(end)) ?? 0;
    for (let looked = 0; at > 0 && looked < most.places; looked++, at = this.before[at]!) {
      let same = 0;
      while (same < most.same && same < at && tokens[at - 1 - same] === tokens[end - 1 - same]) same++;
      if (same > longest) [best, longest] = [at, same];
    }
    return best;
  }
}
