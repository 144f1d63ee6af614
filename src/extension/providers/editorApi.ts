import * as vscode from 'vscode';

/**
 * What editors have that are newer than the oldest one that Towpath supports, whose types it is checked with: it is declared in this
 * file alone, and used only where it is there.
 */

/** By which our models are known to the editor; package.json says the same. */
export const ownVendor = 'towpath';

/** A model as it is offered (`LanguageModelChatInformation`, 1.104). */
export interface ProvidedModelInformation {
  /** Among those of our vendor. */
  id: string;
  name: string;
  family: string;
  version: string;
  detail?: string;
  tooltip?: string;
  maxInputTokens: number;
  maxOutputTokens: number;
  capabilities: { imageInput: boolean; toolCalling: boolean };
}

/** A message to an offered model (`LanguageModelChatRequestMessage`, 1.104): its parts may be of any kind. */
export interface AskedMessage {
  role: number;
  content: readonly unknown[] | string;
}

/** What is asked beside the messages (`ProvideLanguageModelChatResponseOptions`, 1.104). */
export interface AskedOptions {
  tools?: readonly { name: string; description: string; inputSchema?: object }[];
  toolMode?: number;
  modelOptions?: Readonly<Record<string, unknown>>;
  /** The id of the extension that asks; some editors tell it. */
  requestInitiator?: unknown;
}

/** Who offers models (`LanguageModelChatProvider`, 1.104). */
export interface ModelProvider {
  onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  provideLanguageModelChatInformation(
    options: unknown,
    token: vscode.CancellationToken,
  ): Promise<ProvidedModelInformation[]>;
  provideLanguageModelChatResponse(
    model: Pick<ProvidedModelInformation, 'id'>,
    messages: readonly AskedMessage[],
    options: AskedOptions,
    progress: vscode.Progress<vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart>,
    token: vscode.CancellationToken,
  ): Promise<void>;
  provideTokenCount(model: Pick<ProvidedModelInformation, 'id'>, text: string | AskedMessage): Promise<number>;
}

interface Newer {
  registerLanguageModelChatProvider?(vendor: string, provider: ModelProvider): vscode.Disposable;
}

/** This editor takes models of extensions: 1.104 and newer. */
export const takesModels = (): boolean =>
  typeof (vscode.lm as unknown as Newer).registerLanguageModelChatProvider === 'function';

/** Undefined where the editor takes no models, or not from everybody yet. */
export function offerModels(provider: ModelProvider): vscode.Disposable | undefined {
  if (!takesModels()) return undefined;
  try {
    return (vscode.lm as unknown as Required<Newer>).registerLanguageModelChatProvider(ownVendor, provider);
  } catch {
    return undefined;
  }
}
