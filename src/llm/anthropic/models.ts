import { type ThinkingEffort, thinkingEfforts } from '../../protocol/values/thinkingEffort.ts';

/** Properties of a model family that must be known before the first request. Others are learned from 400 answers. */
interface ModelFacts {
  outputLimit: number;
  /** `budget`: thinking is set in tokens; `adaptive`: thinking is set as an effort, and a budget is a 400; `none`: no thinking. */
  thinking: 'budget' | 'adaptive' | 'none';
  sampling: boolean;
}

/**
 * Returns the facts of a model by its name: `claude-opus-4-1-20250805` or the spelling of a gateway. Models other than Claude get the
 * values that most gateways accept.
 */
export function anthropicModelFacts(model: string): ModelFacts {
  if (!/claude/i.test(model)) return { outputLimit: 32_000, thinking: 'budget', sampling: true };
  const version = versionOf(model);
  if (version > 4.6) return { outputLimit: 128_000, thinking: 'adaptive', sampling: false };
  return { outputLimit: outputLimitOf(model, version), thinking: version < 3.7 ? 'none' : 'budget', sampling: true };
}

/** Returns the efforts that a model accepts. Models other than Claude are not known by name. */
export const anthropicThinkingEfforts = (model: string): readonly ThinkingEffort[] =>
  /claude/i.test(model) && anthropicModelFacts(model).thinking !== 'none' ? thinkingEfforts : [];

function outputLimitOf(model: string, version: number): number {
  if (version < 3.5) return 4096;
  if (version < 3.7) return 8192;
  if (/opus/i.test(model) && version < 4.5) return 32_000;
  return version < 4.6 ? 64_000 : 128_000;
}

/** Parses the version: `claude-3-5-haiku-20241022` → 3.5. A name without a number counts as the newest. */
function versionOf(model: string): number {
  const [, major, minor = '0'] = /claude-(?:[a-z]+-)*(\d{1,2})(?!\d)(?:[-.](\d)(?!\d))?/i.exec(model) ?? [];
  return major === undefined ? Number.POSITIVE_INFINITY : Number(`${major}.${minor}`);
}
