import type * as vscode from 'vscode';
import { type ThinkingEffort, thinkingEfforts } from '../../protocol/values/thinkingEffort.ts';

const storageKey = 'towpath.thinkingEfforts';
const maxModels = 100;

/** Effort that the user selected last for each model; a conversation that begins to use a model takes it. */
export class SelectedThinkingEfforts {
  constructor(
    private readonly state: Pick<vscode.Memento, 'get' | 'update'>,
    private readonly changed: () => void,
  ) {}

  /** Returns the effort of a model (`provider/model`); undefined: the default. */
  of(id: string): ThinkingEffort | undefined {
    const effort = this.entries.find(([model]) => model === id)?.[1];
    return thinkingEfforts.find((known) => known === effort); // a later version may know more efforts
  }

  async select(id: string, effort: ThinkingEffort | undefined): Promise<void> {
    const others = this.entries.filter(([model]) => model !== id);
    await this.state.update(storageKey, [...(effort ? [[id, effort]] : []), ...others].slice(0, maxModels));
    this.changed();
  }

  private get entries(): [model: string, effort: string][] {
    return this.state.get<[string, string][]>(storageKey, []);
  }
}
