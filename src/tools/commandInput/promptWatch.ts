import { performance } from 'node:perf_hooks';
import type { ToolCallKey } from '../../protocol/content/callKey.ts';
import { appendTerminalOutput } from '../../protocol/text/lineUpdates.ts';
import { englishCount } from '../../protocol/text/plurals.ts';
import type { CommandPrompts } from './commandPrompts.ts';
import { waitsForInput } from './inputWaits.ts';
import type { CommandTerminal } from './terminal.ts';

type Modes = Awaited<ReturnType<CommandTerminal['modes']>>;

interface WatchedCommand {
  key: ToolCallKey;
  terminal: CommandTerminal;
  pid: number;
  prompts: CommandPrompts;
  /** Stops the time limit until the returned function is called. */
  pause?(): () => void;
  /** The terminal has shown an answer, so that the line of the prompt has ended. */
  onLineEnd(): void;
  /** Milliseconds until a prompt is answered with the end of input. */
  patience?: number;
}

/** Milliseconds of silence: before the first look, between looks, and if the kernel does not tell who waits. */
const firstLook = 250;
const longestPause = 2000;
const unknownSilence = 1000;
/** Milliseconds of silence after which a program that waits for keys only, such as one that watches files, is taken as done. */
const keySilence = 60_000;
/** Milliseconds until a program has read an answer, also on a machine with much to do. */
const answerPause = 1500;

const defaultPatience = 5 * 60_000;
const maxLabel = 300;

/** Prompts of programs that ask for a password and leave the echo on, as `ssh-keygen` does without a controlling terminal. */
const secretLabel = /pass(?:wor[dt]|phrase|code)|kennwort/i;

const endOfInput = '\x04';
/** Ends a program that reads single keys and takes no notice of the end of input. */
const interrupt = '\x03';

/**
 * Watches a command that has a terminal as its input. A command that waits for input behind an open line asks the user; any other gets the
 * end of input, as from an empty file.
 */
export class PromptWatch {
  /** Answers of the user. */
  answers = 0;
  /** Nobody has answered in time; later prompts are not shown. */
  isUnanswered = false;
  private line = '';
  private lastChange = performance.now();
  private pause = firstLook;
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private hasEnded = false;
  private open: { label: string; isSecret: boolean; close(): void } | undefined;

  constructor(private readonly command: WatchedCommand) {
    this.wait(firstLook);
  }

  readonly onOutput = (text: string): void => {
    const all = appendTerminalOutput(this.line, text);
    this.line = all.slice(Math.max(all.lastIndexOf('\n') + 1, all.length - maxLabel));
    this.lastChange = performance.now();
    if (this.pause > firstLook) this.wait(firstLook);
  };

  /** Returns what the model must know about prompts, after the end. */
  note(): string | undefined {
    const answered = this.answers > 0 && `The user answered ${englishCount(this.answers, 'prompt')}.`;
    return [answered, this.isUnanswered && 'Nobody answered its prompt.'].filter(Boolean).join(' ') || undefined;
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.withdraw();
  }

  private wait(pause: number): void {
    clearTimeout(this.timer);
    this.pause = pause;
    if (!this.isOver) this.timer = setTimeout(() => void this.look(), pause).unref();
  }

  private async look(): Promise<void> {
    const { pid, terminal } = this.command;
    const silence = performance.now() - this.lastChange;
    if (silence < firstLook) return this.wait(firstLook);
    const before = this.lastChange;
    const isWaiting = await waitsForInput(pid, terminal.device);
    const modes = isWaiting === false ? undefined : await terminal.modes();
    if (this.isOver) return;
    if (this.lastChange !== before) return this.wait(firstLook);
    this.wait(Math.min(this.pause * 2, longestPause));
    if (!modes) this.withdraw();
    else if (isWaiting || silence >= unknownSilence) this.act(modes);
  }

  private act({ isEchoing, readsLines }: Modes): void {
    const label = this.line.trim();
    const isSecret = !isEchoing || secretLabel.test(label);
    if (this.open && (label === '' || (label === this.open.label && isSecret === this.open.isSecret))) return;
    // A program that reads single keys may write them into its output.
    if (label !== '' && readsLines && !this.isUnanswered) {
      this.show(label, isSecret);
      return;
    }
    if (readsLines || !this.hasEnded) this.write(endOfInput);
    else if (performance.now() - this.lastChange > keySilence) this.write(interrupt);
    this.hasEnded = true;
    if (readsLines) this.wait(firstLook); // the next program of the line may read, too
  }

  private show(label: string, isSecret: boolean): void {
    const { key, prompts, pause, patience = defaultPatience } = this.command;
    const close = this.open?.close ?? this.openPrompt(pause, patience);
    this.open = { label, isSecret, close };
    prompts.show({ ...key, label, isSecret }, (text) => this.answer(text, isSecret));
  }

  private openPrompt(pause: WatchedCommand['pause'], patience: number): () => void {
    const resume = pause?.();
    const timer = setTimeout(() => {
      this.isUnanswered = true;
      this.withdraw();
      this.write(endOfInput);
    }, patience).unref();
    return () => {
      clearTimeout(timer);
      resume?.();
    };
  }

  private answer(text: string | undefined, isSecret: boolean): void {
    this.withdraw();
    this.answers++;
    this.hasEnded = text === undefined;
    this.write(text === undefined ? endOfInput : `${text}\r`);
    if (!isSecret) this.command.onLineEnd();
    this.line = '';
    this.lastChange = performance.now();
    this.wait(answerPause);
  }

  private write(text: string): void {
    this.command.terminal.write(text).catch(() => {}); // the command has closed its input
  }

  private withdraw(): void {
    this.open?.close();
    this.open = undefined;
    this.command.prompts.withdraw(this.command.key);
  }
}
