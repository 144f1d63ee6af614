import { type ApprovalPreset, approvalPresets, isWider } from '../../protocol/content/policy.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';

const name = 'approvals.runs';
/** Runs whose choices are kept; of more, the oldest are forgotten. */
const most = 200;

/**
 * What a person chose for one run in place of their own preset. A wider choice ends with the window. A narrower one is kept,
 * for forgetting it would let more happen; it is never more than a limit then, whatever the person's own preset has become.
 */
export class RunPresets {
  private readonly chosen = new Map<string, ApprovalPreset>();

  constructor(private readonly memory: Pick<DecisionFile, 'get' | 'update'>) {}

  /** Undefined: the person's own holds. */
  of(runId: string, own: ApprovalPreset): ApprovalPreset | undefined {
    const chosen = this.chosen.get(runId);
    if (chosen) return chosen;
    const kept = this.kept().find(([id]) => id === runId)?.[1];
    return kept && isWider(own, kept) ? kept : undefined;
  }

  /** The person's own for a run is no choice: it follows them. */
  choose(runId: string, preset: ApprovalPreset, own: ApprovalPreset): void {
    if (preset === own) this.chosen.delete(runId);
    else this.chosen.set(runId, preset);
    const others = this.kept().filter(([id]) => id !== runId);
    const kept: Kept = isWider(own, preset) ? [...others, [runId, preset]] : others;
    this.memory.update(name, kept.slice(-most));
  }

  /** The person's own preset is another one now, for every run: no run goes further than that. */
  narrow(own: ApprovalPreset): void {
    for (const runId of this.chosen.keys()) this.end(runId, own);
  }

  /** The run goes no further than the person's own preset any more. */
  end(runId: string, own: ApprovalPreset): void {
    const preset = this.chosen.get(runId);
    if (preset && isWider(preset, own)) this.chosen.delete(runId);
  }

  private kept(): Kept {
    const kept = this.memory.get(name);
    const isKept = (one: unknown): one is Kept[number] => Array.isArray(one) && approvalPresets.includes(one[1]);
    return Array.isArray(kept) ? kept.filter(isKept) : [];
  }
}

type Kept = [runId: string, preset: ApprovalPreset][];
