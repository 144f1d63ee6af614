import * as vscode from 'vscode';
import type { RunEvent } from '../../protocol/run/events.ts';
import { type FirstStep, stepDone } from './walkthroughProgress.ts';

/** Marks completed steps of the walkthrough. */
export class FirstSteps {
  private readonly done = new Set<FirstStep>();

  told(event: RunEvent): void {
    const step = stepDone(event);
    if (step) this.did(step);
  }

  did(step: FirstStep): void {
    if (this.done.has(step)) return;
    this.done.add(step);
    void vscode.commands.executeCommand('setContext', `towpath.did.${step}`, true);
  }
}
