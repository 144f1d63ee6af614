/** What is looked through: as many tokens of the prompt and of what is being said, the newest. */
const window = 8192;
/** Tokens that must have stood there before, for the one that followed them to be expected again. */
const pattern = 3;
/** Places that are looked at, the newest first, for the one where most stood before it, of so many tokens. */
const most = { places: 16, same: 64 };
/** Steps without, from which on it is known what a token takes, and those with that say whether that is less. */
const known = { alone: 4, expecting: 16 };
/** Of what a token takes without: more than that is no gain. */
const gain = 0.97;
/** Tokens that are said without, once it was no gain; twice as many each time, up to the most. */
const rest = { first: 64, most: 512 };

/** What tokens take, in milliseconds: of the newest steps more than of those before. */
class Cost {
  steps = 0;
  ms = 0;

  add(ms: number): void {
    this.ms += (ms - this.ms) / Math.min(++this.steps, known.expecting);
  }
}

/**
 * Expects what follows to be what followed the same words before: an answer that repeats a file, as an edit does, comes two tokens at a
 * step, and is the same. That is a gain where the engine waits for its memory, on a GPU most of all, and none where it is busy with one
 * token already: it finds out which, and expects nothing where that is none. One token at a time, for the library takes no more of them
 * (3.22.1 compares each but the first with nothing). Its own predictor looks into the newest message of the person alone.
 *
 * For node-llama-cpp it is a `TokenPredictor`: `predictTokens` is asked before each step, and `pushTokens` told of what came.
 */
export class Lookup<Token extends number> {
  private tokens: Token[] = [];
  private indexed = 0;
  /** The newest place behind each pattern, and for each place the one before. */
  private readonly last = new Map<number, number>();
  private before = new Int32Array(0);
  private readonly alone = new Cost();
  private expecting = new Cost();
  private rests = 0;
  private losses = 0;
  private step: { at: number; came: number; expected: boolean } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  reset({ stateTokens }: { stateTokens: readonly Token[] }): void {
    this.tokens = stateTokens.slice(-window);
    this.last.clear();
    this.indexed = 0;
    this.step = undefined;
  }

  pushTokens(tokens: readonly Token[]): void {
    for (const token of tokens) this.tokens.push(token);
    if (this.step) this.step.came += tokens.length;
    this.rests -= tokens.length;
  }

  predictTokens(): Token[] {
    const at = this.now();
    this.learn(at);
    this.index();
    const place = this.alone.steps < known.alone || this.rests > 0 ? undefined : this.place();
    this.step = { at, came: 0, expected: place !== undefined };
    return place === undefined ? [] : [this.tokens[place]!];
  }

  stop(): void {}
  updateInputTokens(): void {}
  dispose(): void {}
  [Symbol.dispose](): void {}

  private learn(now: number): void {
    const step = this.step;
    if (!step || step.came === 0) return;
    const cost = step.expected ? this.expecting : this.alone;
    cost.add((now - step.at) / step.came);
    if (this.expecting.steps < known.expecting) return;
    if (this.expecting.ms <= this.alone.ms * gain) {
      this.losses = 0;
      return;
    }
    this.rests = Math.min(rest.most, rest.first * 2 ** this.losses++);
    this.expecting = new Cost();
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
