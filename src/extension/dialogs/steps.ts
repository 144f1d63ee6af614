import * as vscode from 'vscode';
import { disableCommandLinks } from './approvalText.ts';

export const wizardBackResult = Symbol('back');

type Answer<Value> = Value | typeof wizardBackResult | undefined;

export interface WizardStepOptions {
  title: string;
  step?: number;
  totalSteps?: number;
  canGoBack?: boolean;
}

interface InputOptions<Value> extends WizardStepOptions {
  prompt: string;
  placeholder?: string;
  value?: string;
  password?: boolean;
  problem?: string;
  validate(text: string): string | undefined;
  /** Called for a valid text; the box stays open with the problem on failure. */
  accept(text: string, signal: AbortSignal): Promise<{ value: Value } | { problem: string }>;
}

/** Shows an input box until `accept` succeeds. */
export async function showInputStep<Value>(options: InputOptions<Value>): Promise<Answer<Value>> {
  const box = vscode.window.createInputBox();
  box.prompt = disableCommandLinks(options.prompt);
  box.placeholder = options.placeholder;
  box.value = options.value ?? '';
  box.password = options.password ?? false;
  box.validationMessage = options.problem && disableCommandLinks(options.problem);
  return ask<Value>(box, options, (answer, signal) => {
    let checked: AbortController | undefined; // pending check of the current text
    box.onDidChangeValue((text) => {
      checked?.abort();
      [checked, box.busy] = [undefined, false];
      box.validationMessage = text.trim() === '' ? undefined : options.validate(text);
    });
    box.onDidAccept(async () => {
      const text = box.value.trim();
      if (checked || text === '') return;
      box.validationMessage = options.validate(text);
      if (box.validationMessage !== undefined) return;
      const check = new AbortController();
      [checked, box.busy] = [check, true];
      const within = AbortSignal.any([signal, check.signal]);
      const result = await options.accept(text, within);
      if (within.aborted) return;
      if ('value' in result) return answer(result.value);
      [checked, box.busy] = [undefined, false];
      box.validationMessage = disableCommandLinks(result.problem);
    });
  });
}

interface PickOptions<Value> extends WizardStepOptions {
  placeholder?: string;
  /** Text of the filter at first. */
  text?: string;
  fill(list: PickList<Value>, signal: AbortSignal): Promise<void>;
}

interface PickRow<Value> extends vscode.QuickPickItem {
  value?: Value;
  act?: () => void;
}

interface PickList<Value> {
  show(content: { placeholder?: string; rows: PickRow<Value>[]; busy?: boolean }): void;
  answer(value: Answer<Value>): void;
  /** The listener receives each later text of the filter. */
  onText(listener: (text: string) => void): void;
}

export async function showPickStep<Value>({
  fill,
  placeholder,
  text = '',
  ...options
}: PickOptions<Value>): Promise<Answer<Value>> {
  const box = vscode.window.createQuickPick<PickRow<Value>>();
  box.placeholder = placeholder;
  box.value = text;
  box.matchOnDescription = true;
  return ask<Value>(box, options, (answer, signal) => {
    box.onDidAccept(() => {
      const [row] = box.selectedItems;
      if (row?.act) row.act();
      else if (row?.value !== undefined) answer(row.value);
    });
    const show: PickList<Value>['show'] = (content) => {
      if (signal.aborted) return;
      if (content.placeholder !== undefined) box.placeholder = disableCommandLinks(content.placeholder);
      box.items = content.rows;
      box.busy = content.busy ?? false;
    };
    void fill({ show, answer, onText: (listener) => box.onDidChangeValue(listener) }, signal);
  });
}

async function ask<Value>(
  box: vscode.InputBox | vscode.QuickPick<PickRow<Value>>,
  { title, step, totalSteps, canGoBack = false }: WizardStepOptions,
  listen: (answer: (value: Answer<Value>) => void, signal: AbortSignal) => void,
): Promise<Answer<Value>> {
  const closed = new AbortController();
  box.title = title;
  box.step = step;
  box.totalSteps = totalSteps;
  box.ignoreFocusOut = true; // keys are often copied from a browser
  box.buttons = canGoBack ? [vscode.QuickInputButtons.Back] : [];
  try {
    return await new Promise<Answer<Value>>((resolve) => {
      box.onDidTriggerButton(() => resolve(wizardBackResult));
      box.onDidHide(() => resolve(undefined));
      listen(resolve, closed.signal);
      box.show();
    });
  } finally {
    closed.abort();
    box.dispose();
  }
}
