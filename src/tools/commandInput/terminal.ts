import { type SpawnOptions, spawn } from 'node:child_process';
import { close, constants, existsSync, fstatSync, openSync, write } from 'node:fs';
import { text } from 'node:stream/consumers';
import { ReadStream } from 'node:tty';
import { promisify } from 'node:util';

/** Device of a terminal, as `stat` returns it. */
export type TerminalDevice = Readonly<Record<'dev' | 'rdev', number>>;

/**
 * `isEchoing`: the terminal shows what is typed, which a program that asks for a password turns off; false if unknown. `readsLines`: the
 * terminal hands over whole lines; else a program reads single keys.
 */
interface TerminalModes {
  isEchoing: boolean;
  readsLines: boolean;
}

/**
 * Pseudo terminal that is the input of one command. It controls no session, so that no signal and no `/dev/tty` comes with it. What it
 * writes back is the echo of the input and is dropped.
 */
export interface CommandTerminal {
  /** Descriptor for the command, until `started`. */
  readonly descriptor: number;
  readonly device: TerminalDevice;
  /** Call when the command has its input. */
  started(): void;
  /** Rejects if the command has closed its input. */
  write(text: string): Promise<void>;
  modes(): Promise<TerminalModes>;
  close(): void;
}

let next: Promise<CommandTerminal | undefined> | undefined;

/** Returns a terminal for one command; undefined where there is none. The next one is prepared meanwhile. */
export async function takeTerminal(): Promise<CommandTerminal | undefined> {
  if (process.platform !== 'linux' || !existsSync(perl)) return undefined;
  const taken = next ?? openTerminal();
  next = undefined;
  const terminal = await taken;
  if (terminal) next ??= openTerminal();
  return terminal;
}

/** Part of each Debian, and of what the sandbox needs. */
export const perl = '/usr/bin/perl';
const path = '/dev/ptmx';
const flags = constants.O_RDWR | constants.O_NOCTTY;

/** Numbers of `asm-generic/ioctls.h`: TIOCSPTLCK with 0, and TIOCGPTN. */
const unlock =
  'my $n = pack "i", 0; ioctl STDIN, 0x40045431, $n or exit 1; ioctl STDIN, 0x80045430, $n or exit 1; print unpack "i", $n';

async function openTerminal(): Promise<CommandTerminal | undefined> {
  const opened: number[] = [];
  try {
    const main = openSync(path, flags);
    opened.push(main);
    const number = await outputOf(perl, ['-e', unlock], main);
    if (!/^\d+$/.test(number)) throw new Error('There is no number.');
    const descriptor = openSync(`/dev/pts/${number}`, flags);
    opened.push(descriptor);
    return terminalOf(main, descriptor);
  } catch {
    for (const one of opened) close(one, () => {});
    return undefined;
  }
}

function terminalOf(main: number, descriptor: number): CommandTerminal {
  const { dev, rdev } = fstatSync(descriptor);
  let echo: ReadStream | undefined;
  let isClosed = false;
  const closeDescriptor = () => close(descriptor, () => {});
  return {
    descriptor,
    device: { dev, rdev },
    started() {
      echo = new ReadStream(main);
      echo.once('error', () => {}); // the command has closed its input
      echo.once('close', () => {
        isClosed = true;
      });
      echo.resume().unref();
      closeDescriptor();
    },
    async write(typed) {
      if (isClosed) throw new Error('The command has closed its input.');
      await promisify(write)(main, Buffer.from(typed));
    },
    async modes() {
      const settings = isClosed ? '' : await outputOf('stty', ['-a'], main).catch(() => '');
      return { isEchoing: /\secho\b/.test(settings), readsLines: !/\s-icanon\b/.test(settings) };
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      if (echo) echo.destroy();
      else for (const one of [main, descriptor]) close(one, () => {});
    },
  };
}

async function outputOf(program: string, args: readonly string[], input: number): Promise<string> {
  const options: SpawnOptions = { stdio: [input, 'pipe', 'ignore'], env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  const child = spawn(program, args, options);
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  return Promise.race([text(child.stdout!), failed]);
}
