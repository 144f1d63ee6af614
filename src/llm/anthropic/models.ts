/** What differs between families of models and has to be known before the first answer; a 400 teaches the rest. */
interface ModelFacts {
  /** Most tokens of one answer: asking for more is a 400. */
  outputLimit: number;
  /** `budget`: told in tokens; `adaptive`: told as an effort, and a budget is a 400; `none`: does not think. */
  thinking: 'budget' | 'adaptive' | 'none';
  /** Takes `temperature` and `top_p`. */
  sampling: boolean;
}

/** By the model's name, `claude-opus-4-1-20250805` or as a gateway writes it. Not Claude: what most gateways take. */
export function factsOf(model: string): ModelFacts {
  if (!/claude/i.test(model)) return { outputLimit: 32_000, thinking: 'budget', sampling: true };
  const version = versionOf(model);
  if (version > 4.6) return { outputLimit: 128_000, thinking: 'adaptive', sampling: false };
  return { outputLimit: outputLimitOf(model, version), thinking: version < 3.7 ? 'none' : 'budget', sampling: true };
}

function outputLimitOf(model: string, version: number): number {
  if (version < 3.5) return 4096;
  if (version < 3.7) return 8192;
  if (/opus/i.test(model) && version < 4.5) return 32_000;
  return version < 4.6 ? 64_000 : 128_000;
}

/** `claude-3-5-haiku-20241022` → 3.5. A name without a number is newer than any with one. */
function versionOf(model: string): number {
  const [, major, minor = '0'] = /claude-(?:[a-z]+-)*(\d{1,2})(?!\d)(?:[-.](\d)(?!\d))?/i.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(`${major}.${minor}`);
}
