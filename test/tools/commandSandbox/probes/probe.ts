import type { CommandLimits, ExceededLimit } from '../../../../src/tools/commandSandbox/commandLimits.ts';
import type { NetworkTarget } from '../../../../src/tools/commandSandbox/commandSandbox.ts';

/**
 * A script that tries, inside the sandbox, to do something that it must not. `effect` looks outside afterwards: it returns what has
 * happened, or undefined. A script ends by itself, and its last line is reached.
 */
export interface Probe {
  name: string;
  /** For bash. The variables are those of `ProbeWorld.variables`. */
  script: string;
  /** A second command of the same run, after the changes of the first one were kept. */
  next?: string;
  /** Programs without which the probe is pending. */
  needs?: readonly string[];
  /** The only user for whom the probe has a meaning. */
  user?: 'root' | 'ordinary';
  /** Before the command starts. */
  prepare?(world: ProbeWorld): unknown;
  /** When the script has written `::ready`; then it receives a line. */
  during?(world: ProbeWorld): unknown;
  /** Limits in place of those of the machine. */
  limits?: Partial<CommandLimits> | ((world: ProbeWorld) => Partial<CommandLimits>);
  /** `stop`: all processes are killed when the script has written `::ready`. `forget`: it ends, and nothing is kept. `limit`: it is ended for a limit. Default: `keep`. */
  ending?: 'keep' | 'stop' | 'forget' | 'limit';
  /** The changes may be refused as a whole. */
  mayFail?: boolean;
  /** Answer to the question of a connection. Default: no. */
  mayConnect?(target: NetworkTarget, world: ProbeWorld): boolean;
  effect(world: ProbeWorld): string | undefined | Promise<string | undefined>;
  /**
   * How the probe is shown to be able to fail: `outside` runs the script without a sandbox, `allowed` answers each question with yes.
   * `none`: it would change the machine, or nothing of it can be seen outside.
   */
  control: 'outside' | 'allowed' | 'none';
  /** Without a sandbox, only root may do it. */
  controlAs?: 'root';
}

export interface ProbeGroup {
  title: string;
  /** `works`: the effect must happen. Default: it must not. */
  expected?: 'effect';
  probes: readonly Probe[];
}

/** Folders and services of one probe. `ws` is the open folder with a repository; `out` is outside of it. */
export interface ProbeWorld {
  ws: string;
  out: string;
  home: string;
  store: string;
  /** Folder that the sandbox was told to hide. */
  journals: string;
  /** Unique name, for what is visible to the whole machine. */
  tag: string;
  variables: Record<string, string>;
  output: string;
  exitCode: number | null;
  /** Targets of questions. */
  asked: string[];
  /** Protected paths of questions. */
  protectedPaths: string[];
  exceeded: ExceededLimit | undefined;
  report: { conflicts: string[]; discarded: string[]; special: string[] } | undefined;
  /** Processes with `tag` in their command line, at the moment when the command had ended. */
  leftAtEnd: number[];
  isControl: boolean;
  /** Names of services that were reached. */
  reached: Set<string>;
  /** Starts a service that notes connections. Port number or socket path. */
  listen(name: string, address: string): Promise<string>;
  /** Starts a process outside, which gets `secret` in its environment. */
  startVictim(): Promise<void>;
  victimState(): string | undefined;
  /** What has changed below a folder since the start: `+ path`, `- path`, `~ path`. */
  changes(folder: 'ws' | 'out' | 'home' | 'journals'): string[];
  /** Called at the end. */
  cleanUp(action: () => unknown): void;
}

/** Part of a script that waits until `during` is over. */
export const waits = 'until [ -e "$GO" ]; do sleep 0.02; done';

/** Text of every secret. A script that prints it, or writes it into the open folder, has read one. */
export const secret = 'towpath-probe-secret';

/** Effect: something outside of the open folder has changed. */
export const outsideChanged = (world: ProbeWorld): string | undefined =>
  [...world.changes('out'), ...world.changes('home'), ...world.changes('journals')].join(', ') || undefined;

/** Effect: a path in the open folder has changed. */
export const changed =
  (...paths: string[]) =>
  (world: ProbeWorld): string | undefined =>
    world
      .changes('ws')
      .filter((change) => paths.some((path) => change.slice(2) === path || change.slice(2).startsWith(`${path}/`)))
      .join(', ') || undefined;
