// @invariant command-input-is-not-recorded: What a user types for a command goes to the command only: no journal, log or model receives it.
import { isSameToolCall, type ToolCallKey } from '../../protocol/content/callKey.ts';

/** Command that waits for the user. `label`: the last line that it has written; `isSecret`: its terminal does not show what is typed. */
interface CommandPrompt extends ToolCallKey {
  label: string;
  isSecret: boolean;
}

/** Receives what the user has typed, without a line end; undefined for the end of input. */
type Answer = (text: string | undefined) => unknown;

/** Prompts of the commands of a window. */
export class CommandPrompts {
  private open: (CommandPrompt & { answer: Answer })[] = [];

  constructor(private readonly changed: () => void) {}

  get waiting(): CommandPrompt[] {
    return this.open.map(({ answer, ...prompt }) => prompt);
  }

  /** Shows a prompt, in place of an earlier one of the same call. */
  show(prompt: CommandPrompt, answer: Answer): void {
    this.open = [...this.open.filter((one) => !isSameToolCall(one, prompt)), { ...prompt, answer }];
    this.changed();
  }

  withdraw(key: ToolCallKey): void {
    if (!this.find(key)) return;
    this.open = this.open.filter((one) => !isSameToolCall(one, key));
    this.changed();
  }

  /** Gives the text to the command and withdraws the prompt. Returns false if the command does not wait, or if the text is too long. */
  answer(key: ToolCallKey, text: string | undefined): boolean {
    const found = this.find(key);
    if (!found || (text !== undefined && Buffer.byteLength(text) > maxBytes)) return false;
    this.withdraw(key);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal would obey them
    found.answer(text?.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, ''));
    return true;
  }

  private find(key: ToolCallKey) {
    return this.open.find((one) => isSameToolCall(one, key));
  }
}

/** A terminal drops what exceeds a line of 4096 bytes. */
const maxBytes = 4000;
