/** What is looked through: as many tokens of the prompt and of what is being said, the newest. */
const window = 8192;
/** Tokens that must have stood there before, for the one that followed them to be expected again. */
const pattern = 3;
/** Places that are looked at, the newest first, for the one where most stood before it, of so many tokens. */
const most = { places: 16, same: 64 };
/** Steps of one token, and expectations, from which on it is known what they take and how often they are right; steps of two that are tried to know. */
const known = { alone: 4, expected: 4, tried: 3 };
/** How often expectations are right where a step of two is tried: what it takes is hardly lost then. */
const sure = 0.9;
/** Of what the same tokens take one by one: more than that is no gain. */
const gain = 0.9;
/** Tokens without, once it was none, until it is tried again. */
const rest = 512;

/** What a step takes where nothing else holds it up: others at work on the machine only ever make it slower. It may become slower by and by. */
class Least {
  count = 0;
  value = 0;

  add(value: number): void {
    this.value = this.count++ === 0 ? value : Math.min(this.value * 1.02, value);
  }
}

/** Of the newest more than of those before. */
class Mean {
  count = 0;
  value = 0;

  add(value: number): void {
    this.value += (value - this.value) / Math.min(++this.count, 16);
  }
}

/**
 * Expects what follows to be what followed the same words before: an answer that repeats a file, as an edit does, comes two tokens at a
 * step, and is the same. That is a gain where the engine waits for its memory, on a GPU most of all, and none where it is busy with one
 * token already. How often it would be right costs nothing to know; what a step of two takes is tried where it is right nearly always.
 * One token at a time, for the library takes no more of them (3.22.1 compares each but the first with nothing). Its own predictor looks
 * into the newest message of the person alone.
 *
 * For node-llama-cpp it is a `TokenPredictor`: `predictTokens` is asked before each step, and `pushTokens` told of what came.
 */
export class PromptLookup<Token extends number> {
  private tokens: Token[] = [];
  private indexed = 0;
  /** The newest place behind each pattern, and for each place the one before. */
  private readonly last = new Map<number, number>();
  private before = new Int32Array(0);
  /** Milliseconds of a step of one token, and of two. */
  private readonly alone = new Least();
  private both = new Least();
  /** Of what was expected, whether it was tried or not. */
  private readonly right = new Mean();
  private untried = 0;
  private isFirst = true;
  /** None while the first token of an answer is waited for: its step may read the end of the prompt, too. */
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
    const place = this.place();
    const expected = place === undefined ? undefined : this.tokens[place];
    const tried = expected !== undefined && this.isWorth();
    this.step = { began, at: this.tokens.length, expected, tried };
    return tried ? [expected] : [];
  }

  stop(): void {
    this.step = undefined;
    this.isFirst = true;
  }

  updateInputTokens(): void {}
  dispose(): void {}
  [Symbol.dispose](): void {}

  private learn(now: number): void {
    const { tokens } = this;
    const step = this.step;
    if (!step || tokens.length === step.at) return;
    (step.tried ? this.both : this.alone).add(now - step.began);
    if (step.expected !== undefined) this.right.add(tokens[step.at] === step.expected ? 1 : 0);
    this.untried = step.tried ? 0 : this.untried + 1;
  }

  private isWorth(): boolean {
    const { alone, right } = this;
    if (alone.count < known.alone || right.count < known.expected) return false;
    if (this.untried >= rest) this.both = new Least();
    if (this.both.count < known.tried) return right.value >= sure;
    return this.both.value <= (1 + right.value) * alone.value * gain;
  }

  /** Patterns that end before the newest token: it is what follows them. */
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

  /** Of the pattern that ends before this place. Others may have the same. */
  private key(end: number): number {
    const { tokens } = this;
    return Math.imul(Math.imul(tokens[end - 3]!, 0x9e3779b1) ^ tokens[end - 2]!, 0x85ebca6b) ^ tokens[end - 1]!;
  }

  /** Behind which most stood that stands here now. */
  private place(): number | undefined {
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
