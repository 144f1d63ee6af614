import { type ApprovalPreset, approvalPresets, isMorePermissivePreset } from '../../protocol/content/policy.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';

const name = 'approvals.runs';
/** Maximum stored choices; the oldest are dropped. */
const most = 200;

/**
 * Presets chosen for single runs. A wider choice ends with the window. A narrower choice is stored, because losing the choice would permit
 * more, and stays an upper limit if the user's preset changes.
 */
export class RunApprovalPresets {
  private readonly chosen = new Map<string, ApprovalPreset>();

  constructor(private readonly memory: Pick<DecisionFile, 'get' | 'update'>) {}

  /** Returns undefined if the user's preset applies. */
  of(runId: string, own: ApprovalPreset): ApprovalPreset | undefined {
    const chosen = this.chosen.get(runId);
    if (chosen) return chosen;
    const stored = this.stored().find(([id]) => id === runId)?.[1];
    return stored && isMorePermissivePreset(own, stored) ? stored : undefined;
  }

  choose(runId: string, preset: ApprovalPreset, own: ApprovalPreset): void {
    if (preset === own) this.chosen.delete(runId);
    else this.chosen.set(runId, preset);
    const others = this.stored().filter(([id]) => id !== runId);
    const stored: StoredPresets = isMorePermissivePreset(own, preset) ? [...others, [runId, preset]] : others;
    this.memory.update(name, stored.slice(-most));
  }

  narrow(own: ApprovalPreset): void {
    for (const runId of this.chosen.keys()) this.end(runId, own);
  }

  end(runId: string, own: ApprovalPreset): void {
    const preset = this.chosen.get(runId);
    if (preset && isMorePermissivePreset(preset, own)) this.chosen.delete(runId);
  }

  private stored(): StoredPresets {
    const stored = this.memory.get(name);
    const isStored = (one: unknown): one is StoredPresets[number] =>
      Array.isArray(one) && approvalPresets.includes(one[1]);
    return Array.isArray(stored) ? stored.filter(isStored) : [];
  }
}

type StoredPresets = [runId: string, preset: ApprovalPreset][];
