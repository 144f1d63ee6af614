import * as vscode from 'vscode';

/**
 * Editor API newer than the oldest supported version, whose types compile the project. Declared only in this file and used only if
 * available.
 */

export const towpathVendor = 'towpath';

/** A provided model (`LanguageModelChatInformation`, 1.104). */
export interface ProvidedModelInformation {
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

/** A message to a provided model (`LanguageModelChatRequestMessage`, 1.104) with parts of any type. */
export interface IncomingRequestMessage {
  role: number;
  content: readonly unknown[] | string;
}

export interface IncomingRequestOptions {
  tools?: readonly { name: string; description: string; inputSchema?: object }[];
  toolMode?: number;
  modelOptions?: Readonly<Record<string, unknown>>;
  requestInitiator?: unknown;
}

export interface EditorModelProvider {
  onDidChangeLanguageModelChatInformation: vscode.Event<void>;
  provideLanguageModelChatInformation(
    options: unknown,
    token: vscode.CancellationToken,
  ): Promise<ProvidedModelInformation[]>;
  provideLanguageModelChatResponse(
    model: Pick<ProvidedModelInformation, 'id'>,
    messages: readonly IncomingRequestMessage[],
    options: IncomingRequestOptions,
    progress: vscode.Progress<vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart>,
    token: vscode.CancellationToken,
  ): Promise<void>;
  provideTokenCount(
    model: Pick<ProvidedModelInformation, 'id'>,
    text: string | IncomingRequestMessage,
  ): Promise<number>;
}

interface Newer {
  registerLanguageModelChatProvider?(vendor: string, provider: EditorModelProvider): vscode.Disposable;
}

/** Returns true if the editor supports models of extensions (1.104 and newer). */
export const supportsModelProviders = (): boolean =>
  typeof (vscode.lm as unknown as Newer).registerLanguageModelChatProvider === 'function';

/** Registers a provider; returns undefined if the editor does not support models of extensions, or not of all extensions. */
export function registerEditorModelProvider(provider: EditorModelProvider): vscode.Disposable | undefined {
  if (!supportsModelProviders()) return undefined;
  try {
    return (vscode.lm as unknown as Required<Newer>).registerLanguageModelChatProvider(towpathVendor, provider);
  } catch {
    return undefined;
  }
}
