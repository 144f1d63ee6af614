import * as vscode from 'vscode';
import type { RunEvent } from '../../protocol/run/events.ts';
import { completedWalkthroughStep, type WalkthroughStep } from './walkthroughProgress.ts';

/** Marks completed steps of the walkthrough. */
export class WalkthroughProgress {
  private readonly done = new Set<WalkthroughStep>();

  onEvent(event: RunEvent): void {
    const step = completedWalkthroughStep(event);
    if (step) this.did(step);
  }

  did(step: WalkthroughStep): void {
    if (this.done.has(step)) return;
    this.done.add(step);
    void vscode.commands.executeCommand('setContext', `towpath.did.${step}`, true);
  }
}
