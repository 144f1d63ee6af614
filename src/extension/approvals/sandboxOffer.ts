import type { RunEvent } from '../../protocol/run/events.ts';
import type { SandboxAvailability } from '../../tools/core/commandSandbox.ts';
import type { DecisionFile } from '../settings/decisionFile.ts';

const decisionName = 'sandbox.offer';
const commandsBeforeOffer = 3;

/**
 * Shows the offer. `use`: the user wants to decide in a dialog; `never`: no further offers. Undefined: declined for this window.
 */
type ShowOffer = () => Promise<'use' | 'never' | undefined>;

interface Dependencies {
  /** True in a trusted workspace with a preset that is narrower than the sandbox. */
  isWanted(): boolean;
  panelInView(): boolean;
  probe(): Promise<SandboxAvailability>;
  memory: Pick<DecisionFile, 'get' | 'update'>;
  show: ShowOffer;
  /** Asks in a native dialog; only the dialog changes the preset. */
  confirm(): Promise<void>;
}

/** Offer of the sandbox in the panel, after three commands that the user allowed; at most once per window. */
export class SandboxOffer {
  private allowed = 0;
  private isShown = false;

  constructor(private readonly dependencies: Dependencies) {}

  async onEvent(event: RunEvent): Promise<void> {
    if (event.type !== 'approval' || event.name !== 'shell.run') return;
    if (event.decision === 'deny' || event.automatic !== undefined) return;
    const { isWanted, panelInView, probe, memory, show, confirm } = this.dependencies;
    if (this.isShown || !isWanted()) return;
    this.allowed += 1;
    if (this.allowed < commandsBeforeOffer || !panelInView() || memory.get(decisionName) === 'never') return;
    this.isShown = true;
    const found = await probe();
    if (!found.isAvailable || found.isPreview) return;
    const chosen = await show();
    if (chosen === 'never') memory.update(decisionName, 'never');
    if (chosen === 'use') await confirm();
  }
}
