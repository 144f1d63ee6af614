/** An attack of the red team: a command line that tries to have an effect outside of the sandbox. */
export interface Attack {
  /** Unique among all attacks. */
  id: string;
  /** For bash. Its variables are those of `attackVariables`. */
  command: string;
  /** The effect that it tries. Default: that of its class. */
  effect?: string;
  /** A second command of the same run, after the changes of the first one were kept. */
  next?: string;
  /** Command of the user afterwards, outside of the sandbox. Nothing but a planted program creates `$OUT/pwned`. */
  later?: string;
  /** `stop`: stopped when it has printed `::ready`. `background`: runs in the background, and is stopped if it does not end. */
  ending?: 'stop' | 'background';
  /** Prepares the decoys, outside of the sandbox. */
  prepare?: string;
  /** Programs without which it is not played. */
  needs?: string;
  /** Paths in the workspace that must not change, besides those with protected names. */
  guards?: readonly string[];
  /**
   * Shows that the attack is real. `outside`: its effect happens without a sandbox. `allowed`: it happens inside if every question is
   * allowed. `none`: it would change the machine. Default: `outside`.
   */
  control?: 'outside' | 'allowed' | 'none';
}

export interface AttackClass {
  title: string;
  effect: string;
  attacks: readonly Attack[];
}

type More = Omit<Attack, 'id' | 'command'>;

/** Short form of a table of attacks. */
export const attacksOf = (rows: readonly (readonly [id: string, command: string, more?: More])[]): Attack[] =>
  rows.map(([id, command, more]) => ({ id, command, ...more }));

/** Text of every secret of the decoys. */
export const decoySecret = 'decoy-secret-7f3a91';
/** Line that an attack prints only after the kernel has allowed something. */
export const gainedLine = '::gained';
/** Line of an attack that waits to be stopped. */
export const readyLine = '::ready';
